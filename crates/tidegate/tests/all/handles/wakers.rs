//! Futures whose wake-ups depend on tasks that no running thread would find, and futures that wake
//! themselves.

use crate::support::futures::{Signal, yields};
use crate::support::{Gate, watched};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use tidegate::policy::{Choose, QueueKind, WaitPolicy};
use tidegate::{Handle, Pool};

/// Creates a pool with one worker and no spare threads. Only the waiting worker itself can run the
/// tasks that it waits for.
fn lone() -> Pool {
    Pool::builder().workers(1).max_threads(1).build().unwrap()
}

#[test]
fn lone_worker_joins_a_future() {
    watched(|| {
        let pool = lone();
        assert_eq!(pool.install(|| tidegate::spawn_future(yields(3)).join()), 3);
        let nested = pool.install(|| {
            let inner = async { tidegate::spawn_future(yields(2)).join() + 1 };
            tidegate::spawn_future(inner).join()
        });
        assert_eq!(nested, 3);
    });
}

#[test]
fn lone_worker_joins_a_future_that_awaits() {
    watched(|| {
        let pool = lone();
        let got = pool.install(|| {
            let below = tidegate::spawn(|| 7);
            let first = || tidegate::spawn_future(async { below.await + yields(1).await }).join();
            tidegate::join(first, || 0).0
        });
        assert_eq!(got, 8);
    });
}

/// The only worker's queue contains the task that gives the signal. The joining worker does not run
/// that task, because it is older than the join, so another thread must.
#[test]
fn another_thread_runs_the_joiners_tasks() {
    watched(|| {
        for queue in QueueKind::ALL {
            let pool = Pool::builder().workers(1).queue(*queue).build().unwrap();
            pool.install(|| {
                let signal = Signal::default();
                let given = signal.clone();
                drop(tidegate::spawn(move || given.give()));
                tidegate::join(|| tidegate::spawn_future(signal).join(), || ());
            });
        }
    });
}

/// One worker waits for a future, and the other worker waits for a scope. The task that wakes the
/// future is in the other worker's deque.
#[test]
fn task_below_a_scope_wakes_a_future() {
    watched(|| {
        let pool = crate::support::pool(2);
        let gate = Arc::new(Gate::new());
        let opened = gate.clone();
        let busy = pool.spawn(move || opened.wait());
        pool.install(|| {
            let signal = Signal::default();
            let given = signal.clone();
            drop(tidegate::spawn(move || given.give()));
            let own = tidegate::current_worker();
            let first = AtomicBool::new(true);
            gate.open();
            tidegate::broadcast(|_| {
                let here = tidegate::current_worker();
                if here != own && first.swap(false, Ordering::Relaxed) {
                    tidegate::spawn_future(signal.clone()).join();
                }
            });
        });
        busy.join();
    });
}

/// The waiting worker may run any task. It must not keep running only the future that wakes itself.
#[test]
fn helper_finds_more_than_a_self_waking_future() {
    watched(|| {
        let builder = Pool::builder().workers(1).wait(WaitPolicy::HelpAny);
        let pool = builder.build().unwrap();
        let gate = Arc::new(Gate::new());
        let opens = gate.clone();
        pool.install(|| {
            drop(tidegate::spawn(move || opens.open()));
            let polls = async move {
                while !gate.is_open() {
                    yields(1).await;
                }
            };
            tidegate::spawn_future(polls).join();
        });
    });
}

/// The waiter rescued last finds only a future that wakes itself. The task that this future needs
/// is in the other waiter's queue.
#[test]
fn self_waking_future_does_not_hide_a_waiters_task() {
    watched(|| {
        let pool = crate::support::pool(2);
        let signal = Signal::default();
        let gate = Arc::new(Gate::new());
        let (started, has_started) = channel();
        let first = {
            let (opens, signal) = (gate.clone(), signal.clone());
            pool.spawn(move || {
                drop(tidegate::spawn(move || opens.open()));
                let awaited = tidegate::spawn_future(signal);
                started.send(()).unwrap();
                awaited.join();
            })
        };
        has_started.recv().unwrap();
        crate::support::let_others_sleep();
        let polls = poll_until_open(&pool, &gate);
        pool.spawn(move || polls.join()).join();
        signal.give();
        first.join();
    });
}

/// The pool may not start another thread, so the joiner itself runs the task.
#[test]
fn lone_worker_joins_a_future_that_its_task_wakes() {
    watched(|| {
        let pool = lone();
        pool.install(|| {
            let signal = Signal::default();
            let given = signal.clone();
            drop(tidegate::spawn(move || given.give()));
            tidegate::spawn_future(signal).join();
        });
    });
}

/// The future waits for the joiner's part of the broadcast.
#[test]
fn joiner_runs_its_part_of_a_broadcast() {
    watched(|| {
        let pool = crate::support::pool(2);
        for _ in 0..200 {
            let sends = async { tidegate::broadcast(|number| number) };
            let numbers = pool.install(|| tidegate::spawn_future(sends).join());
            assert!(numbers.len() >= 2, "{numbers:?}");
        }
    });
}

/// While a task waits, its worker polls the task's own future, instead of running the next task on
/// top.
#[test]
fn many_tasks_join_their_futures() {
    watched(|| {
        for pool in [crate::support::pool(2), lone()] {
            let ran = Arc::new(AtomicUsize::new(0));
            for _ in 0..20_000 {
                let ran = ran.clone();
                drop(pool.spawn(move || {
                    ran.fetch_add(
                        tidegate::spawn_future(yields(1)).join() as usize,
                        Ordering::Relaxed,
                    )
                }));
            }
            drop(pool);
            assert_eq!(ran.load(Ordering::Relaxed), 20_000);
        }
    });
}

/// More tasks wait than threads may block. Another thread wakes each task's future.
#[test]
fn blocked_joiners_poll_their_futures() {
    watched(|| {
        let builder = Pool::builder().workers(2).max_blocking_threads(8);
        let pool = builder.build().unwrap();
        let (signals, given) = channel::<Signal>();
        let gives = std::thread::spawn(move || given.iter().for_each(|signal| signal.give()));
        for _ in 0..1_000 {
            let signals = signals.clone();
            drop(pool.spawn(move || {
                let signal = Signal::default();
                let awaited = tidegate::spawn_future(signal.clone());
                signals.send(signal).unwrap();
                awaited.join();
            }));
        }
        drop(signals);
        drop(pool);
        gives.join().unwrap();
    });
}

/// One task waits for a signal from a task in the other worker's deque. When it has received the
/// signal, it gives the one for which the other worker waits.
#[test]
fn joiners_that_depend_on_each_other_end() {
    watched(|| {
        let pool = crate::support::pool(2);
        let [signal, other] = [(); 2].map(|()| Signal::default());
        let (started, has_started) = channel();
        let busy = {
            let (signal, other) = (signal.clone(), other.clone());
            pool.spawn(move || {
                has_started.recv().unwrap();
                crate::support::let_others_sleep();
                tidegate::spawn_future(signal).join();
                other.give();
            })
        };
        let first = pool.spawn(move || {
            drop(tidegate::spawn(move || signal.give()));
            let awaited = tidegate::spawn_future(other);
            started.send(()).unwrap();
            awaited.join();
        });
        first.join();
        busy.join();
    });
}

/// Spawns a future that wakes itself until the gate is open.
fn poll_until_open(pool: &Pool, gate: &Arc<Gate>) -> Handle<()> {
    let gate = gate.clone();
    pool.spawn_future(async move {
        while !gate.is_open() {
            yields(1).await;
        }
    })
}

#[test]
fn self_waking_future_lets_others_run() {
    watched(|| {
        let pool = lone();
        let opens: [fn(&Pool, Arc<Gate>); 3] = [
            |pool, gate| pool.spawn(move || gate.open()).join(),
            |pool, gate| _ = pool.broadcast(|_| gate.open()),
            |pool, gate| pool.scope(|s| s.spawn_in_order(1, move |_| gate.open())),
        ];
        for open in opens {
            let gate = Arc::new(Gate::new());
            let polls = poll_until_open(&pool, &gate);
            open(&pool, gate);
            polls.join();
        }
    });
}

#[test]
fn worker_of_a_self_waking_future_steals() {
    watched(|| {
        let pool = crate::support::pool(2);
        let gate = Arc::new(Gate::new());
        let polls = poll_until_open(&pool, &gate);
        let waits = pool.spawn(move || {
            let opens = gate.clone();
            drop(tidegate::spawn(move || opens.open()));
            gate.wait();
        });
        waits.join();
        polls.join();
    });
}
