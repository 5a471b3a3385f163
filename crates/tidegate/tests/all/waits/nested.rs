//! Waits inside waits: pools that call each other, broadcasts that meet, and halves that wait for
//! each other.
//!
//! Each test forces its schedule: a closure continues only when the others have reached the state
//! that the test needs.

use crate::support::{Gate, Tally, bare_pool, built, fib, pool, until, watched};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Barrier};
use tidegate::{
    Pool,
    policy::{Choose, SharePolicy, StealAmount, WaitPolicy},
};

/// Pool A calls pool B, which calls pool A.
#[test]
fn reentrant_calls_finish_with_one_thread() {
    watched(|| {
        for (a, b) in [(bare_pool(1), bare_pool(1)), (pool(1), pool(1))] {
            for _ in 0..200 {
                assert_eq!(a.install(|| b.install(|| a.install(|| fib(5)))), 5);
                assert_eq!(
                    a.install(|| b.install(|| a.install(|| b.install(|| a.install(|| fib(5)))))),
                    5
                );
            }
        }
    });
}

/// Pool A calls pool B while pool B calls pool A.
#[test]
fn crossing_calls_finish_with_one_thread() {
    watched(|| {
        for (a, b) in [(bare_pool(1), bare_pool(1)), (pool(1), pool(1))] {
            for _ in 0..200 {
                let both_run = Barrier::new(2);
                let cross = |from: &Pool, to: &Pool| {
                    from.install(|| {
                        both_run.wait();
                        to.install(|| from.install(|| fib(5)))
                    })
                };
                std::thread::scope(|s| {
                    let there = s.spawn(|| cross(&a, &b));
                    assert_eq!(cross(&b, &a), 5);
                    assert_eq!(there.join().unwrap(), 5);
                });
            }
        }
    });
}

#[test]
fn ring_of_single_thread_pools_finishes() {
    watched(|| {
        let pools: Vec<_> = (0..4).map(|_| bare_pool(1)).collect();
        fn round(pools: &[Pool], hops: usize) -> usize {
            if hops == 0 {
                return 0;
            }
            pools[hops % pools.len()].install(|| 1 + round(pools, hops - 1))
        }
        for _ in 0..20 {
            assert_eq!(round(&pools, 40), 40);
        }
    });
}

#[test]
fn outside_broadcasts_meet_at_barriers() {
    watched(|| {
        for workers in [1, 2, 3] {
            let pool = bare_pool(workers);
            for _ in 0..200 {
                std::thread::scope(|s| {
                    for _ in 0..2 {
                        s.spawn(|| {
                            let meeting = Barrier::new(workers);
                            let numbers = pool.broadcast(|number| {
                                meeting.wait();
                                number
                            });
                            assert_eq!(numbers, (0..workers).collect::<Vec<_>>());
                        });
                    }
                });
            }
        }
    });
}

#[test]
fn inside_broadcasts_meet_at_barriers() {
    watched(|| {
        let pool = bare_pool(2);
        for _ in 0..500 {
            let both = Barrier::new(2);
            let round = || {
                let meeting = Barrier::new(2);
                both.wait();
                pool.broadcast(|_| meeting.wait()).len()
            };
            assert_eq!(pool.join(round, round), (2, 2));
        }
    });
}

/// Calls `f` in a second half. The other thread of the pool waits for it, or will wait soon.
fn in_stolen_halves(f: fn(&Pool, &Barrier)) {
    watched(move || {
        let pool = bare_pool(2);
        for _ in 0..200 {
            let (stolen, meeting) = (Gate::new(), Barrier::new(2));
            let second = || {
                stolen.open();
                f(&pool, &meeting);
            };
            pool.join(|| stolen.wait(), second);
        }
    });
}

#[test]
fn broadcast_reaches_threads_in_joins() {
    in_stolen_halves(|pool, meeting| {
        pool.broadcast(|_| meeting.wait());
    });
}

#[test]
fn interdependent_halves_run_concurrently() {
    watched(|| {
        for amount in [StealAmount::One, StealAmount::Half] {
            for wait in [WaitPolicy::Descendants, WaitPolicy::HelpAny] {
                // If the pool shared the machine with other jobs, it might have only one slot. Then
                // each pair would have to wait until the pool is lent another slot.
                let builder = Pool::builder().workers(2).share(SharePolicy::Off);
                let pool = built(builder.steal(amount).wait(wait));
                for _ in 0..200 {
                    let both = [Barrier::new(2), Barrier::new(2)];
                    pool.join(|| both[0].wait(), || both[0].wait());
                    pool.install(|| tidegate::join(|| both[1].wait(), || both[1].wait()));
                }
            }
        }
    });
}

/// The halves wait for each other without yielding.
#[test]
fn spinning_halves_run_concurrently() {
    watched(|| {
        let pool = pool(2);
        for _ in 0..50 {
            let came = Tally::new();
            let meet = || {
                came.come();
                while came.get() < 2 {
                    std::hint::spin_loop();
                }
            };
            pool.install(|| tidegate::join(meet, meet));
        }
    });
}

#[test]
fn waiting_worker_joins_awaited_work() {
    // Only the waiter can run one of the two inner halves.
    in_stolen_halves(|_, meeting| {
        tidegate::join(|| meeting.wait(), || meeting.wait());
    });
}

/// A task on top of another task would wait forever if it joined the task below.
#[test]
fn joining_the_task_below_panics() {
    watched(|| {
        let (pool, other) = (bare_pool(1), pool(1));
        let (begun, over) = (Arc::new(Gate::new()), Arc::new(Gate::new()));
        let (started, ends) = (begun.clone(), over.clone());
        let below = pool.spawn(move || {
            started.open();
            other.install(|| ends.wait());
            panic!("told, since the handle is gone by then");
        });
        begun.wait();
        // The only thread waits for the other pool, so this task runs on top of the waiting task.
        let ran = Arc::new(Gate::new());
        let has_run = ran.clone();
        let on_top = pool.spawn(move || {
            let ended = catch_unwind(AssertUnwindSafe(|| below.join()));
            has_run.open();
            ended
        });
        ran.wait();
        over.open();
        let ended: Result<(), _> = on_top.join();
        let payload = ended.expect_err("it cannot wait for what lies below");
        let message = payload.downcast_ref::<&str>().expect("a message");
        assert!(message.contains("in a frame below"), "{message}");
        until(|| pool.stats().panics == 1);
    });
}
