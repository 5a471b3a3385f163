//! While a task is in `blocking`, another thread uses its slot. Afterwards, the task gets a slot
//! again.

use crate::support::{
    AMOUNTS, Gate, Tally, at_most_at_once, bare_pool, built, fib, meet, pool, soak, watched,
};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier, Condvar, Mutex};
use std::time::Duration;
use tidegate::{
    Pool,
    policy::{Choose, QueueKind, SharePolicy},
};
use tidegate_testkit::{child, is_child, succeeds};

#[test]
fn another_task_uses_blocked_slot() {
    watched(|| {
        for amount in AMOUNTS {
            let pool = built(Pool::builder().workers(1).steal(amount));
            for _ in 0..100 {
                let other = Gate::new();
                pool.install(|| {
                    tidegate::join(
                        || tidegate::blocking(|| other.wait()),
                        // This half can run only on the slot of the first half, because there is no
                        // other slot.
                        || other.open(),
                    );
                });
            }
        }
    });
}

/// The part of a broadcast runs on top of a blocking call, so its own one is a plain call.
#[test]
fn part_of_blocked_worker_waits_for_its_half() {
    watched(|| {
        for amount in AMOUNTS {
            let pool = built(Pool::builder().workers(1).steal(amount));
            let elsewhere = bare_pool(1);
            let [blocked, begun, done] = [Gate::new(), Gate::new(), Gate::new()].map(Arc::new);
            let awaited = done.clone();
            let handle = elsewhere.spawn(move || awaited.wait());
            std::thread::scope(|threads| {
                threads.spawn(|| {
                    blocked.wait();
                    pool.broadcast(|_| {
                        if !begun.is_open() {
                            begun.open();
                            tidegate::blocking(|| done.wait());
                        }
                    });
                });
                pool.install(|| {
                    let first = begun.clone();
                    drop(tidegate::spawn(move || first.wait()));
                    let wait = || handle.join_timeout(Duration::from_secs(600)).is_ok();
                    tidegate::blocking(|| {
                        blocked.open();
                        assert!(tidegate::join(wait, || done.open()).0);
                    });
                });
            });
        }
    });
}

#[test]
fn tasks_run_while_only_worker_blocks() {
    watched(|| {
        let pool = pool(1);
        for _ in 0..100 {
            let (blocked, spawned, installed) = (Gate::new(), Gate::new(), Gate::new());
            std::thread::scope(|threads| {
                threads.spawn(|| {
                    blocked.wait();
                    pool.install(|| installed.open());
                });
                pool.scope(|s| {
                    s.spawn(|_| spawned.open());
                    tidegate::blocking(|| {
                        blocked.open();
                        spawned.wait();
                        installed.wait();
                    });
                });
            });
        }
    });
}

#[test]
fn many_tasks_may_block_at_once() {
    watched(|| {
        for workers in [1, 2] {
            let pool = built(Pool::builder().workers(workers).max_threads(workers + 6));
            for _ in 0..50 {
                let meeting = Barrier::new(6);
                pool.install(|| {
                    tidegate::scope(|s| {
                        for _ in 0..6 {
                            s.spawn(|_| {
                                tidegate::blocking(|| meeting.wait());
                            });
                        }
                    });
                });
            }
        }
    });
}

#[test]
fn join_works_inside_blocking_call() {
    watched(|| {
        for amount in AMOUNTS {
            for workers in [1, 2] {
                let pool = built(Pool::builder().workers(workers).steal(amount));
                for _ in 0..50 {
                    let result = pool.install(|| {
                        tidegate::join(
                            || tidegate::blocking(|| (fib(10), tidegate::blocking(|| fib(9)))),
                            || tidegate::blocking(|| fib(8)),
                        )
                    });
                    assert_eq!(result, ((55, 34), 21));
                }
            }
        }
    });
}

#[test]
fn scope_and_spawn_work_while_blocking() {
    watched(|| {
        for workers in [1, 2] {
            let pool = pool(workers);
            for _ in 0..50 {
                let ran = Tally::new();
                pool.install(|| {
                    tidegate::blocking(|| {
                        tidegate::scope(|s| {
                            for _ in 0..5 {
                                s.spawn(|_| tidegate::blocking(|| ran.come()));
                            }
                        });
                        assert_eq!(tidegate::spawn(|| fib(6)).join(), 8);
                    });
                });
                assert_eq!(ran.get(), 5);
            }
        }
    });
}

#[test]
fn blocking_panic_surfaces_and_returns_slot() {
    watched(|| {
        for pool in [pool(1), pool(2), bare_pool(1)] {
            for round in 0..50_usize {
                let block = || tidegate::blocking(|| resume_unwind(Box::new(round)));
                let caught = catch_unwind(AssertUnwindSafe(|| pool.install(block)));
                assert_eq!(caught.unwrap_err().downcast_ref(), Some(&round));
                assert_eq!(pool.install(|| fib(8)), 21);
            }
        }
    });
}

#[test]
fn blocking_without_spares_calls_directly() {
    watched(|| {
        let pool = bare_pool(2);
        let blocked = pool.install(|| {
            let here = std::thread::current().id();
            tidegate::blocking(|| std::thread::current().id() == here)
        });
        assert!(blocked);
        assert_eq!(pool.broadcast(|number| number), [0, 1]);
    });
}

#[test]
fn blocked_task_joins_broadcast_after_return() {
    watched(|| {
        let pool = pool(1);
        for _ in 0..50 {
            let (blocked, delivered) = (Gate::new(), Tally::new());
            let numbers = std::thread::scope(|threads| {
                threads.spawn(|| {
                    pool.install(|| {
                        tidegate::blocking(|| {
                            blocked.open();
                            // Blocks until another thread of the pool has run its part of the
                            // broadcast.
                            delivered.wait_for(1);
                        });
                    });
                });
                blocked.wait();
                // Starts a second thread, so that the broadcast has at least two parts.
                pool.install(|| ());
                pool.broadcast(|number| {
                    delivered.come();
                    number
                })
            });
            assert_eq!(delivered.get(), numbers.len());
            assert!(numbers.len() >= 2);
        }
    });
}

#[test]
fn workers_may_change_while_tasks_block() {
    watched(|| {
        let pool = pool(2);
        for round in 0..100 {
            let (changed, ran) = (Gate::new(), Tally::new());
            pool.scope(|s| {
                for _ in 0..3 {
                    s.spawn(|_| {
                        tidegate::blocking(|| changed.wait());
                        ran.come();
                    });
                }
                pool.set_workers(1 + round % 3).unwrap();
                changed.open();
            });
            assert_eq!(ran.get(), 3);
        }
    });
}

/// Waits inside a blocking call in every possible way: for a stolen half, for a scope's task, and
/// for a handle.
fn wait_for_others() {
    let begun = Gate::new();
    tidegate::join(|| begun.wait(), || begun.open());
    let begun = Gate::new();
    tidegate::scope(|s| {
        s.spawn(|_| begun.open());
        begun.wait();
    });
    let begun = std::sync::Arc::new(Gate::new());
    let other = begun.clone();
    let handle = tidegate::spawn(move || other.open());
    begun.wait();
    handle.join();
}

#[test]
fn waits_inside_blocking_hold_no_slot() {
    const BLOCKED: usize = 4;
    watched(|| {
        let rounds = soak(5, "rounds of blocked tasks, for each number of workers");
        for workers in [1, 2] {
            let pool = built(
                Pool::builder()
                    .queue(QueueKind::Split)
                    .workers(workers)
                    .max_threads(workers + 2 * BLOCKED),
            );
            for _ in 0..rounds {
                let (blocked, ran) = (Tally::new(), Gate::new());
                pool.scope(|s| {
                    for _ in 0..BLOCKED {
                        s.spawn(|_| {
                            tidegate::blocking(|| {
                                wait_for_others();
                                tidegate::blocking(|| {
                                    blocked.come();
                                    ran.wait();
                                });
                                wait_for_others();
                            });
                        });
                    }
                    // The other tasks wait for this task. If a waiter kept its slot, no slot would
                    // be left for this task.
                    s.spawn(|_| {
                        tidegate::blocking(|| blocked.wait_for(BLOCKED));
                        meet(&pool, workers);
                        ran.open();
                    });
                });
            }
            assert_eq!(pool.stats().workers, workers);
            at_most_at_once(&pool, workers);
            for workers in [3, 1, 2] {
                pool.set_workers(workers).unwrap();
                assert_eq!(pool.stats().workers, workers);
                meet(&pool, workers);
                at_most_at_once(&pool, workers);
            }
        }
    });
}

/// Calls `round` repeatedly in a task that has returned from a blocking call while another task
/// holds the only slot. Returns how often a task has continued without a slot.
fn overcommits_of(round: impl Fn() + Sync) -> u64 {
    let builder = Pool::builder().queue(QueueKind::Split).workers(1);
    // Without a share controller, which would ask the task to stop again.
    let pool = built(builder.share(SharePolicy::Off));
    let (occupied, done) = (Gate::new(), Gate::new());
    pool.scope(|s| {
        // This task holds the slot until the other task has finished.
        s.spawn(|_| {
            occupied.open();
            done.wait();
        });
        // This younger task runs first.
        s.spawn(|_| {
            tidegate::blocking(|| occupied.wait());
            (0..2_000).for_each(|_| round());
            done.open();
        });
    });
    pool.stats().counters.overcommitted
}

/// A task without a slot waits for only one grace period and then continues to run.
#[test]
fn overcommitted_task_waits_one_grace() {
    watched(|| {
        let rounds: [(&str, &(dyn Fn() + Sync)); 4] = [
            ("a join", &|| assert_eq!(fib(2), 1)),
            ("a yield point", &tidegate::yield_point),
            ("a scope", &|| tidegate::scope(|s| s.spawn(|_| ()))),
            ("a handle", &|| tidegate::spawn(|| ()).join()),
        ];
        for (what, round) in rounds {
            let overcommitted = overcommits_of(round);
            assert!((1..10).contains(&overcommitted), "{what}: {overcommitted}");
        }
    });
}

/// When a task returns from a blocking call, it runs before the next task of the thread that has
/// the slot.
#[test]
fn returning_task_precedes_the_next_task() {
    watched(|| {
        let pool = built(Pool::builder().workers(1).max_threads(4));
        let (occupied, stop) = (shared::<Gate>(), shared::<Gate>());
        let begun = shared::<Tally>();
        let back = {
            let (occupied, stop, begun) = (occupied.clone(), stop.clone(), begun.clone());
            pool.spawn(move || {
                tidegate::blocking(|| occupied.wait());
                let before = begun.get();
                // At each fork, the task may lose the slot.
                (0..20_000).for_each(|_| assert_eq!(fib(12), 144));
                stop.open();
                begun.get() - before
            })
        };
        for _ in 0..20_000 {
            let (occupied, stop, begun) = (occupied.clone(), stop.clone(), begun.clone());
            drop(pool.spawn(move || {
                occupied.open();
                if !stop.is_open() {
                    begun.come();
                    fib(15);
                }
            }));
        }
        let meanwhile = back.join();
        assert!(meanwhile < 200, "{meanwhile} tasks came first");
    });
}

fn shared<T: Default>() -> Arc<T> {
    Arc::default()
}

mod many_blocked_threads {
    use super::*;

    /// Spawns tasks that wait at `barrier` in a blocking call. Returns when all of them wait.
    fn block(pool: &Pool, tasks: usize, barrier: &Arc<Barrier>) {
        let blocked = shared::<Tally>();
        for _ in 0..tasks {
            let (barrier, blocked) = (barrier.clone(), blocked.clone());
            drop(pool.spawn(move || {
                tidegate::blocking(|| {
                    blocked.come();
                    barrier.wait();
                });
            }));
        }
        while blocked.get() < tasks {
            std::thread::yield_now();
        }
    }

    #[test]
    fn leave_room_for_other_tasks() {
        watched(|| {
            let pool = pool(2);
            let barrier = Arc::new(Barrier::new(401));
            block(&pool, 400, &barrier);
            let spawned = shared::<Gate>();
            let open = spawned.clone();
            let handle = pool.spawn(move || open.open());
            spawned.wait();
            handle.join();
            assert_eq!(pool.join(|| fib(10), || fib(11)), (55, 89));
            assert_eq!(pool.spawn(|| fib(12)).join(), 144);
            assert_eq!(pool.stats().blocking_limit_hits, 0);
            barrier.wait();
        });
    }

    #[test]
    fn are_counted_and_reported_at_limit() {
        if !is_child() {
            let said = succeeds(&child(
                "waits::blocking::many_blocked_threads::are_counted_and_reported_at_limit",
                &[],
            ));
            let line = "tasks wait because 4 threads are in blocking calls, and the pool has started \
                        all it may: max_threads is 2, and max_blocking_threads \
                        (TIDEGATE_MAX_BLOCKING_THREADS) adds 2";
            assert_eq!(said.matches(line).count(), 1, "{said}");
            return;
        }
        watched(|| {
            let pool = built(
                Pool::builder()
                    .workers(1)
                    .max_threads(2)
                    .max_blocking_threads(2),
            );
            let barrier = Arc::new(Barrier::new(5));
            block(&pool, 4, &barrier);
            let waits = pool.spawn(|| fib(10));
            while pool.stats().blocking_limit_hits == 0 {
                std::thread::yield_now();
            }
            barrier.wait();
            assert_eq!(waits.join(), 55);
        });
    }

    /// Waiting for a thread's start handler does not count as hitting the limit.
    #[test]
    fn are_not_blamed_for_start_handlers() {
        watched(|| {
            let is_slow = shared::<AtomicBool>();
            let sleeps = is_slow.clone();
            let builder = Pool::builder().workers(3).max_threads(4);
            let builder = builder.share(SharePolicy::Off).on_start(move |_| {
                if sleeps.load(Ordering::Acquire) {
                    crate::support::let_others_sleep();
                }
            });
            let pool = built(builder.max_blocking_threads(1));
            let elsewhere = Arc::new(crate::support::bare_pool(2));
            let gate = shared::<Gate>();
            let begin = |f: Box<dyn FnOnce() + Send>| {
                let begun = shared::<Gate>();
                let begins = begun.clone();
                let task = pool.spawn(move || {
                    begins.open();
                    f();
                });
                begun.wait();
                crate::support::let_others_sleep();
                task
            };
            let blocks = gate.clone();
            let blocked = begin(Box::new(move || tidegate::blocking(|| blocks.wait())));
            let waits = [(); 2].map(|()| {
                let (other, opens) = (elsewhere.clone(), gate.clone());
                begin(Box::new(move || other.spawn(move || opens.wait()).join()))
            });
            is_slow.store(true, Ordering::Release);
            // All slots are free. The pool starts a thread for this task, and a second thread
            // because the first one must call a handler. After that, it may start no more threads.
            let (end, ended) = std::sync::mpsc::channel();
            drop(pool.spawn(move || end.send(()).unwrap()));
            ended.recv().unwrap();
            gate.open();
            for wait in waits {
                wait.join();
            }
            blocked.join();
            assert_eq!(pool.stats().blocking_limit_hits, 0);
        });
    }

    #[test]
    fn end_when_no_longer_needed() {
        watched(|| {
            let (tasks, limit) = (20, 2);
            let (starts, exits) = (shared::<Tally>(), shared::<Tally>());
            let (start, exit) = (starts.clone(), exits.clone());
            let builder = Pool::builder().workers(1).max_threads(limit);
            let builder = builder.on_start(move |_| start.come());
            let pool = built(builder.on_exit(move |_| exit.come()));
            let barrier = Arc::new(Barrier::new(tasks + 1));
            block(&pool, tasks, &barrier);
            barrier.wait();
            while starts.get() - exits.get() > limit {
                std::thread::yield_now();
            }
            assert_eq!(pool.install(|| fib(10)), 55);
            assert_eq!(
                starts.get() - exits.get(),
                limit,
                "only surplus threads have left"
            );
            drop(pool);
            assert_eq!(starts.get(), exits.get());
        });
    }

    /// A flag. Threads that wait for it use no processor time.
    #[derive(Default)]
    struct Flag(Mutex<bool>, Condvar);

    impl Flag {
        fn wait(&self) {
            let guard = self.0.lock().unwrap();
            drop(self.1.wait_while(guard, |raised| !*raised).unwrap());
        }

        fn raise(&self) {
            *self.0.lock().unwrap() = true;
            self.1.notify_all();
        }
    }

    /// If the system refuses to start a thread, the threads started so far are the limit.
    #[cfg(all(target_os = "linux", not(tidegate_tsan)))]
    #[test]
    fn are_limited_by_the_system() {
        use std::process::Output;
        use tidegate_testkit::limited;
        let name = "waits::blocking::many_blocked_threads::are_limited_by_the_system";
        if !is_child() {
            // At some limits the last thread starts and leaves less than the 1 MiB that its deque needs,
            // so Rust ends the process. Of neighbouring limits, at most one is such a limit.
            let mut children = (700..703).map(|limit| limited(name, limit, &[]));
            let has_memory = |child: &Output| {
                !String::from_utf8_lossy(&child.stderr).contains("memory allocation of")
            };
            let child = children.find(has_memory);
            let said = succeeds(&child.expect("it fails at one limit at most"));
            let line = "threads are in blocking calls, and the system refuses more threads";
            assert_eq!(said.matches(line).count(), 1, "{said}");
            return;
        }
        let pool = pool(2);
        let flag = shared::<Flag>();
        while pool.stats().blocking_limit_hits == 0 {
            let flag = flag.clone();
            drop(pool.spawn(move || tidegate::blocking(|| flag.wait())));
        }
        flag.raise();
        assert_eq!(pool.spawn(|| fib(10)).join(), 55);
    }
}
