//! Loom models of points, edges and locks, in pools with two workers.

use crate::models::check_calls;
use tidegate_sync::UnsafeCell;
use tidegate_sync::model::Once;
use tidegate_sync::park::Parker;

/// A cell that one interval writes and another reads. Loom reports a race if the two intervals are
/// not ordered.
struct Passed(UnsafeCell<u32>);

// SAFETY: the models verify that the accesses are ordered.
unsafe impl Sync for Passed {}

impl Passed {
    fn new() -> Self {
        Self(UnsafeCell::new(0))
    }

    fn write(&self) {
        // SAFETY: loom panics if two threads access it at once.
        self.0.with_mut(|cell| unsafe { *cell = 7 });
    }

    fn check(&self) {
        // SAFETY: loom panics if two threads access it at once.
        assert_eq!(self.0.with(|cell| unsafe { *cell }), 7);
    }
}

#[test]
fn loom_calls_edge_added_as_source_occurs() {
    check_calls(|| {
        let (cell, read, begun) = (Passed::new(), Once::new(), Parker::new());
        let ended = super::run(|s| {
            let first = s.interval(|_| {
                begun.unpark();
                cell.write();
            });
            let first = first.schedule();
            let next = s.interval(|_| {
                cell.check();
                read.happen();
            });
            // `first`, which runs on the other worker, unparks this thread.
            begun.park();
            first.end().before(next.start()).unwrap();
        });
        ended.unwrap();
        read.check();
    });
}

#[test]
fn loom_calls_last_point_releases_waiter() {
    check_calls(|| {
        let (cells, read) = ([Passed::new(), Passed::new()], Once::new());
        let news = Parker::new();
        let ended = super::run(|s| {
            let last = s.interval(|_| {
                cells.iter().for_each(Passed::check);
                read.happen();
            });
            let [one, other] = &cells;
            // `first` blocks until `second` unparks it, so the two run on different workers.
            let first = s.interval(|_| {
                one.write();
                news.park();
            });
            let second = s.interval(|_| {
                other.write();
                news.unpark();
            });
            first.end().before(last.start()).unwrap();
            second.end().before(last.start()).unwrap();
        });
        ended.unwrap();
        read.check();
    });
}

/// Two events compete to start the interval: the drop of the builder and the return of the body.
/// Exactly one of them starts it.
#[test]
fn loom_calls_builder_drop_races_return() {
    check_calls(|| {
        let (cell, read, news) = (Passed::new(), Once::new(), Parker::new());
        let ended = super::run(|s| {
            let (cell, read, news) = (&cell, &read, &news);
            let passed = std::sync::Arc::new(std::sync::Mutex::new(None));
            let left = passed.clone();
            let creator = s.interval(move |s| {
                let draft = s.interval(|_| {
                    cell.check();
                    read.happen();
                });
                *left.lock().unwrap() = Some(draft);
                drop(left);
                news.unpark();
                cell.write();
            });
            creator.schedule();
            // `creator`, which runs on the other worker, unparks this thread.
            news.park();
            drop(passed.lock().unwrap().take());
        });
        ended.unwrap();
        read.check();
    });
}

/// The interval that waits for both locks gets the first one from another tree, and the second one
/// never. Giving up its count may wake the owner of its tree, which must return the stall.
#[test]
fn loom_calls_stall_behind_other_trees_lock() {
    check_calls(|| {
        let (first, second) = (super::Lock::new(), super::Lock::new());
        let held = Parker::new();
        crate::join(
            || {
                held.park();
                let stalled = super::run(|s| {
                    let mut stalled = s.interval(|s| std::mem::forget(s.interval(|_| ())));
                    stalled.lock(&second).unwrap();
                    stalled.schedule();
                    let mut waits = s.interval(|_| ());
                    waits.lock(&first).unwrap();
                    waits.lock(&second).unwrap();
                });
                assert!(stalled.unwrap_err().is_stall());
            },
            || {
                let ended = super::run(|s| {
                    let mut holder = s.interval(|_| held.unpark());
                    holder.lock(&first).unwrap();
                });
                ended.unwrap();
            },
        );
    });
}

#[test]
fn loom_calls_lock_passes_to_next_interval() {
    check_calls(|| {
        let (lock, cell) = (super::Lock::new(), Passed::new());
        let ended = super::run(|s| {
            for _ in 0..2 {
                let mut holder = s.interval(|_| cell.write());
                holder.lock(&lock).unwrap();
            }
        });
        ended.unwrap();
    });
}
