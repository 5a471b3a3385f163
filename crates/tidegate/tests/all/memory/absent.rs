//! Budgets while the first tasks in the plan's order are absent: such a task waits for something
//! that the plan does not know, or lies below another task.

use crate::support::{until, watched};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;
use tidegate::memory::{self, ReservationError};
use tidegate::{
    Pool,
    policy::{MemoryPolicy, SharePolicy},
};

const KIB: usize = 1 << 10;

/// A budget of exactly the memory that the serial run of these programs needs.
const TIGHT: &str = "budget:bytes=15KiB,serial=15KiB";

fn pool(workers: usize, memory: &str) -> Pool {
    let memory: MemoryPolicy = memory.parse().unwrap();
    let builder = Pool::builder().workers(workers).share(SharePolicy::Off);
    builder.memory(memory).build().unwrap()
}

/// Creates a pool with so few threads that tasks must run on top of waiting tasks.
fn narrow(workers: usize, memory: &str) -> Pool {
    let builder = Pool::builder().workers(workers).max_threads(workers);
    let memory: MemoryPolicy = memory.parse().unwrap();
    builder
        .share(SharePolicy::Off)
        .memory(memory)
        .build()
        .unwrap()
}

fn other() -> Pool {
    Pool::builder()
        .workers(1)
        .share(SharePolicy::Off)
        .build()
        .unwrap()
}

fn reserve(kib: usize) -> Result<usize, ReservationError> {
    memory::reserve(kib * KIB).map(|reservation| reservation.bytes())
}

fn a_while() {
    std::thread::sleep(Duration::from_millis(20));
}

fn raise(flag: &AtomicBool) {
    flag.store(true, Ordering::Release);
}

/// Runs a join whose first half holds 10 KiB, and calls `act` once the second half has also
/// requested 10 KiB. Returns the result of that request.
fn asked_beside(pool: &Pool, act: impl FnOnce() + Send) -> Result<usize, ReservationError> {
    let asks = AtomicBool::new(false);
    let first = || {
        let _held = memory::reserve(10 * KIB).unwrap();
        tidegate::blocking(|| {
            until(|| asks.load(Ordering::Acquire));
            a_while();
        });
        act();
    };
    let second = || {
        raise(&asks);
        reserve(10)
    };
    pool.join(first, second).1
}

/// A task starts although an earlier task in the plan's order waits for memory, because an absent
/// task waits for the later one.
#[test]
fn task_behind_request_helps_absent_waiter() {
    watched(|| {
        let pool = pool(1, TIGHT);
        let calls_back = || {
            other().install(|| pool.install(|| tidegate::scope(|s| s.spawn(|_| ()))));
        };
        assert_eq!(asked_beside(&pool, calls_back), Ok(10 * KIB));
    });
}

/// The blocked waiter waits for a detached task that comes after a waiting request in the plan's
/// order.
#[test]
fn detached_task_helps_blocked_waiter() {
    watched(|| {
        let pool = pool(1, TIGHT);
        let hears = || {
            let (told, hears) = mpsc::channel();
            let _handle = tidegate::spawn(move || told.send(()).unwrap());
            tidegate::blocking(|| hears.recv().unwrap());
        };
        assert_eq!(asked_beside(&pool, hears), Ok(10 * KIB));
    });
}

/// A part of a broadcast runs on top of a task that waits for memory, and the task that this part
/// spawns also runs.
#[test]
fn broadcast_part_on_request_may_fork() {
    watched(|| {
        let pool = pool(1, TIGHT);
        let forked = AtomicBool::new(false);
        let forks = |_| tidegate::scope(|s| s.spawn(|_| raise(&forked)));
        std::thread::scope(|outside| {
            let holds = || {
                outside.spawn(|| pool.broadcast(forks));
                tidegate::blocking(|| until(|| forked.load(Ordering::Acquire)));
            };
            assert_eq!(asked_beside(&pool, holds), Ok(10 * KIB));
        });
    });
}

/// The task that holds the memory waits for the parts of a broadcast.
#[test]
fn request_waits_for_unstarted_parts() {
    watched(|| {
        let pool = pool(2, TIGHT);
        let begun = AtomicBool::new(false);
        let first = || {
            let _held = memory::reserve(10 * KIB).unwrap();
            pool.broadcast(|_| raise(&begun));
        };
        let second = || {
            until(|| begun.load(Ordering::Acquire));
            a_while();
            reserve(10)
        };
        assert_eq!(pool.join(first, second).1, Ok(10 * KIB));
    });
}

/// On top of a task that waits for memory, a task requests more than can ever fit.
#[test]
fn oversized_request_on_requester_is_rejected() {
    watched(|| {
        let pool = narrow(1, "budget:bytes=10KiB,serial=10KiB");
        pool.install(|| {
            tidegate::scope(|s| {
                s.spawn(|_| assert!(reserve(11).is_err()));
                reserve(5).unwrap();
            });
        });
    });
}

#[test]
fn awaited_oversized_request_is_rejected() {
    watched(|| {
        let pool = pool(2, TIGHT);
        let refused = || pool.install(|| reserve(20).is_err());
        assert!(pool.install(|| other().install(refused)));
    });
}

#[test]
fn scope_waiter_runs_placed_tasks_first() {
    watched(|| {
        let pool = narrow(1, TIGHT);
        let place = pool.places()[0];
        let first = || {
            let _held = memory::reserve(10 * KIB).unwrap();
            tidegate::scope(|s| s.spawn_at(place, |_| ()));
        };
        let asked = pool.install(|| tidegate::join(first, || reserve(10)).1);
        assert_eq!(asked, Ok(10 * KIB));
    });
}

/// All threads wait. The tasks for which an absent task waits start before later tasks.
#[test]
fn absent_waiter_tasks_begin_first() {
    watched(|| {
        let pool = narrow(2, TIGHT);
        let has_two = AtomicBool::new(false);
        let calls_back = || {
            pool.install(|| {
                raise(&has_two);
                tidegate::scope(|outer| {
                    tidegate::scope(|inner| {
                        outer.spawn(|_| ());
                        inner.spawn(|_| ());
                    });
                });
            });
        };
        let first = || {
            let _held = memory::reserve(10 * KIB).unwrap();
            other().install(calls_back);
        };
        let (asked, ()) = std::thread::scope(|outside| {
            // Keeps the other worker from starting the second half.
            let keeps = outside.spawn(|| pool.install(|| ()));
            let asked = pool.install(|| tidegate::join(first, || reserve(10)).1);
            (asked, keeps.join().unwrap())
        });
        assert_eq!(asked, Ok(10 * KIB));
        until(|| has_two.load(Ordering::Acquire));
    });
}

/// A task that runs without a slot is not parked at a fork.
#[test]
fn slotless_task_is_not_parked() {
    watched(|| {
        let pool = pool(1, "depth-first:k=1KiB");
        pool.install(|| {
            tidegate::scope(|s| {
                let (told, hears) = mpsc::channel();
                tidegate::blocking(|| {
                    s.spawn(move |_| hears.recv().unwrap());
                    told.send(()).unwrap();
                });
            });
        });
    });
}

#[test]
fn more_slots_unblock_later_tasks() {
    watched(|| {
        let pool = pool(1, TIGHT);
        let (asks, ran) = (AtomicBool::new(false), AtomicBool::new(false));
        let first = || {
            let _held = memory::reserve(10 * KIB).unwrap();
            tidegate::blocking(|| until(|| asks.load(Ordering::Acquire)));
            // While this task computes, no task after the request may start.
            a_while();
            pool.set_workers(2).unwrap();
            until(|| ran.load(Ordering::Acquire));
        };
        let second = || {
            tidegate::join(
                || {
                    raise(&asks);
                    reserve(10)
                },
                || raise(&ran),
            )
        };
        assert_eq!(pool.join(first, second).1.0, Ok(10 * KIB));
    });
}

/// Runs a task of `pool` that waits for a task of another pool, which executes `call` in `pool`.
/// Returns the result of `call`.
fn through_another<R: Send>(pool: &Pool, call: impl FnOnce() -> R + Send) -> R {
    pool.install(|| other().install(|| pool.install(call)))
}

#[test]
fn cross_pool_call_keeps_request_order() {
    watched(|| {
        let pool = pool(1, TIGHT);
        let begun = AtomicBool::new(false);
        let program = || {
            tidegate::scope(|scope| {
                scope.spawn(|_| {
                    raise(&begun);
                    a_while();
                    let _three = memory::reserve(3 * KIB).unwrap();
                    let _twelve = memory::reserve(12 * KIB).unwrap();
                });
                let _ten = memory::reserve(10 * KIB).unwrap();
                tidegate::blocking(|| until(|| begun.load(Ordering::Acquire)));
                let _five = memory::reserve(5 * KIB).unwrap();
            });
        };
        through_another(&pool, program);
    });
}

/// While the caller of one call is absent, no task of another call starts on top of an earlier
/// request from the same call.
#[test]
fn absent_caller_affects_no_other_call() {
    watched(|| {
        let memory: MemoryPolicy = TIGHT.parse().unwrap();
        let builder = Pool::builder().workers(1).max_threads(2);
        let pool = builder
            .share(SharePolicy::Off)
            .memory(memory)
            .build()
            .unwrap();
        let (holds, blocks, begun) = (
            AtomicBool::new(false),
            AtomicBool::new(false),
            AtomicBool::new(false),
        );
        let caller = || {
            other().install(|| until(|| holds.load(Ordering::Acquire)));
            tidegate::blocking(|| {
                raise(&blocks);
                a_while();
            });
        };
        let first = || {
            let _held = memory::reserve(10 * KIB).unwrap();
            raise(&holds);
            until(|| blocks.load(Ordering::Acquire));
            reserve(5)
        };
        let second = || reserve(10);
        std::thread::scope(|outside| {
            outside.spawn(|| {
                pool.install(|| {
                    raise(&begun);
                    caller();
                });
            });
            until(|| begun.load(Ordering::Acquire));
            let asked = pool.install(|| tidegate::join(first, second));
            assert_eq!(asked, (Ok(5 * KIB), Ok(10 * KIB)));
        });
    });
}

/// A request that can never fit is rejected even while a detached task has not started.
#[test]
fn request_beside_unstarted_task_is_rejected() {
    watched(|| {
        let pool = narrow(1, "budget:bytes=10KiB,serial=10KiB");
        pool.install(|| {
            let _held = memory::reserve(8 * KIB).unwrap();
            let _unbegun = tidegate::spawn(|| ());
            tidegate::scope(|scope| {
                scope.spawn(|_| assert!(reserve(5).is_err()));
                drop(reserve(2));
            });
        });
    });
}

/// If a task without memory blocks, the memory is available to tasks that it may be waiting for.
#[test]
fn memoryless_blocker_withholds_no_memory() {
    watched(|| {
        let pool = pool(1, TIGHT);
        pool.install(|| {
            let (told, hears) = mpsc::channel();
            let _handle = tidegate::spawn(move || told.send(reserve(10)).unwrap());
            let asked = tidegate::blocking(|| hears.recv().unwrap());
            assert_eq!(asked, Ok(10 * KIB));
        });
    });
}
