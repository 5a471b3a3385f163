//! `set_workers` while the pool runs: no task is lost, the number of running workers rises and
//! falls, and invalid numbers are rejected.

use crate::support::{
    AMOUNTS, Gate, Tally, at_most_at_once, bare_pool, built, fib, let_others_sleep, meet, pool,
    soak, until, watched,
};
use std::sync::Barrier;
use tidegate::Pool;
use tidegate::policy::Choose;

#[test]
fn changes_under_load_lose_no_task() {
    watched(|| {
        let changes = soak(1_000, "changes under load, for each steal amount");
        for amount in AMOUNTS {
            let pool = built(Pool::builder().workers(2).steal(amount));
            let changed = Gate::new();
            std::thread::scope(|s| {
                s.spawn(|| {
                    for i in 0..changes {
                        pool.set_workers(1 + i * 7 % 4).unwrap();
                        // Lets the load continue until the next change.
                        pool.install(|| ());
                    }
                    changed.open();
                });
                let mut rounds = 0;
                while !changed.is_open() || rounds < 10 {
                    let ran = Tally::new();
                    pool.scope(|s| {
                        for _ in 0..50 {
                            s.spawn(|s| {
                                s.spawn(|_| ran.come());
                                assert_eq!(fib(6), 8);
                            });
                        }
                    });
                    assert_eq!(ran.get(), 50);
                    assert_eq!(pool.install(|| fib(12)), 144);
                    let handles: Vec<_> = (0..10).map(|i| pool.spawn(move || i)).collect();
                    let sum: usize = handles.into_iter().map(|handle| handle.join()).sum();
                    assert_eq!(sum, 45);
                    rounds += 1;
                }
            });
        }
    });
}

#[test]
fn resizing_inside_loses_no_task() {
    watched(|| {
        let pool = pool(2);
        for round in 0..200 {
            let ran = Tally::new();
            pool.scope(|s| {
                for i in 0..8 {
                    let (pool, ran) = (&pool, &ran);
                    s.spawn(move |_| {
                        pool.set_workers(1 + (round + i) % 4).unwrap();
                        assert_eq!(fib(8), 21);
                        ran.come();
                    });
                }
            });
            assert_eq!(ran.get(), 8);
        }
    });
}

#[test]
fn invalid_worker_counts_change_nothing() {
    watched(|| {
        let pool = bare_pool(2);
        for (bad, named) in [(0, "1 to "), (16_385, "1 to "), (usize::MAX, "1 to ")] {
            let message = pool.set_workers(bad).unwrap_err().to_string();
            assert!(message.contains(&bad.to_string()), "{message}");
            assert!(message.contains(named), "{message}");
        }
        let meeting = Barrier::new(2);
        pool.join(|| meeting.wait(), || meeting.wait());
    });
}

#[test]
fn more_workers_add_concurrency() {
    watched(|| {
        for first in [pool(1), bare_pool(1)] {
            for workers in [2, 3, 8, 4, 12] {
                first.set_workers(workers).unwrap();
                meet(&first, workers);
            }
        }
    });
}

#[test]
fn new_workers_join_running_work() {
    watched(|| {
        let pool = pool(1);
        let meeting = Barrier::new(3);
        pool.install(|| {
            tidegate::scope(|s| {
                for _ in 0..2 {
                    s.spawn(|_| {
                        meeting.wait();
                    });
                }
                pool.set_workers(3).unwrap();
                meeting.wait();
            });
        });
    });
}

#[test]
fn fewer_workers_reduce_concurrency() {
    watched(|| {
        for pool in [pool(4), bare_pool(4)] {
            meet(&pool, 4);
            for workers in [3, 1, 2] {
                pool.set_workers(workers).unwrap();
                at_most_at_once(&pool, workers);
            }
        }
    });
}

#[test]
fn surplus_worker_stops_at_yield_point() {
    watched(|| {
        let pool = pool(2);
        let (came, fell, left) = (Tally::new(), Gate::new(), Tally::new());
        // Two leaves run at the same time and never fork. At a yield point, one of them must give
        // up its slot. It continues only after its grace period, or when the other leaf has ended.
        // Both end in any case.
        let leaf = || {
            came.come();
            came.wait_for(2);
            fell.wait();
            tidegate::yield_point();
            left.come();
        };
        std::thread::scope(|s| {
            s.spawn(|| pool.join(leaf, leaf));
            came.wait_for(2);
            pool.set_workers(1).unwrap();
            fell.open();
            left.wait_for(2);
        });
        at_most_at_once(&pool, 1);
        pool.set_workers(2).unwrap();
        meet(&pool, 2);
        until(|| left.get() == 2);
    });
}

/// Waits until `beats` does not change for a while: long compared with a round of a spinning
/// thread, but short compared with a grace period.
fn until_still(beats: &std::sync::atomic::AtomicUsize) {
    use std::sync::atomic::Ordering;
    loop {
        let before = beats.load(Ordering::SeqCst);
        std::thread::sleep(std::time::Duration::from_micros(300));
        if beats.load(Ordering::SeqCst) == before {
            return;
        }
    }
}

/// A preempted thread runs its part of the broadcast after its task, not in the middle of the task.
#[test]
fn preempted_thread_finishes_before_broadcast() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    thread_local! { static IN_TASK: AtomicBool = const { AtomicBool::new(false) }; }
    watched(|| {
        // Without a share controller, only `set_workers` preempts threads here.
        let pool = built(
            Pool::builder()
                .workers(3)
                .share(tidegate::policy::SharePolicy::Off),
        );
        let [busy, release, ready, stop, delivered] =
            std::array::from_fn(|_| Arc::new(Gate::new()));
        let beats = Arc::new(AtomicUsize::new(0));
        let holder = pool.spawn({
            let (busy, release) = (busy.clone(), release.clone());
            move || {
                busy.open();
                release.wait();
            }
        });
        busy.wait();
        let preempted = pool.spawn({
            let (ready, stop, beats) = (ready.clone(), stop.clone(), beats.clone());
            move || {
                IN_TASK.with(|it| it.store(true, Ordering::SeqCst));
                ready.open();
                while !stop.is_open() {
                    beats.fetch_add(1, Ordering::SeqCst);
                    tidegate::yield_point();
                }
                IN_TASK.with(|it| it.store(false, Ordering::SeqCst));
            }
        });
        ready.wait();
        pool.set_workers(1).unwrap();
        // The preempted thread sleeps for its grace period, which is 10 ms.
        until_still(&beats);
        let in_task = std::thread::scope(|threads| {
            let parts = threads.spawn(|| {
                pool.broadcast(|_| {
                    delivered.open();
                    IN_TASK.with(|it| it.load(Ordering::SeqCst))
                })
            });
            // The third thread sleeps, so it wakes and runs its part immediately.
            delivered.wait();
            let then = beats.load(Ordering::SeqCst);
            while beats.load(Ordering::SeqCst) == then {
                std::thread::yield_now();
            }
            stop.open();
            release.open();
            parts.join().unwrap()
        });
        assert_eq!(in_task, [false; 3]);
        holder.join();
        preempted.join();
    });
}

/// All gained slots are used, even if the first of them goes to a waiting task.
#[test]
fn all_gained_slots_are_used() {
    use std::sync::Arc;
    use std::time::Duration;
    watched(|| {
        let pool = built(
            Pool::builder()
                .workers(4)
                .share(tidegate::policy::SharePolicy::Off)
                .wait(tidegate::policy::WaitPolicy::HelpAny),
        );
        let shared = Arc::new((Tally::new(), Gate::new()));
        let stolen = Gate::new();
        let leaf = |all: &Gate| {
            while !all.is_open() {
                std::thread::sleep(Duration::from_millis(1));
            }
        };
        std::thread::scope(|threads| {
            threads.spawn(|| {
                pool.install(|| {
                    tidegate::join(
                        || stolen.wait(),
                        || {
                            stolen.open();
                            leaf(&shared.1);
                        },
                    )
                })
            });
            stolen.wait();
            until(|| pool.stats().waiting.latch > 0.0);
            // Now the joiner sleeps. The two other workers sleep soon.
            let_others_sleep();
            pool.set_workers(1).unwrap();
            for _ in 0..3 {
                let shared = shared.clone();
                drop(pool.spawn(move || {
                    shared.0.come();
                    leaf(&shared.1);
                }));
            }
            std::thread::sleep(Duration::from_millis(50));
            assert_eq!(shared.0.get(), 0, "the only slot is held");
            pool.set_workers(4).unwrap();
            // Of 4 slots one is held, so the three tasks run at the same time.
            shared.0.wait_for(3);
            shared.1.open();
        });
    });
}

/// If a thread has had a slot since its last preemption, its next preemption lasts for only the
/// first grace period.
#[test]
fn regained_slot_resets_the_grace() {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::{Duration, Instant};
    use tidegate_policy::tunables::PREEMPTED_GRACE;
    // Without the reset, the second preemption would last for this long, and the next ones for
    // longer.
    let second = Duration::from_nanos(4 * PREEMPTED_GRACE.default);
    watched(move || {
        let pool = built(
            Pool::builder()
                .workers(2)
                .share(tidegate::policy::SharePolicy::Off),
        );
        let mut short_ones = 0;
        // A busy machine may delay any number of rounds.
        while short_ones < 8 {
            pool.set_workers(2).unwrap();
            let (came, release, asked) = (Tally::new(), Gate::new(), AtomicBool::new(false));
            let stood = std::thread::scope(|threads| {
                threads.spawn(|| {
                    pool.install(|| {
                        came.come();
                        release.wait();
                    });
                });
                let polls = threads.spawn(|| {
                    pool.install(|| {
                        came.come();
                        while !asked.load(Ordering::SeqCst) {
                            std::thread::yield_now();
                        }
                        let since = Instant::now();
                        tidegate::yield_point();
                        since.elapsed()
                    })
                });
                came.wait_for(2);
                pool.set_workers(1).unwrap();
                asked.store(true, Ordering::SeqCst);
                let stood = polls.join().unwrap();
                release.open();
                stood
            });
            short_ones += usize::from(stood < second);
            // Both threads have slots again and work.
            pool.set_workers(2).unwrap();
            meet(&pool, 2);
        }
    });
}
