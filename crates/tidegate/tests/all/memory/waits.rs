//! Budgets combined with everything else that tasks wait for: handles, other pools, blocking calls
//! and tasks from outside.

use crate::support::{until, watched};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;
use tidegate::memory::{self, ReservationError};
use tidegate::{
    Pool,
    policy::{Choose, MemoryPolicy, SharePolicy, WaitPolicy},
};

const KIB: usize = 1 << 10;

fn pool(workers: usize, memory: &str) -> Pool {
    let memory: MemoryPolicy = memory.parse().unwrap();
    let builder = Pool::builder().workers(workers).share(SharePolicy::Off);
    builder.memory(memory).build().unwrap()
}

fn a_while() {
    std::thread::sleep(Duration::from_millis(20));
}

/// Runs a join whose first half holds 10 KiB of a budget of 15 KiB and calls `wait`, while the
/// second half requests 10 KiB. Returns the result of that request.
fn asked_beside(pool: &Pool, wait: impl FnOnce() + Send) -> Result<usize, ReservationError> {
    let started = AtomicBool::new(false);
    let first = || {
        let _held = memory::reserve(10 * KIB).unwrap();
        until(|| started.load(Ordering::Acquire));
        wait();
    };
    let second = || {
        started.store(true, Ordering::Release);
        memory::reserve(10 * KIB).map(|reservation| reservation.bytes())
    };
    pool.join(first, second).1
}

const TIGHT: &str = "budget:bytes=15KiB,serial=15KiB";

#[test]
fn request_waits_for_handle_waiter() {
    watched(|| {
        let pool = pool(3, TIGHT);
        let asked = asked_beside(&pool, || tidegate::spawn(a_while).join());
        assert_eq!(asked, Ok(10 * KIB));
    });
}

#[test]
fn request_waits_for_cross_pool_waiter() {
    watched(|| {
        let pool = pool(2, TIGHT);
        let other = Pool::builder().workers(1).share(SharePolicy::Off);
        let other = other.build().unwrap();
        let asked = asked_beside(&pool, || other.install(a_while));
        assert_eq!(asked, Ok(10 * KIB));
    });
}

/// The task that waits for the handle holds most of the budget, and the handle's task uses the
/// remaining memory.
#[test]
fn handle_task_uses_remaining_memory() {
    watched(|| {
        let pool = pool(2, TIGHT);
        pool.install(|| {
            let _held = memory::reserve(10 * KIB).unwrap();
            let (begun, begins) = mpsc::channel();
            let handle = tidegate::spawn(move || {
                begun.send(()).unwrap();
                memory::reserve(5 * KIB).unwrap().bytes()
            });
            begins.recv().unwrap();
            assert_eq!(handle.join(), 5 * KIB);
        });
    });
}

/// A handle's task belongs to the pool that it was spawned on, no matter which thread joins it.
#[test]
fn handle_task_stays_in_pool() {
    watched(|| {
        for memory in ["none", TIGHT] {
            let (pool, other) = (pool(1, memory), pool(1, "none"));
            let spawn = || {
                let go_on = mpsc::channel::<()>();
                pool.spawn(move || go_on.1.recv());
                let handle =
                    pool.spawn(|| memory::reserve(KIB).map(|reservation| reservation.bytes()));
                std::thread::spawn(move || {
                    a_while();
                    drop(go_on.0);
                });
                handle
            };
            assert_eq!(spawn().join(), Ok(KIB));
            let handle = spawn();
            assert_eq!(other.install(|| handle.join()), Ok(KIB));
        }
    });
}

/// Even if the serial run needs more memory than the policy's `serial` value, no request exceeds
/// the budget.
#[test]
fn understated_serial_need_respects_budget() {
    watched(|| {
        let pool = pool(2, "budget:bytes=10KiB,serial=4KiB");
        let started = AtomicBool::new(false);
        pool.join(
            || {
                let _held = memory::reserve(10 * KIB).unwrap();
                until(|| started.load(Ordering::Acquire));
                a_while();
            },
            || {
                started.store(true, Ordering::Release);
                drop(memory::reserve(5 * KIB));
            },
        );
        let memory = pool.stats().memory;
        assert!(memory.peak <= 10 << 10, "{}", memory.peak);
        assert_eq!(memory.declared, 0);
    });
}

/// The request waits for the other tasks. When they have ended, the request is rejected.
#[test]
fn request_beside_leak_is_finally_rejected() {
    watched(|| {
        let pool = pool(2, "budget:bytes=15KiB,serial=5KiB");
        pool.install(|| std::mem::forget(memory::reserve(10 * KIB).unwrap()));
        let first = || {
            let _held = memory::reserve(KIB).unwrap();
            tidegate::blocking(|| until(|| pool.stats().memory.sleeps > 0));
        };
        let second = || memory::reserve(6 * KIB).map(|reservation| reservation.bytes());
        let (_, asked) = pool.install(|| tidegate::join(first, second));
        let text = asked.unwrap_err().to_string();
        let begins = "a reservation of 6KiB does not fit beside 10KiB in the budget of 15KiB";
        assert!(text.starts_with(begins), "{text}");
        let holder = format!("held: 10KiB by {}:", file!());
        assert!(text.contains(&holder), "{text}");
        let fits = || memory::reserve(5 * KIB).map(|reservation| reservation.bytes());
        assert_eq!(pool.install(fits), Ok(5 * KIB));
    });
}

#[test]
fn tasks_begin_while_others_block() {
    for policy in [TIGHT, "dfdeques:k=1KiB", "depth-first:k=1KiB", "none"] {
        watched(move || {
            let pool = pool(1, policy);
            pool.scope(|scope| {
                let (first, awaits_first) = mpsc::channel();
                let (second, awaits_second) = mpsc::channel();
                scope.spawn(move |_| {
                    first.send(()).unwrap();
                    tidegate::blocking(|| awaits_second.recv().unwrap());
                });
                tidegate::blocking(|| awaits_first.recv().unwrap());
                let (done, awaits_done) = mpsc::channel();
                scope.spawn(move |_| {
                    second.send(()).unwrap();
                    done.send(()).unwrap();
                });
                tidegate::blocking(|| awaits_done.recv().unwrap());
            });
        });
    }
}

/// The scope waits for tasks from outside, which use the scope's memory.
#[test]
fn scope_gives_memory_to_outside_tasks() {
    watched(|| {
        let pool = pool(2, TIGHT);
        let place = pool.places()[0];
        let asks = || {
            a_while();
            drop(memory::reserve(5 * KIB).unwrap());
        };
        pool.install(|| {
            let _held = memory::reserve(10 * KIB).unwrap();
            tidegate::scope(|scope| {
                scope.spawn(|_| ());
                scope.spawn_at(place, move |_| asks());
            });
            tidegate::scope(|scope| {
                scope.spawn(|_| ());
                std::thread::scope(|thread| {
                    thread.spawn(|| scope.spawn(move |_| asks()));
                });
            });
        });
    });
}

#[test]
fn handler_reservation_ends_with_handler() {
    watched(|| {
        let memory: MemoryPolicy = "budget:bytes=12KiB,serial=11KiB".parse().unwrap();
        let builder = Pool::builder()
            .workers(2)
            .share(SharePolicy::Off)
            .memory(memory);
        let reservation = |_| drop(memory::reserve(12 * KIB));
        let pool = builder
            .on_start(reservation)
            .on_exit(reservation)
            .build()
            .unwrap();
        assert_eq!(pool.install(|| 1), 1);
        drop(pool);
    });
}

#[test]
fn conflicting_options_reject_memory_order() {
    for (memory, breaks) in [("hybrid", "Builder::wait"), (TIGHT, "Builder::wait")] {
        let builder = Pool::builder().workers(1).wait(WaitPolicy::HelpAny);
        let error = builder.memory(memory.parse().unwrap()).build().unwrap_err();
        assert!(error.to_string().starts_with(breaks), "{error}");
    }
    let builder = Pool::builder()
        .workers(1)
        .queue(tidegate::policy::QueueKind::Shared);
    let error = builder.memory(TIGHT.parse().unwrap()).build().unwrap_err();
    assert!(error.to_string().starts_with("Builder::queue"), "{error}");
}

/// No thread is free to start the task that precedes the parked task.
#[test]
fn parked_task_resumes_without_free_threads() {
    watched(|| {
        let memory = "depth-first:k=512".parse().unwrap();
        let builder = Pool::builder()
            .workers(2)
            .max_threads(2)
            .share(SharePolicy::Off);
        let pool = builder.memory(memory).build().unwrap();
        let (begun, spawned, ended) = [const { AtomicBool::new(false) }; 3].into();
        let first = || {
            tidegate::scope(|scope| {
                until(|| begun.load(Ordering::Acquire));
                scope.spawn(|_| ());
                spawned.store(true, Ordering::Release);
                until(|| ended.load(Ordering::Acquire));
            });
        };
        let second = || {
            begun.store(true, Ordering::Release);
            until(|| spawned.load(Ordering::Acquire));
            // At this fork, the task parks so that the spawned task can run first. But no thread is
            // free to run that task: the other thread runs the first half, which waits for this
            // task.
            tidegate::join(|| (), || ());
            ended.store(true, Ordering::Release);
        };
        pool.install(|| tidegate::join(first, second));
    });
}
