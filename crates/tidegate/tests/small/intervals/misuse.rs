//! Impossible requests are rejected immediately, by errors that name the intervals. No interval is
//! lost.

use crate::support::{Gate, Log, Tally, pool, watched};
use std::sync::Arc;
use tidegate::interval::{Interval, IntervalBuilder, Lock, Locked, UsageErrorKind};

#[test]
fn cycle_closing_edge_is_rejected() {
    watched(|| {
        let ran = Tally::new();
        pool(2)
            .run_intervals(|s| {
                let a = s.interval(|_| ran.come()).named("a");
                let b = s.interval(|_| ran.come()).named("b");
                let c = s.interval(|_| ran.come()).named("c");
                a.end().before(b.start()).unwrap();
                // This backward edge is allowed.
                c.end().before(a.start()).unwrap();
                for (from, to) in [(&b, &c), (&b, &a), (&a, &c), (&a, &a)] {
                    let error = from.end().before(to.start()).unwrap_err();
                    assert_eq!(error.wrong(), UsageErrorKind::Cycle);
                }
                let error = b.end().before(c.start()).unwrap_err();
                assert_eq!(
                    error.to_string(),
                    "c comes before b already: an edge back would close a cycle"
                );
                // A forward edge can also close a cycle, after a backward edge.
                assert_eq!(
                    b.start().before(c.end()).unwrap_err().wrong(),
                    UsageErrorKind::Cycle
                );
                assert_eq!(
                    a.end().before(a.start()).unwrap_err().wrong(),
                    UsageErrorKind::Cycle
                );
                assert_eq!(
                    s.end().before(a.start()).unwrap_err().wrong(),
                    UsageErrorKind::Cycle
                );
                drop((c, b, a));
            })
            .unwrap();
        assert_eq!(ran.get(), 3);
    });
}

#[test]
fn cycles_are_found_across_families() {
    watched(|| {
        let pool = pool(2);
        let (go, order) = (Gate::new(), Log::default());
        pool.run_intervals(|s| {
            // Connects `child` to its uncles, which belong to another family of intervals.
            let (sender, receiver) = std::sync::mpsc::channel();
            let uncle = s.interval(|_| order.note("uncle"));
            let late = s.interval(|_| order.note("late"));
            uncle.end().before(late.start()).unwrap();
            let uncle_seen = Interval::clone(&uncle);
            let late_seen = Interval::clone(&late);
            let (go, order) = (&go, &order);
            s.interval(move |s| {
                let child = s.interval(move |_| order.note("child"));
                // Edges between families: forward, backward, and to a point that has already
                // occurred.
                child.end().before(late_seen.start()).unwrap();
                let error = late_seen.end().before(child.start()).unwrap_err();
                assert_eq!(error.wrong(), UsageErrorKind::Cycle);
                uncle_seen.end().before(child.start()).unwrap();
                assert_eq!(
                    child.end().before(uncle_seen.start()).unwrap_err().wrong(),
                    UsageErrorKind::Cycle
                );
                assert_eq!(
                    s.end().before(child.start()).unwrap_err().wrong(),
                    UsageErrorKind::Cycle
                );
                s.end().before(late_seen.start()).unwrap();
                sender.send(()).unwrap();
                go.open();
            })
            .schedule();
            s.interval(move |_| receiver.recv().unwrap());
            go.wait();
            drop((uncle, late));
        })
        .unwrap();
        assert_eq!(order.end(), ["uncle", "child", "late"]);
    });
}

#[test]
fn edge_into_occurred_point_is_rejected() {
    watched(|| {
        let own = pool(2);
        own.run_intervals(|s| {
            let over = s.interval(|_| ()).named("over").schedule();
            while !over.end().has_occurred() {
                std::thread::yield_now();
            }
            let next = s.interval(|_| ()).named("next");
            over.end().before(next.start()).unwrap();
            for (point, word) in [(over.start(), "start"), (over.end(), "end")] {
                let error = next.start().before(point).unwrap_err();
                assert_eq!(error.wrong(), UsageErrorKind::Occurred, "{word}");
            }
            let error = next.end().before(over.start()).unwrap_err();
            assert!(
                error.to_string().contains("over cannot wait for next"),
                "{error}"
            );
        })
        .unwrap();
    });
}

#[test]
fn different_inline_trees_cannot_be_ordered() {
    watched(|| {
        pool(2)
            .run_intervals(|s| {
                let outer = s.interval(|_| ()).named("outer");
                let point = outer.end();
                let error = s.inline(|s| {
                    let inner = s.interval(|_| ()).named("inner");
                    point.before(inner.start()).unwrap_err()
                });
                let error = error.unwrap();
                assert_eq!(error.wrong(), UsageErrorKind::OtherTree);
                assert!(error.to_string().starts_with("outer and inner"), "{error}");
            })
            .unwrap();
    });
}

#[test]
fn repeated_or_misordered_locks_are_rejected() {
    watched(|| {
        let (first, second) = (Lock::new(), Lock::new());
        pool(2)
            .run_intervals(|s| {
                let (one, two) = (&first, &second);
                let mut holder = s.interval(move |s| {
                    let mut child = s.interval(|_| ()).named("child");
                    assert_eq!(
                        child.lock(two).unwrap_err().wrong(),
                        UsageErrorKind::LockTwice
                    );
                    let error = child.lock(one).unwrap_err();
                    assert_eq!(error.wrong(), UsageErrorKind::LockOrder);
                    assert!(
                        error.to_string().contains("child") && error.to_string().contains("holder")
                    );
                    child.lock(&Lock::new()).unwrap();
                });
                holder.lock(two).unwrap();
                assert_eq!(
                    holder.lock(two).unwrap_err().wrong(),
                    UsageErrorKind::LockTwice
                );
                _ = holder.named("holder");
            })
            .unwrap();
    });
}

#[test]
fn unlocked_data_is_not_accessible() {
    let data = Locked::new(0);
    let failure = pool(2).run_intervals(|s| {
        let shown = &data;
        s.interval(move |s| shown.with(s, |data| *data += 1))
            .named("curious");
    });
    let text = failure.unwrap_err().to_string();
    assert!(
        text.contains("curious sees data whose lock it has not requested"),
        "{text}"
    );
}

#[test]
fn unordered_follower_does_not_run() {
    let ran = Tally::new();
    pool(2)
        .run_intervals(|s| {
            let outer = s.interval(|_| ()).named("outer");
            s.inline(|s| {
                let error = outer.then(s, |_, ()| ran.come()).unwrap_err();
                assert_eq!(error.wrong(), UsageErrorKind::OtherTree);
            })
            .unwrap();
        })
        .unwrap();
    assert_eq!(ran.get(), 0);
}

#[test]
fn cyclic_follower_neither_runs_nor_fails() {
    watched(|| {
        let own = pool(2);
        let ran = Tally::new();
        own.run_intervals(|s| {
            let (sender, receiver) = std::sync::mpsc::channel::<Interval<'_>>();
            let seen = &ran;
            let family = s.interval(move |s| {
                let later = receiver.recv().unwrap();
                let kept = Arc::new(());
                let token = kept.clone();
                let follower = later.then(s, move |_, ()| {
                    drop(token);
                    seen.come();
                });
                assert_eq!(follower.unwrap_err().wrong(), UsageErrorKind::Cycle);
                assert_eq!(
                    Arc::strong_count(&kept),
                    1,
                    "the closure is dropped at once"
                );
            });
            let later = s.interval(|_| ());
            family.end().before(later.start()).unwrap();
            sender.send(Interval::clone(&later)).unwrap();
            drop((family, later));
        })
        .unwrap();
        assert_eq!(ran.get(), 0);
    });
}

#[test]
fn inline_interval_cannot_request_held_lock() {
    let lock = Lock::new();
    pool(2)
        .run_intervals(|s| {
            let inner = &lock;
            let mut holder = s.interval(move |s| {
                s.inline(|s| {
                    let error = s.interval(|_| ()).lock(inner).unwrap_err();
                    assert_eq!(error.wrong(), UsageErrorKind::LockTwice);
                })
                .unwrap();
            });
            holder.lock(&lock).unwrap();
        })
        .unwrap();
}

#[test]
fn cycle_across_families_is_found() {
    watched(|| {
        let own = pool(2);
        own.run_intervals(|s| {
            let (sender, receiver) = std::sync::mpsc::channel();
            let family = s.interval(move |s| {
                let uncle: IntervalBuilder<'_> = receiver.recv().unwrap();
                let (a, b) = (s.interval(|_| ()), s.interval(|_| ()));
                b.end().before(uncle.start()).unwrap();
                uncle.end().before(a.start()).unwrap();
                // This edge leads forward among siblings, but still closes a cycle.
                assert_eq!(
                    a.end().before(b.start()).unwrap_err().wrong(),
                    UsageErrorKind::Cycle
                );
            });
            sender.send(s.interval(|_| ())).unwrap();
            drop(family);
        })
        .unwrap();
    });
}
