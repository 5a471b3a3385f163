//! Dropping a pool waits until its tasks have run, and joins its threads.

mod exit_handlers_that_spawn;

use crate::support::{AMOUNTS, Gate, Tally, bare_pool, built, fib, pool, watched};
use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier, Mutex};
use std::thread;
use std::time::Duration;
use tidegate::policy::{Choose, SharePolicy, StealAmount};
use tidegate::{Pool, Scope};

/// How many of a pool's threads have started, and how many have ended.
#[derive(Default)]
struct Lives {
    started: AtomicUsize,
    ended: AtomicUsize,
}

impl Lives {
    fn watch(self: &Arc<Self>, builder: tidegate::Builder) -> Pool {
        let (birth, death) = (self.clone(), self.clone());
        let started = move |_| {
            birth.started.fetch_add(1, Ordering::AcqRel);
        };
        let ended = move |_| {
            death.ended.fetch_add(1, Ordering::AcqRel);
        };
        built(builder.on_start(started).on_exit(ended))
    }

    fn get(&self) -> (usize, usize) {
        let load = |n: &AtomicUsize| n.load(Ordering::Acquire);
        (load(&self.started), load(&self.ended))
    }
}

#[test]
fn drop_joins_every_thread() {
    watched(|| {
        for workers in [1, 2, 4] {
            for _ in 0..50 {
                let lives = Arc::new(Lives::default());
                let pool = lives.watch(Pool::builder().workers(workers));
                assert_eq!(pool.install(|| fib(8)), 21);
                drop(pool);
                let (started, ended) = lives.get();
                assert_eq!(started, ended);
                assert!(started >= workers);
            }
        }
    });
}

#[test]
fn surplus_threads_end_too() {
    watched(|| {
        let lives = Arc::new(Lives::default());
        let pool = lives.watch(Pool::builder().workers(1).max_threads(6));
        let came = Tally::new();
        pool.install(|| {
            tidegate::scope(|s| {
                for _ in 0..4 {
                    s.spawn(|_| {
                        came.come();
                        tidegate::blocking(|| came.wait_for(4));
                    });
                }
            });
        });
        pool.set_workers(3).unwrap();
        assert_eq!(pool.install(|| fib(10)), 55);
        pool.set_workers(1).unwrap();
        pool.shutdown();
        let (started, ended) = lives.get();
        assert_eq!(started, ended);
        assert!(started >= 4, "four blocked at once");
    });
}

#[test]
fn handlers_get_their_thread_number() {
    watched(|| {
        let numbers = Arc::new(std::sync::Mutex::new((Vec::new(), Vec::new())));
        let (birth, death) = (numbers.clone(), numbers.clone());
        let builder = Pool::builder().workers(3).max_threads(3);
        let started = move |number| birth.lock().unwrap().0.push(number);
        let ended = move |number| death.lock().unwrap().1.push(number);
        drop(built(builder.on_start(started).on_exit(ended)));
        let (mut started, mut ended) = numbers.lock().unwrap().clone();
        started.sort_unstable();
        ended.sort_unstable();
        assert_eq!((started, ended), (vec![0, 1, 2], vec![0, 1, 2]));
    });
}

#[test]
fn tasks_spawned_from_outside_are_finished() {
    watched(|| {
        for workers in [1, 2, 4] {
            for _ in 0..50 {
                let (pool, ran) = (pool(workers), Arc::new(Tally::new()));
                for _ in 0..50 {
                    let ran = ran.clone();
                    drop(pool.spawn(move || ran.come()));
                }
                drop(pool);
                assert_eq!(ran.get(), 50);
            }
        }
    });
}

#[test]
fn tasks_spawned_by_tasks_are_finished() {
    watched(|| {
        fn spread(depth: usize, ran: &Arc<Tally>) {
            ran.come();
            if depth > 0 {
                for _ in 0..2 {
                    let ran = ran.clone();
                    drop(tidegate::spawn(move || spread(depth - 1, &ran)));
                }
            }
        }
        for amount in AMOUNTS {
            for workers in [1, 2] {
                for _ in 0..20 {
                    let pool = built(Pool::builder().workers(workers).steal(amount));
                    let ran = Arc::new(Tally::new());
                    let other = ran.clone();
                    drop(pool.spawn(move || spread(6, &other)));
                    drop(pool);
                    assert_eq!(ran.get(), 127);
                }
            }
        }
    });
}

#[test]
fn blocked_and_waiting_tasks_finish() {
    watched(|| {
        for workers in [1, 2] {
            let (pool, ran, go) = (pool(workers), Arc::new(Tally::new()), Arc::new(Gate::new()));
            for _ in 0..2 {
                let (ran, go) = (ran.clone(), go.clone());
                drop(pool.spawn(move || {
                    tidegate::blocking(|| go.wait());
                    let part = ran.clone();
                    tidegate::join(|| ran.come(), || part.come());
                    let later = ran.clone();
                    drop(tidegate::spawn(move || later.come()));
                }));
            }
            let opener = std::thread::spawn(move || go.open());
            drop(pool);
            opener.join().unwrap();
            assert_eq!(ran.get(), 6);
        }
    });
}

#[test]
fn a_handle_outlives_its_pool() {
    watched(|| {
        for workers in [1, 2] {
            let pool = pool(workers);
            let handles: Vec<_> = (0..20).map(|i| pool.spawn(move || i)).collect();
            drop(pool);
            let joined: Vec<_> = handles.into_iter().map(|handle| handle.join()).collect();
            assert!(joined.into_iter().eq(0..20));
        }
    });
}

#[test]
fn task_may_make_and_drop_pool() {
    watched(|| {
        for outer in [pool(2), bare_pool(1)] {
            for _ in 0..20 {
                let (here, ran) = (Tally::new(), Arc::new(Tally::new()));
                outer.scope(|s| {
                    for _ in 0..3 {
                        let (here, ran) = (&here, ran.clone());
                        s.spawn(move |_| {
                            let inner = pool(2);
                            assert_eq!(inner.install(|| fib(8)), 21);
                            drop(inner.spawn(move || ran.come()));
                            drop(inner);
                            here.come();
                        });
                    }
                });
                assert_eq!((here.get(), ran.get()), (3, 3));
            }
        }
    });
}

/// A task of another pool drops the pool, while the pool's tasks call that other pool.
#[test]
fn drop_finishes_tasks_calling_back() {
    watched(|| {
        let outer = Arc::new(pool(2));
        for _ in 0..50 {
            let (inner, ran) = (pool(1), Arc::new(Tally::new()));
            let (back, other) = (outer.clone(), ran.clone());
            drop(inner.spawn(move || {
                // One worker of the outer pool waits for the drop, so the other worker runs this
                // call.
                back.install(|| other.come());
            }));
            outer.install(move || drop(inner));
            assert_eq!(ran.get(), 1);
        }
    });
}

/// The only worker of the outer pool drops a pool, one of whose tasks needs that worker's slot.
#[test]
fn drop_gives_slot_to_called_pool() {
    watched(|| {
        let outer = Arc::new(pool(1));
        let back = outer.clone();
        let answer = outer.install(move || {
            let inner = pool(1);
            let answer = inner.spawn(move || back.spawn(|| 42).join());
            drop(inner);
            answer.join()
        });
        assert_eq!(answer, 42);
    });
}

/// Notes the name of the thread that destroys it.
struct Destroyed(std::sync::mpsc::Sender<Option<String>>);

impl Drop for Destroyed {
    fn drop(&mut self) {
        let name = std::thread::current().name().map(str::to_owned);
        self.0.send(name).expect("the test waits");
    }
}

/// The share controller's stack is too small for the user's code.
#[test]
fn share_controller_destroys_no_handlers() {
    watched(|| {
        for _ in 0..50 {
            let (destroyed, names) = channel();
            let handler = Destroyed(destroyed);
            let on_panic = move |_| _ = &handler;
            let builder = Pool::builder().workers(2).share(SharePolicy::On);
            let own = Arc::new(built(builder.on_panic(on_panic)));
            let other = own.clone();
            drop(own.spawn(move || {
                // Until the pool has been active for a while, its share controller sleeps.
                std::thread::sleep(Duration::from_millis(2));
                drop(other);
            }));
            drop(own);
            let name = names.recv().unwrap().expect("threads of pools have names");
            assert!(!name.ends_with("-share"), "{name}");
        }
    });
}

/// Drops the pool, if it is there, when the value is destroyed, and then opens the gate.
struct DropsPool(Arc<(Mutex<Option<Pool>>, Gate)>);

impl Drop for DropsPool {
    fn drop(&mut self) {
        let (pool, dropped) = &*self.0;
        let pool = pool.lock().unwrap().take();
        if pool.is_some() {
            drop(pool);
            dropped.open();
        }
    }
}

thread_local! {
    static AT_END: RefCell<Option<DropsPool>> = const { RefCell::new(None) };
}

/// Threads that a pool has started for blocking calls end when they have been idle for a second.
#[test]
fn surplus_thread_may_drop_pool() {
    watched(|| {
        let lives = Arc::new(Lives::default());
        let pool = lives.watch(Pool::builder().workers(1).max_threads(2));
        let meet = Arc::new(Barrier::new(5));
        let last = Arc::new((Mutex::new(None), Gate::new()));
        let tasks: Vec<_> = (0..4)
            .map(|_| {
                let (meet, last) = (meet.clone(), DropsPool(Arc::clone(&last)));
                pool.spawn(move || {
                    AT_END.set(Some(last));
                    tidegate::blocking(|| _ = meet.wait());
                })
            })
            .collect();
        // Before any of the threads is idle.
        *last.0.lock().unwrap() = Some(pool);
        meet.wait();
        tasks.into_iter().for_each(|task| task.join());
        last.1.wait();
        crate::support::until(|| lives.get().0 == lives.get().1);
    });
}

/// A guest joins a task that it has spawned itself, so the task's entry is still in the guest's deque
/// when the pool could end. With this steal amount, a single task is no work for a thief. If no slot
/// is free for the caller, a worker runs the first task, and the round shows nothing.
#[test]
fn entry_of_joined_task_does_not_keep_pool() {
    (0..4).for_each(|_| guest_joins_own_task());
}

fn guest_joins_own_task() {
    watched(|| {
        let seen = Arc::new(());
        let handler = seen.clone();
        let pool = Pool::builder()
            .workers(2)
            .share(SharePolicy::Off)
            .steal(StealAmount::Fixed(2))
            .on_panic(move |_| _ = &handler)
            .build()
            .unwrap();
        let (begun, has_begun) = channel();
        let (go_on, may_go_on) = channel::<()>();
        let (give, given) = channel();
        let (release, released) = channel::<()>();
        drop(pool.spawn(move || {
            let task = tidegate::spawn(move || {
                begun.send(()).unwrap();
                may_go_on.recv().unwrap();
                assert_eq!(tidegate::spawn(|| 1).join(), 1);
                // Until the workers are idle again.
                thread::sleep(Duration::from_millis(20));
            });
            give.send(task).unwrap();
            released.recv().unwrap();
        }));
        let task = given.recv().unwrap();
        let ending = thread::spawn(move || {
            has_begun.recv().unwrap();
            release.send(()).unwrap();
            let last = thread::spawn(move || drop(pool));
            thread::sleep(Duration::from_millis(20));
            go_on.send(()).unwrap();
            last.join().unwrap();
        });
        // Until the other worker has given its slot back.
        thread::sleep(Duration::from_millis(20));
        task.join();
        ending.join().unwrap();
        crate::support::until(|| Arc::strong_count(&seen) == 1);
    });
}

#[test]
fn drop_works_in_every_state() {
    watched(|| {
        for round in 0..300 {
            let pool = pool(1 + round % 4);
            if round % 3 == 1 {
                assert_eq!(pool.install(|| fib(5)), 5);
            } else if round % 3 == 2 {
                fn tree(s: &Scope<'_>, depth: usize) {
                    if depth > 0 {
                        s.spawn(move |s| tree(s, depth - 1));
                        tree(s, depth - 1);
                    }
                }
                pool.scope(|s| tree(s, 4));
            }
            drop(pool);
        }
    });
}

/// Creates a pool with two threads and no spare threads. Its exit handlers spawn a task, which
/// spawns another task and forks.
fn spawning_on_exit(amount: tidegate::policy::StealAmount, ran: &Arc<Tally>) -> Pool {
    let ran = ran.clone();
    let builder = Pool::builder().workers(2).max_threads(2).steal(amount);
    built(builder.on_exit(move |_| {
        let other = ran.clone();
        drop(tidegate::spawn(move || {
            let last = other.clone();
            drop(tidegate::spawn(move || last.come()));
            tidegate::join(|| other.come(), || other.come());
        }));
    }))
}

#[test]
fn spawns_of_ending_threads_finish() {
    watched(|| {
        for amount in AMOUNTS {
            for _ in 0..30 {
                let ran = Arc::new(Tally::new());
                drop(spawning_on_exit(amount, &ran));
                assert_eq!(ran.get(), 6);
            }
        }
    });
}

/// All threads stay until a task that was spawned before the drop has run.
#[test]
fn threads_stay_for_earlier_tasks() {
    watched(|| {
        for amount in AMOUNTS {
            for _ in 0..30 {
                let pool = built(Pool::builder().workers(2).max_threads(2).steal(amount));
                let (begun, dropping) = (Arc::new(Gate::new()), Arc::new(Gate::new()));
                let (started, go_on) = (begun.clone(), dropping.clone());
                let task = pool.spawn(move || {
                    started.open();
                    go_on.wait();
                    tidegate::broadcast(|number| number)
                });
                begun.wait();
                dropping.open();
                drop(pool);
                assert_eq!(task.join(), [0, 1]);
            }
        }
    });
}

#[test]
fn ending_threads_may_broadcast_and_wait() {
    watched(|| {
        for workers in [1, 2, 3] {
            for _ in 0..30 {
                let well = Arc::new(Tally::new());
                let others = well.clone();
                let builder = Pool::builder().workers(workers).on_exit(move |_| {
                    let numbers = tidegate::broadcast(|number| number);
                    assert!(numbers.iter().copied().eq(0..numbers.len()));
                    tidegate::scope(|s| s.spawn(|_| assert_eq!(fib(5), 5)));
                    assert_eq!(tidegate::spawn(|| fib(6)).join(), 8);
                    // Counts the handlers that have not panicked, because the pool does not
                    // propagate a handler's panic.
                    others.come();
                });
                drop(built(builder));
                assert_eq!(well.get(), workers);
            }
        }
    });
}

/// Drops the last reference to a pool in each kind of task of that pool.
const DROPS: [fn(Arc<Pool>, &Gate); 5] = [
    |pool, _| drop(pool),
    |pool, _| tidegate::blocking(|| drop(pool)),
    |pool, begun| _ = tidegate::join(|| drop(pool), || begun.open()),
    |pool, begun| _ = tidegate::join(|| begun.open(), || drop(pool)),
    |pool, begun| {
        tidegate::scope(|s| {
            s.spawn(|_| begun.open());
            drop(pool);
        });
    },
];

#[test]
fn own_task_may_drop_pool() {
    const TASKS: usize = 10;
    watched(|| {
        for workers in [1, 2] {
            for spares in [0, 3] {
                for drop_inside in DROPS {
                    let (lives, ran) = (Arc::new(Lives::default()), Arc::new(Tally::new()));
                    let builder = Pool::builder()
                        .workers(workers)
                        .max_threads(workers + spares);
                    let pool = Arc::new(lives.watch(builder));
                    let (go, own) = (Arc::new(Gate::new()), pool.clone());
                    let alone = go.clone();
                    let other = ran.clone();
                    drop(pool.spawn(move || {
                        alone.wait();
                        drop_inside(own, &Gate::new());
                        other.come();
                    }));
                    for _ in 0..TASKS {
                        let ran = ran.clone();
                        drop(pool.spawn(move || {
                            assert_eq!(fib(6), 8);
                            let later = ran.clone();
                            drop(tidegate::spawn(move || later.come()));
                        }));
                    }
                    drop(pool);
                    go.open();
                    ran.wait_for(TASKS + 1);
                    // The pool's threads end by themselves.
                    crate::support::until(|| lives.get().0 == lives.get().1);
                }
            }
        }
    });
}

#[test]
fn shutdown_timeout_waits_for_the_end() {
    watched(|| {
        for workers in [1, 2, 4] {
            let lives = Arc::new(Lives::default());
            let pool = lives.watch(Pool::builder().workers(workers));
            let gate = Arc::new(Gate::new());
            let waits = gate.clone();
            drop(pool.spawn(move || waits.wait()));
            gate.open();
            pool.shutdown_timeout(Duration::MAX).unwrap();
            let (started, ended) = lives.get();
            assert_eq!(started, ended);
        }
    });
}

#[test]
fn exceeded_timeout_leaves_tasks_running() {
    watched(|| {
        let (go_on, may_go_on) = channel::<()>();
        let (ran, has_run) = channel();
        let pool = built(Pool::builder().workers(1).name("slow"));
        drop(pool.spawn(move || {
            may_go_on.recv().unwrap();
            ran.send(tidegate::spawn(|| 7).join()).unwrap();
        }));
        let error = pool.shutdown_timeout(Duration::ZERO).unwrap_err();
        assert_eq!(
            error.to_string(),
            "pool slow has not ended within 0ns: its threads finish the tasks that are left"
        );
        go_on.send(()).unwrap();
        assert_eq!(has_run.recv(), Ok(7));
    });
}

#[test]
fn own_task_does_not_await_shutdown() {
    watched(|| {
        let (tell, told) = channel();
        let pool = Arc::new(pool(1));
        let own = pool.clone();
        let (go_on, may_go_on) = channel::<()>();
        drop(pool.spawn(move || {
            may_go_on.recv().unwrap();
            let own = Arc::into_inner(own).expect("the other handle is dropped");
            tell.send(own.shutdown_timeout(Duration::MAX).is_err())
                .unwrap();
        }));
        drop(pool);
        go_on.send(()).unwrap();
        assert_eq!(told.recv(), Ok(true));
    });
}
