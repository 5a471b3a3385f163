//! The context that follows tasks: task-local values under theft, robbing, rescue and blocking.

use crate::support::futures::yields;
use crate::support::{Gate, fib, pool, watched};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier};
use std::thread;
use tidegate::policy::{Choose, QueueKind, WaitPolicy};
use tidegate::{Pool, TaskLocal, interval};

static LOCAL: TaskLocal<u32> = TaskLocal::new();
static OTHER: TaskLocal<u32> = TaskLocal::new();

fn here() -> Option<u32> {
    LOCAL.get()
}

/// Runs `f` in both halves of a join, on two workers.
fn stolen_join<R: Send>(f: impl Fn() -> R + Sync) -> (R, R) {
    let barrier = Barrier::new(2);
    let meet = || {
        barrier.wait();
        f()
    };
    tidegate::join(meet, meet)
}

#[test]
fn stolen_half_sees_the_value() {
    watched(|| {
        pool(2).install(|| {
            assert_eq!(LOCAL.scope(7, || stolen_join(here)), (Some(7), Some(7)));
            assert_eq!(stolen_join(here), (None, None));
        });
    });
}

#[test]
fn inner_value_hides_the_outer() {
    watched(|| {
        pool(2).install(|| {
            LOCAL.scope(1, || {
                OTHER.scope(2, || {
                    assert_eq!(LOCAL.scope(3, || stolen_join(here)), (Some(3), Some(3)));
                    let both = stolen_join(|| (here(), OTHER.get()));
                    assert_eq!(both, ((Some(1), Some(2)), (Some(1), Some(2))));
                });
                assert_eq!(OTHER.get(), None);
            });
            assert_eq!(here(), None);
        });
    });
}

#[test]
fn deep_recursion_carries_the_value() {
    fn count(depth: u32) -> u32 {
        if depth == 0 {
            return here().unwrap();
        }
        let (a, b) = tidegate::join(|| count(depth - 1), || count(depth - 1));
        a + b
    }
    watched(|| {
        for queue in QueueKind::ALL {
            let pool = Pool::builder().workers(2).queue(*queue).build().unwrap();
            assert_eq!(pool.install(|| LOCAL.scope(1, || count(10))), 1 << 10);
            assert_eq!(LOCAL.scope(1, || pool.install(|| count(8))), 1 << 8);
        }
        assert_eq!(LOCAL.scope(1, || count(8)), 1 << 8);
    });
}

#[test]
fn spawned_tasks_outlive_the_call_that_set_the_value() {
    watched(|| {
        let pool = pool(2);
        let gate = Arc::new(Gate::new());
        let spawned = LOCAL.scope(7, || {
            let gates = [(); 3].map(|()| gate.clone());
            let [first, second, third] = gates.map(|gate| {
                move || {
                    gate.wait();
                    here()
                }
            });
            let free = pool.install(|| tidegate::spawn(third));
            let tried = pool.task().spawn_if_room(second).unwrap();
            [pool.spawn(first), tried, free]
        });
        gate.open();
        assert_eq!(spawned.map(tidegate::Handle::join), [Some(7); 3]);
    });
}

#[test]
fn tasks_of_a_scope_see_the_value_of_their_spawner() {
    watched(|| {
        let pool = pool(2);
        let places = pool.places();
        let (seen, all) = channel();
        pool.scope(|scope| {
            let note = |name: &'static str| {
                let seen = seen.clone();
                move |_: &tidegate::Scope<'_>| seen.send((name, here())).unwrap()
            };
            scope.spawn(note("outside"));
            LOCAL.scope(7, || {
                scope.spawn(note("spawn"));
                scope.spawn_in_order(1, note("priority"));
                scope.spawn_at(places[0], note("place"));
                thread::scope(|s| _ = s.spawn(|| scope.spawn(note("another thread"))));
            });
            scope.spawn_in_order(1, note("afterwards"));
        });
        drop(seen);
        let mut all: Vec<_> = all.iter().collect();
        all.sort_unstable();
        let expected = [
            ("afterwards", None),
            ("another thread", None),
            ("outside", None),
            ("place", Some(7)),
            ("priority", Some(7)),
            ("spawn", Some(7)),
        ];
        assert_eq!(all, expected);
    });
}

#[test]
fn loops_see_the_value() {
    watched(|| {
        let pool = pool(2);
        let sees = |_: u32| assert_eq!(here(), Some(7));
        LOCAL.scope(7, || {
            tidegate::for_each(0..1_000_u32, sees);
            pool.for_each(0..1_000_u32, sees);
            let sum = |n: u32| here().unwrap() * n;
            let expected = Some(7 * 4_950);
            assert_eq!(tidegate::map_reduce(0..100, sum, |a, b| a + b), expected);
            assert_eq!(pool.map_reduce(0..100, sum, |a, b| a + b), expected);
            assert_eq!(
                pool.install(|| tidegate::map_reduce(0..100, sum, |a, b| a + b)),
                expected
            );
            let parts = pool.broadcast(|_| here());
            assert_eq!(parts, [Some(7); 2]);
        });
        assert_eq!(pool.broadcast(|_| here()), [None; 2]);
    });
}

/// The first and the last call wait for each other, so two workers share the map.
#[test]
fn stolen_part_of_a_map_sees_the_value() {
    const LENGTH: usize = 1_000;
    watched(|| {
        let barrier = Barrier::new(2);
        let meet = |i| {
            if i == 0 || i == LENGTH - 1 {
                barrier.wait();
            }
            here()
        };
        let pool = pool(2);
        let free = || tidegate::par_map(0..LENGTH, meet);
        LOCAL.scope(7, || {
            assert_eq!(pool.par_map(0..LENGTH, meet), [Some(7); LENGTH]);
            assert_eq!(pool.install(free), [Some(7); LENGTH]);
        });
        assert_eq!(pool.install(|| LOCAL.scope(7, free)), [Some(7); LENGTH]);
        assert_eq!(pool.install(free), [None; LENGTH]);
    });
}

#[test]
fn map_outside_of_pools_sees_the_value() {
    watched(|| {
        let seen = LOCAL.scope(7, || tidegate::par_map(0..5_000_u32, |_| here()));
        assert_eq!(seen, [Some(7); 5_000]);
    });
}

/// Each comparison forks, so it would lose the value if it ran outside of the context.
#[test]
fn comparisons_of_a_sort_see_the_value() {
    watched(|| {
        let pool = pool(2);
        let sort = || {
            let mut random = fastrand::Rng::with_seed(7);
            let numbers: Vec<u32> = (0..10_000).map(|_| random.u32(..)).collect();
            let compare = |a: &u32, b: &u32| {
                assert_eq!(tidegate::join(here, here), (Some(7), Some(7)));
                a.cmp(b)
            };
            let (mut first, mut second) = (numbers.clone(), numbers);
            tidegate::sort_unstable_by(&mut first, compare);
            tidegate::sort_by(&mut second, compare);
            assert!(first.is_sorted() && second.is_sorted());
        };
        LOCAL.scope(7, sort);
        LOCAL.scope(7, || pool.install(sort));
        pool.install(|| LOCAL.scope(7, sort));
    });
}

#[test]
fn intervals_see_the_value() {
    watched(|| {
        let pool = pool(2);
        let (seen, all) = channel();
        let note = || seen.send(here()).unwrap();
        let done = LOCAL.scope(7, || {
            pool.run_intervals(|scope| {
                let first = scope.interval(|_| note());
                let second = scope.interval(|inner| {
                    inner.inline(|_| note()).unwrap();
                    inner.interval(|_| note());
                });
                first.end().before(second.start()).unwrap();
                note();
            })
        });
        done.unwrap();
        assert_eq!(all.try_iter().collect::<Vec<_>>(), [Some(7); 4]);
        let seen = LOCAL.scope(7, || interval::run(|_| here()));
        assert_eq!(seen.unwrap(), Some(7));
    });
}

/// Runners and the consumer run items, in the context of the stream's creator.
#[test]
fn streams_carry_the_value_of_their_creator() {
    watched(|| {
        let results = || tidegate::stream(0..1_000).map(|_| here()).ordered();
        for inside in [false, true] {
            let consume = || {
                let made = LOCAL.scope(7, results);
                assert!(made.eq([Some(7); 1_000]));
                let plain = results();
                LOCAL.scope(8, || assert!(plain.eq([None; 1_000])));
            };
            if inside {
                // The consumer is the only worker, so it runs all items.
                pool(1).install(consume);
            } else {
                consume();
            }
        }
    });
}

#[test]
fn futures_keep_the_value_across_awaits() {
    watched(|| {
        let pool = pool(2);
        let spawn = || {
            pool.spawn_future(async {
                let before = here();
                yields(3).await;
                let inner = tidegate::spawn_future(async { here() }).await;
                let joined = tidegate::join(here, || fib(10));
                (before, inner, joined.0, here())
            })
        };
        assert_eq!(
            LOCAL.scope(7, spawn).join(),
            (Some(7), Some(7), Some(7), Some(7))
        );
        assert_eq!(spawn().join(), (None, None, None, None));
    });
}

/// An unrelated task runs on top of a wait, on a thread whose task has a value.
#[test]
fn unrelated_tasks_see_no_value() {
    watched(|| {
        let builder = Pool::builder().workers(1).wait(WaitPolicy::HelpAny);
        for builder in [builder, Pool::builder().workers(1).max_threads(1)] {
            let pool = builder.build().unwrap();
            let gate = Arc::new(Gate::new());
            let (started, has_started) = channel();
            let waits = {
                let gate = gate.clone();
                LOCAL.scope(7, || {
                    pool.spawn(move || {
                        started.send(()).unwrap();
                        gate.wait();
                        let polls = tidegate::spawn_future(yields(2));
                        (polls.join(), here())
                    })
                })
            };
            has_started.recv().unwrap();
            let unrelated = pool.spawn(here);
            gate.open();
            assert_eq!(waits.join(), (2, Some(7)));
            assert_eq!(unrelated.join(), None);
        }
    });
}

/// A thread that waits inside a context also runs its part of a broadcast that was sent without a
/// context.
#[test]
fn part_of_a_broadcast_sees_the_value_of_its_sender() {
    watched(|| {
        let pool = pool(2);
        pool.install(|| {
            LOCAL.scope(7, || {
                let seen = stolen_join(|| tidegate::broadcast(|_| here()));
                assert_eq!(seen, (vec![Some(7); 2], vec![Some(7); 2]));
            });
        });
        let gate = Arc::new(Gate::new());
        let waits = {
            let gate = gate.clone();
            LOCAL.scope(7, || {
                pool.spawn(move || {
                    tidegate::blocking(|| gate.wait());
                    tidegate::yield_point();
                    here()
                })
            })
        };
        let parts = thread::scope(|s| {
            let parts = s.spawn(|| pool.broadcast(|_| here()));
            gate.open();
            parts.join().unwrap()
        });
        assert!(parts.iter().all(Option::is_none), "{parts:?}");
        assert_eq!(waits.join(), Some(7));
    });
}

#[test]
fn blocking_keeps_the_value_and_frees_the_slot() {
    watched(|| {
        let pool = pool(1);
        let (value, next) = pool.install(|| {
            LOCAL.scope(7, || {
                let (ran, has_run) = channel();
                let other = tidegate::shield(|| {
                    tidegate::spawn(move || {
                        ran.send(()).unwrap();
                        here()
                    })
                });
                // The only slot goes to the thread that runs the other task.
                let value = tidegate::blocking(|| {
                    has_run.recv().unwrap();
                    here()
                });
                (value, other.join())
            })
        });
        assert_eq!((value, next), (Some(7), Some(7)));
    });
}

#[test]
fn panics_restore_the_context() {
    watched(|| {
        pool(2).install(|| {
            let panics = || LOCAL.scope(7, || stolen_join(|| panic!("{:?}", here())));
            let ended = catch_unwind(AssertUnwindSafe(panics));
            let text = *ended.unwrap_err().downcast::<String>().unwrap();
            assert_eq!(text, "Some(7)");
            assert_eq!(here(), None);
            assert_eq!(stolen_join(here), (None, None));
        });
    });
}

#[test]
fn value_is_dropped_with_its_last_task() {
    struct Counts(Arc<AtomicUsize>);
    impl Drop for Counts {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::AcqRel);
        }
    }
    static COUNTS: TaskLocal<Counts> = TaskLocal::new();
    watched(|| {
        let pool = pool(1);
        let drops = Arc::new(AtomicUsize::new(0));
        let gate = Arc::new(Gate::new());
        let opened = gate.clone();
        let task = COUNTS.scope(Counts(drops.clone()), || pool.spawn(move || opened.wait()));
        assert_eq!(drops.load(Ordering::Acquire), 0);
        gate.open();
        task.join();
        drop(pool);
        assert_eq!(drops.load(Ordering::Acquire), 1);
    });
}

/// Functions that only inspect the worker find it although the context hides it.
#[test]
fn worker_is_known_inside_a_context() {
    watched(|| {
        let pool = pool(3);
        pool.install(|| {
            let outside = tidegate::current_worker();
            LOCAL.scope(7, || {
                assert_eq!(tidegate::current_worker(), outside);
                assert_eq!(tidegate::current_num_workers(), 3);
                assert!(tidegate::current_place().is_some());
            });
        });
    });
}

/// What a `TaskBuilder` adds to the context that a task has from its spawner.
mod builders {
    use super::*;
    use std::future::poll_fn;
    use std::task::Poll;
    use tidegate::CancelToken;
    use tidegate::policy::Priority::Urgent;

    #[test]
    fn settings_keep_other_values() {
        watched(|| {
            let (pool, token) = (pool(1), CancelToken::new());
            let seen = || {
                (
                    here(),
                    CancelToken::current().map(|token| token.is_cancelled()),
                )
            };
            token.cancel();
            let spawn = || {
                pool.task()
                    .named("seen")
                    .priority(Urgent)
                    .token(&token)
                    .spawn(seen)
            };
            assert_eq!(LOCAL.scope(7, spawn).join(), (Some(7), Some(true)));
            let future = || {
                pool.task()
                    .token(&token)
                    .priority(Urgent)
                    .spawn_future(async move { seen() })
            };
            assert_eq!(LOCAL.scope(7, future).join(), (Some(7), Some(true)));
        });
    }

    #[test]
    fn last_token_counts() {
        watched(|| {
            let (pool, tokens) = (pool(1), [(); 3].map(|()| CancelToken::new()));
            tokens[..2].iter().for_each(CancelToken::cancel);
            let task = pool.task().token(&tokens[1]).token(&tokens[2]);
            let handle = tokens[0].run(|| task.spawn(tidegate::check_cancelled));
            assert_eq!(handle.join(), Ok(()));
        });
    }

    #[test]
    fn aborted_future_cancels_its_token() {
        watched(|| {
            let (pool, parent) = (pool(1), CancelToken::new());
            let (tell, told) = channel();
            let future = poll_fn(move |context| {
                let token = CancelToken::current().expect("its own");
                tell.send((token, context.waker().clone())).unwrap();
                Poll::<()>::Pending
            });
            let handle = pool
                .task()
                .token(&parent)
                .spawn_future(future)
                .abort_on_drop();
            // Without a waker, the future would end by itself.
            let (token, _waker) = told.recv().unwrap();
            drop(handle);
            assert_eq!(
                [&token, &parent].map(CancelToken::is_cancelled),
                [true, false]
            );
        });
    }
}
