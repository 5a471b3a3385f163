//! Classes of tasks: which begins next, and which class a task inherits.

use crate::support::classes::{Begun, alone, builder, occupy, spawn, spawn_here};
use crate::support::futures::Signal;
use crate::support::{Gate, Tally, built, fib, soak, watched};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread;
use tidegate::policy::Priority::{self, Background, Normal, Urgent};
use tidegate::policy::{Choose, QueueKind, WaitPolicy};
use tidegate::{Handle, PlaceId, Pool, Scope, TaskLocal};

mod order {
    use super::*;

    #[test]
    fn more_urgent_classes_begin_first() {
        watched(|| {
            let (pool, begun) = (alone(), Begun::default());
            let release = occupy(&pool);
            for (name, class) in [
                ("b1", Background),
                ("n1", Normal),
                ("u1", Urgent),
                ("b2", Background),
                ("u2", Urgent),
            ] {
                spawn(&pool, class, begun.task(name));
            }
            drop(pool.spawn(begun.task("n2")));
            drop(release);
            assert_eq!(begun.end(pool), "u1 u2 n1 n2 b1 b2");
        });
    }

    #[test]
    fn tasks_without_class_have_the_pools() {
        watched(|| {
            for (own, order) in [(Background, "u n b1 b2"), (Urgent, "b1 u b2 n")] {
                let pool = built(builder(1).priority(own).priority_aging(1_000));
                let begun = Begun::default();
                let release = occupy(&pool);
                drop(pool.spawn(begun.task("b1")));
                spawn(&pool, Normal, begun.task("n"));
                spawn(&pool, Urgent, begun.task("u"));
                drop(pool.spawn(begun.task("b2")));
                drop(release);
                assert_eq!(begun.end(pool), order);
            }
        });
    }

    /// All workers run background tasks, and many more are queued. The worker that is free first
    /// begins the urgent task. The queued tasks wait for it, so if they came first, the test would
    /// hang.
    #[test]
    fn free_worker_begins_urgent_task() {
        watched(|| {
            const QUEUED: usize = if cfg!(miri) { 30 } else { 3_000 };
            for workers in [1, 3] {
                let (pool, go_on) = (built(builder(workers)), Arc::new(Gate::new()));
                let mut release = occupy(&pool);
                let begun = Arc::new(Tally::new());
                for _ in 0..QUEUED {
                    let (go_on, begun) = (go_on.clone(), begun.clone());
                    spawn(&pool, Background, move || {
                        begun.come();
                        go_on.wait();
                    });
                }
                let before = begun.clone();
                spawn(&pool, Urgent, move || {
                    assert_eq!(before.get(), 0);
                    go_on.open();
                });
                release.pop();
                begun.wait_for(1);
                drop((release, pool));
                assert_eq!(begun.get(), QUEUED);
            }
        });
    }

    #[test]
    fn own_deque_waits_for_urgent_tasks() {
        watched(|| {
            let (pool, begun) = (alone(), Begun::default());
            let inner = begun.clone();
            pool.install(move || {
                drop(tidegate::spawn(inner.task("n1")));
                drop(spawn_here(Background, inner.task("b")));
                drop(spawn_here(Urgent, inner.task("u")));
                drop(tidegate::spawn(inner.task("n2")));
            });
            // The youngest of the worker's own tasks comes first.
            assert_eq!(begun.end(pool), "u n2 n1 b");
        });
    }
}

mod aging {
    use super::*;

    /// Keeps the pool busy with tasks of `class` until a task of `starved` begins, and returns how
    /// many began before that.
    fn begin_before(class: Priority, starved: Priority, within: usize) -> usize {
        fn again(class: Priority, ended: &Arc<Gate>, ran: &Arc<AtomicUsize>) {
            let (next, count) = (ended.clone(), ran.clone());
            let task = move || {
                if !next.is_open() {
                    count.fetch_add(1, Ordering::Relaxed);
                    again(class, &next, &count);
                }
            };
            drop(spawn_here(class, task));
        }

        let pool = built(builder(1).priority_aging(within));
        let (ended, ran) = (Arc::new(Gate::new()), Arc::new(AtomicUsize::new(0)));
        let release = occupy(&pool);
        let (outer, count) = (ended.clone(), ran.clone());
        spawn(&pool, class, move || again(class, &outer, &count));
        let starved = spawn(&pool, starved, move || ended.open());
        drop(release);
        drop((starved, pool));
        ran.load(Ordering::Relaxed)
    }

    #[test]
    fn no_class_starves() {
        watched(|| {
            for (class, starved) in [(Normal, Background), (Urgent, Background), (Urgent, Normal)] {
                for within in if cfg!(miri) { [3, 4, 5] } else { [3, 10, 64] } {
                    let before = begin_before(class, starved, within);
                    assert!(
                        before < within,
                        "{starved} after {before} of {class}, {within}"
                    );
                }
            }
        });
    }
}

/// Tasks that the aging must not forget while other classes never run out of tasks.
mod starving {
    use super::*;

    /// Spawns a task of `class` that spawns its successor until the gate is open. Returns the
    /// number of tasks that have begun.
    fn keep_busy(pool: &Pool, class: Priority, ended: &Arc<Gate>) -> Arc<AtomicUsize> {
        fn again(class: Priority, ended: Arc<Gate>, ran: Arc<AtomicUsize>) {
            ran.fetch_add(1, Ordering::Relaxed);
            if !ended.is_open() {
                let task = move || again(class, ended, ran);
                drop(spawn_here(class, task));
            }
        }
        let ran = Arc::new(AtomicUsize::new(0));
        let (ended, count) = (ended.clone(), ran.clone());
        drop(spawn(pool, class, move || again(class, ended, count)));
        ran
    }

    /// The second worker becomes free after its part has been delivered, and after urgent tasks
    /// were queued.
    #[test]
    fn parts_of_broadcasts_come_next() {
        watched(|| {
            let pool = built(builder(2));
            let (started, has_started) = channel();
            let (release, released) = channel::<()>();
            drop(pool.spawn(move || {
                started.send(()).unwrap();
                released.recv().unwrap_err();
            }));
            has_started.recv().unwrap();
            let (begun, release) = (Arc::new(AtomicUsize::new(0)), Mutex::new(Some(release)));
            pool.install(|| {
                let first = thread::current().id();
                for _ in 0..100 {
                    let begun = begun.clone();
                    drop(spawn_here(Urgent, move || {
                        begun.fetch_add(1, Ordering::Relaxed);
                    }));
                }
                tidegate::broadcast(|_| {
                    if thread::current().id() == first {
                        drop(release.lock().unwrap().take());
                    } else {
                        assert_eq!(begun.load(Ordering::Relaxed), 0);
                    }
                });
            });
        });
    }

    /// The joiner runs the closures and leaves their tasks in the queue, in front of another task.
    #[test]
    fn empty_tasks_use_up_no_turn() {
        watched(|| {
            const TASKS: usize = if cfg!(miri) { 10 } else { 300 };
            const AGING: usize = 30;
            let pool = built(builder(1).priority_aging(AGING));
            let (ended, release) = (Arc::new(Gate::new()), occupy(&pool));
            let joined: Vec<_> = (0..TASKS)
                .map(|_| spawn(&pool, Background, || ()))
                .collect();
            let opened = ended.clone();
            spawn(&pool, Background, move || opened.open());
            let joiner = spawn(&pool, Urgent, || joined.into_iter().for_each(Handle::join));
            let ran = keep_busy(&pool, Normal, &ended);
            drop(release);
            joiner.join();
            drop(pool);
            let ran = ran.load(Ordering::Relaxed);
            assert!(ran < AGING + 2 * TASKS, "{ran} of {TASKS}");
        });
    }
}

mod inheritance {
    use super::*;

    /// Whatever the urgent task spawns comes before the normal tasks that were queued first.
    #[test]
    fn children_of_urgent_tasks_are_urgent() {
        watched(|| {
            let (pool, begun) = (alone(), Begun::default());
            let release = occupy(&pool);
            drop(pool.spawn(begun.task("normal")));
            let inner = begun.clone();
            spawn(&pool, Urgent, move || {
                let spawn = |name: &str| drop(tidegate::spawn(inner.task(name)));
                drop(spawn_here(Normal, inner.task("not-inherited")));
                spawn("child");
                tidegate::join(|| spawn("join-1"), || spawn("join-2"));
                tidegate::scope(|scope| scope.spawn(|_| spawn("scope")));
                tidegate::for_each(0..1, |_| spawn("loop"));
                let handle = tidegate::spawn(|| drop(tidegate::spawn(|| ())));
                handle.join();
                let grandchild = inner.task("grandchild");
                drop(tidegate::spawn(move || drop(tidegate::spawn(grandchild))));
            });
            drop(release);
            assert_eq!(
                begun.end(pool),
                "child join-1 join-2 scope loop grandchild not-inherited normal"
            );
        });
    }

    #[test]
    fn children_of_background_tasks_wait() {
        watched(|| {
            let (pool, begun) = (alone(), Begun::default());
            let release = occupy(&pool);
            let (started, has_started) = channel();
            let (go_on, may_go_on) = channel();
            let inner = begun.clone();
            spawn(&pool, Background, move || {
                started.send(()).unwrap();
                may_go_on.recv().unwrap();
                drop(tidegate::spawn(inner.task("child")));
            });
            drop(release);
            has_started.recv().unwrap();
            drop(pool.spawn(begun.task("normal")));
            go_on.send(()).unwrap();
            assert_eq!(begun.end(pool), "normal child");
        });
    }

    #[test]
    fn futures_are_polled_in_the_class_of_their_spawner() {
        watched(|| {
            let (pool, begun) = (alone(), Begun::default());
            let release = occupy(&pool);
            drop(pool.spawn(begun.task("normal")));
            let inner = begun.clone();
            spawn(&pool, Urgent, move || {
                let polled = inner.task("polled");
                drop(tidegate::spawn_future(async move { polled() }));
            });
            drop(release);
            assert_eq!(begun.end(pool), "polled normal");
        });
    }

    /// Returns a closure that spawns a task of the caller's class and then a normal one.
    fn child_and_normal(begun: &Begun) -> impl Fn() + Send + Sync + use<> {
        let begun = begun.clone();
        move || {
            drop(tidegate::spawn(begun.task("child")));
            drop(spawn_here(Normal, begun.task("normal")));
        }
    }

    /// Calls `spawn` on a worker of an urgent pool, with a scope of another pool, a place of that
    /// other pool and a task. Returns the order in which the children of the task begin.
    fn begin_from_urgent_pool<S>(spawn: S) -> String
    where
        S: for<'s> Fn(&Scope<'s>, PlaceId, &'s (dyn Fn() + Sync)) + Send + Sync + 'static,
    {
        let (pool, begun) = (alone(), Begun::default());
        let urgent = built(builder(1).priority(Urgent));
        let (place, task) = (pool.places()[0], child_and_normal(&begun));
        drop(pool.spawn(move || {
            tidegate::scope(|scope| {
                thread::scope(|outside| {
                    outside.spawn(|| urgent.install(|| spawn(scope, place, &task)));
                });
            });
        }));
        begun.end(pool)
    }

    #[test]
    fn scope_tasks_have_the_class_of_another_pool() {
        static VALUE: TaskLocal<()> = TaskLocal::new();
        watched(|| {
            let orders = [
                begin_from_urgent_pool(|scope, _, task| scope.spawn(move |_| task())),
                begin_from_urgent_pool(|scope, _, task| {
                    VALUE.scope((), || scope.spawn(move |_| task()));
                }),
                begin_from_urgent_pool(|scope, _, task| {
                    scope.spawn_in_order(0, move |_| task());
                }),
                begin_from_urgent_pool(|scope, place, task| {
                    scope.spawn_at(place, move |_| task());
                }),
            ];
            assert_eq!(orders, ["child normal"; 4]);
        });
    }

    /// The consumer is in another pool, so it cannot run the item itself.
    #[test]
    fn streams_have_the_class_of_another_pool() {
        watched(|| {
            let (pool, begun) = (Arc::new(alone()), Begun::default());
            let urgent = built(builder(1).priority(Urgent));
            let (own, item) = (pool.clone(), child_and_normal(&begun));
            let consume = move || own.stream(0..1).map(move |_| item()).ordered().count();
            assert_eq!(urgent.spawn(consume).join(), 1);
            assert_eq!(begun.end(Arc::into_inner(pool).unwrap()), "child normal");
        });
    }
}

mod ends {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::time::Duration;
    use tidegate::{CancelToken, check_cancelled};

    const CLASSES: [Priority; 3] = [Background, Normal, Urgent];

    #[test]
    fn panics_reach_the_handle_or_the_handler() {
        watched(|| {
            let panics = Arc::new(Tally::new());
            let counted = panics.clone();
            let pool = built(builder(2).on_panic(move |_| counted.come()));
            for class in CLASSES {
                let handle = spawn(&pool, class, || panic!("for the handle"));
                catch_unwind(AssertUnwindSafe(|| handle.join())).unwrap_err();
                spawn(&pool, class, || panic!("for the handler"));
            }
            drop(pool);
            assert_eq!(panics.get(), CLASSES.len());
        });
    }

    #[test]
    fn drop_runs_every_queued_task() {
        watched(|| {
            const TASKS: usize = if cfg!(miri) { 12 } else { 300 };
            let policies = [
                builder(2),
                builder(2).wait(WaitPolicy::HelpAny),
                builder(2).places("each:1".parse().unwrap()),
                builder(2).memory("budget:bytes=1MiB,serial=64KiB".parse().unwrap()),
                builder(2).queue(QueueKind::ChaseLev),
            ];
            for policy in policies {
                let pool = built(policy);
                let ran = Arc::new(AtomicUsize::new(0));
                for n in 0..TASKS {
                    let ran = ran.clone();
                    spawn(&pool, CLASSES[n % 3], move || {
                        let inner = ran.clone();
                        drop(tidegate::spawn(move || {
                            inner.fetch_add(1, Ordering::Relaxed)
                        }));
                        ran.fetch_add(1, Ordering::Relaxed);
                    });
                }
                drop(pool);
                assert_eq!(ran.load(Ordering::Relaxed), 2 * TASKS);
            }
        });
    }

    #[test]
    fn shutdown_waits_for_every_class() {
        watched(|| {
            for class in CLASSES {
                let pool = alone();
                let release = occupy(&pool);
                let last = spawn(&pool, class, || 7);
                pool.shutdown_timeout(Duration::from_millis(1)).unwrap_err();
                assert!(!last.is_finished());
                drop(release);
                assert_eq!(last.join(), 7);
            }
        });
    }

    #[test]
    fn token_follows_tasks_with_class() {
        watched(|| {
            let pool = built(builder(2));
            for class in CLASSES {
                let token = CancelToken::new();
                let (inner, child) = (pool.spawn(|| ()), token.clone());
                let handle = token.run(|| {
                    spawn(&pool, class, move || {
                        inner.join();
                        child.cancel();
                        tidegate::spawn(|| check_cancelled().is_err()).join()
                    })
                });
                assert!(handle.join());
            }
        });
    }

    #[test]
    fn bound_counts_tasks_with_class() {
        watched(|| {
            let pool = built(builder(1).max_queued(1));
            let release = occupy(&pool);
            let queued = spawn(&pool, Background, || 1);
            pool.task().spawn_if_room(|| 2).unwrap_err();
            drop(release);
            assert_eq!(queued.join(), 1);
            // A worker begins the last task before it leaves the count, so there is room soon.
            while pool.task().spawn_if_room(|| 3).is_err() {
                std::thread::yield_now();
            }
        });
    }

    /// The only worker waits for a future that waits for a background task.
    #[test]
    fn waiting_pool_runs_background_tasks() {
        watched(|| {
            let pool = alone();
            let signal = Signal::default();
            pool.install(|| {
                let given = signal.clone();
                drop(spawn_here(Background, move || given.give()));
                tidegate::spawn_future(signal).join();
            });
        });
    }
}

mod waking {
    use super::*;

    /// Each task is spawned while the workers are falling asleep or sleep.
    #[test]
    fn sleeping_worker_wakes_for_each_class() {
        watched(|| {
            let rounds = soak(
                if cfg!(miri) { 3 } else { 600 },
                "tasks for sleeping workers",
            );
            let pool = built(builder(2));
            let (send, received) = channel();
            for n in 0..rounds {
                let send = send.clone();
                let class = [Background, Normal, Urgent][n % 3];
                spawn(&pool, class, move || send.send(n).unwrap());
                assert_eq!(received.recv(), Ok(n));
            }
        });
    }

    /// A worker spawns a task and computes until another worker has run it.
    #[test]
    fn another_worker_runs_the_task() {
        watched(|| {
            let rounds = soak(if cfg!(miri) { 3 } else { 300 }, "tasks for other workers");
            let pool = built(builder(2));
            for n in 0..rounds {
                let class = [Background, Urgent][n % 2];
                pool.install(|| {
                    let gate = Arc::new(Gate::new());
                    let opened = gate.clone();
                    drop(spawn_here(class, move || opened.open()));
                    gate.wait();
                    assert_eq!(fib(5), 5);
                });
            }
        });
    }
}
