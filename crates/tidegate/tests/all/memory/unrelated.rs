//! Tasks of a scope that start without the plan's knowledge: at a place, from another thread, or in
//! a broadcast. They must not delay a task that needs memory held by the scope's waiter. No task
//! that needs this memory may start on top of the waiter.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::support::watched;
use tidegate::memory::{self, ReservationError};
use tidegate::{Pool, Scope, interval, policy::SharePolicy};

const KIB: usize = 1 << 10;
const TIGHT: &str = "budget:bytes=15KiB,serial=15KiB";

fn pool(workers: usize, threads: usize, memory: &str) -> Pool {
    let builder = Pool::builder().workers(workers).max_threads(threads);
    let builder = builder
        .share(SharePolicy::Off)
        .memory(memory.parse().unwrap());
    builder.build().unwrap()
}

fn reserve(kib: usize) -> Result<usize, ReservationError> {
    memory::reserve(kib * KIB).map(|reservation| reservation.bytes())
}

/// Waits for the other thread to set the flag, and then long enough for that thread to start
/// waiting.
fn until(said: &AtomicBool) {
    while !said.load(Ordering::Acquire) {
        std::thread::sleep(Duration::from_millis(1));
    }
    std::thread::sleep(Duration::from_millis(30));
}

fn say(said: &AtomicBool) {
    said.store(true, Ordering::Release);
}

fn spawns_within() {
    tidegate::scope(|inner| inner.spawn(|_| ()));
}

/// Runs a join whose first half holds memory while `unrelated` runs. The first half ends only after
/// the second half has requested memory that is not available at that time.
fn is_granted_behind(unrelated: fn(&Pool, &AtomicBool)) {
    watched(move || {
        let (pool, asks) = (pool(2, 8, TIGHT), AtomicBool::new(false));
        let first = || {
            let _held = memory::reserve(10 * KIB).unwrap();
            unrelated(&pool, &asks);
        };
        let second = || {
            say(&asks);
            reserve(10)
        };
        let (_, granted) = pool.install(|| tidegate::join(first, second));
        assert_eq!(granted, Ok(10 * KIB));
    });
}

/// Spawns a task that waits for a scope that it opens itself.
fn spawn<'scope>(scope: &Scope<'scope>, asks: &'scope AtomicBool) {
    scope.spawn(move |_| {
        until(asks);
        spawns_within();
    });
}

/// The placed task waits for a scope that it opens itself.
#[test]
fn request_waits_for_placed_task() {
    is_granted_behind(|pool, asks| {
        tidegate::scope(|scope| {
            scope.spawn_at(pool.places()[0], |_| {
                until(asks);
                spawns_within();
            });
        });
    });
}

#[test]
fn request_waits_for_broadcast_parts() {
    is_granted_behind(|pool, asks| {
        until(asks);
        pool.broadcast(|_| spawns_within());
    });
}

#[test]
fn request_waits_for_outside_spawn() {
    is_granted_behind(|_, asks| {
        tidegate::scope(|scope| {
            std::thread::scope(|threads| _ = threads.spawn(|| spawn(scope, asks)));
        });
    });
}

/// The task is spawned by a thread that has called the pool.
#[test]
fn request_waits_for_caller_spawn() {
    is_granted_behind(|pool, asks| {
        tidegate::scope(|scope| {
            let spawns = || pool.install(|| spawn(scope, asks));
            std::thread::scope(|threads| _ = threads.spawn(spawns));
        });
    });
}

#[test]
fn request_waits_for_cross_pool_spawn() {
    is_granted_behind(|pool, asks| {
        let other = self::pool(1, 4, "none");
        tidegate::scope(|scope| other.install(|| pool.install(|| spawn(scope, asks))));
    });
}

/// After the tree has ended, the task that waited for it can use all memory again.
#[test]
fn placed_interval_tree_returns_memory() {
    for memory in [TIGHT, "dfdeques:k=1KiB", "depth-first:k=1KiB"] {
        watched(move || {
            let pool = pool(2, 8, memory);
            let place = pool.places()[0];
            let (first, second) = (AtomicBool::new(false), AtomicBool::new(false));
            let rest = || std::thread::sleep(Duration::from_millis(20));
            pool.install(|| {
                let graph = interval::run(|body| {
                    body.interval(|_| say(&first)).schedule();
                    until(&first);
                    body.interval(|_| say(&second)).at(place).schedule();
                    until(&second);
                    body.interval(|_| rest()).at(place).schedule();
                });
                graph.unwrap();
                assert_eq!(reserve(5), Ok(5 * KIB));
                let both = tidegate::join(|| reserve(10), || reserve(10));
                assert_eq!(both, (Ok(10 * KIB), Ok(10 * KIB)));
            });
        });
    }
}

/// There is only one thread. The tasks that the placed task spawns start before tasks that come
/// later in serial order.
#[test]
fn placed_task_spawns_run_first() {
    watched(|| {
        let pool = pool(1, 1, TIGHT);
        let place = pool.places()[0];
        let first = || {
            let _held = memory::reserve(10 * KIB).unwrap();
            tidegate::scope(|scope| scope.spawn_at(place, |scope| scope.spawn(|_| ())));
        };
        let (_, granted) = pool.install(|| tidegate::join(first, || reserve(10)));
        assert_eq!(granted, Ok(10 * KIB));
    });
}

/// A task is buried below another task that descends from the same root.
#[test]
fn buried_task_does_not_block_others() {
    for memory in [TIGHT, "dfdeques:k=1KiB", "depth-first:k=1KiB"] {
        watched(move || {
            let pool = pool(1, 1, memory);
            let place = pool.places()[0];
            let other = self::pool(1, 1, "none");
            let rest = || std::thread::sleep(Duration::from_millis(30));
            pool.install(|| {
                tidegate::scope(|outer| {
                    let first =
                        || tidegate::scope(|scope| scope.spawn_at(place, |s| s.spawn(|_| ())));
                    let second = || {
                        other.install(rest);
                        tidegate::scope(|inner| {
                            outer.spawn(|_| ());
                            inner.spawn(|_| ());
                        });
                    };
                    tidegate::join(first, second);
                });
            });
        });
    }
}

/// Two handles' tasks wait for memory, but only one request fits.
#[test]
fn small_request_passes_large_one() {
    watched(|| {
        let pool = pool(3, 12, TIGHT);
        pool.install(|| {
            let asks = |kib| {
                let (said, heard) = std::sync::mpsc::channel();
                let handle = tidegate::spawn(move || {
                    said.send(()).unwrap();
                    reserve(kib)
                });
                heard.recv().unwrap();
                handle
            };
            let held = memory::reserve(10 * KIB).unwrap();
            let (too_much, enough) = (asks(10), asks(5));
            std::thread::sleep(Duration::from_millis(30));
            assert_eq!(enough.join(), Ok(5 * KIB));
            drop(held);
            assert_eq!(too_much.join(), Ok(10 * KIB));
        });
    });
}

/// The request can never fit, because the waiter of its task holds too much memory.
#[test]
fn oversized_placed_request_is_rejected() {
    watched(|| {
        let pool = pool(2, 8, TIGHT);
        let place = pool.places()[0];
        pool.install(|| {
            let _held = memory::reserve(10 * KIB).unwrap();
            tidegate::scope(|scope| scope.spawn_at(place, |_| assert!(reserve(10).is_err())));
        });
    });
}
