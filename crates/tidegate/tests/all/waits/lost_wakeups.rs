//! Wake-ups and signals that are consumed without effect: work that only another thread can run
//! must still reach that thread.
//!
//! In each case, a worker waits inside a task for something that another task does. So if a wake-up
//! is lost, the test hangs.

use crate::support::{Gate, bare_pool, built, let_others_sleep, watched};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;
use tidegate::policy::idle::{BackoffFactory, CustomBackoff, Rest};
use tidegate::{
    Builder, Pool, join,
    policy::{Choose, QueueKind, SharePolicy, WaitPolicy},
};

/// Returns the builder of a pool with two workers and no spare threads. The pool has no share
/// controller, which would look for work in each of its cycles.
fn two_workers() -> Builder {
    Pool::builder()
        .queue(QueueKind::Split)
        .workers(2)
        .max_threads(2)
        .share(SharePolicy::Off)
}

/// Forks a second half that only another thread can run, because the first half waits for it.
fn needs_another_thread() {
    let gate = Gate::new();
    join(|| gate.wait(), || gate.open());
}

#[test]
fn finished_waiter_passes_wake_up_on() {
    watched(|| {
        let pool = Arc::new(built(two_workers().wait(WaitPolicy::HelpAny)));
        let other = bare_pool(1);
        for _ in 0..30 {
            let ran = Arc::new(Gate::new());
            let (publisher, opener) = (pool.clone(), ran.clone());
            let (begin, begun) = channel();
            let opens_at_once = other.spawn(move || {
                begun.recv().unwrap();
                let_others_sleep();
                // This spawn wakes the waiter, whose wait is over by the time it wakes.
                drop(publisher.spawn(move || opener.open()));
            });
            pool.install(|| {
                begin.send(()).unwrap();
                opens_at_once.join();
                ran.wait();
            });
        }
    });
}

/// By the time the last tasks are spawned, the thief's backoff has grown.
#[test]
fn ending_pool_signals_resting_thief() {
    watched(|| {
        for _ in 0..10 {
            let handlers = AtomicUsize::new(0);
            let pool = built(two_workers().on_exit(move |_| {
                // Relaxed: only a counter, which orders nothing else.
                if handlers.fetch_add(1, Ordering::Relaxed) > 0 {
                    return;
                }
                // Either thread may run this task. The other thread looks for work, finds none and
                // rests.
                drop(tidegate::spawn(|| {
                    for _ in 0..20 {
                        // Wakes the other thread without giving it work, so that its next rest is
                        // longer.
                        join(|| (), || ());
                        thread::sleep(Duration::from_millis(1));
                    }
                    needs_another_thread();
                }));
            }));
            pool.install(needs_another_thread);
            drop(pool);
        }
    });
}

/// A part of a broadcast that starts late is signalled to share the tasks that it forks.
#[test]
fn late_broadcast_part_shares_forks() {
    watched(|| {
        let pool = built(two_workers());
        let_others_sleep();
        for _ in 0..20 {
            let begun = AtomicUsize::new(0);
            pool.broadcast(|_| {
                // Relaxed: only a counter, which orders nothing else.
                if begun.fetch_add(1, Ordering::Relaxed) == 1 {
                    let_others_sleep();
                    needs_another_thread();
                }
            });
        }
    });
}

#[test]
fn waiter_forwards_call_before_broadcast_part() {
    watched(|| {
        // The third worker blocks, so a slot is free while the waiter sleeps.
        let pool = Arc::new(built(two_workers().workers(3).max_threads(4)));
        for _ in 0..10 {
            let ran = Arc::new(Gate::new());
            let open = ran.clone();
            let blocks = pool.spawn(move || tidegate::blocking(move || open.wait()));
            let_others_sleep();
            let began = Gate::new();
            pool.install(|| {
                let waiter = thread::current().id();
                let second = || {
                    began.open();
                    let_others_sleep();
                    let ran = &ran;
                    tidegate::scope(|s| {
                        tidegate_core::door::closed::spawn_broadcast(s, move |_, _, _| {
                            if thread::current().id() == waiter {
                                ran.wait();
                            }
                        });
                        // The fork wakes the waiter, which first runs its part of the broadcast.
                        join(|| ran.wait(), || ran.open());
                    });
                };
                join(|| began.wait(), second);
            });
            blocks.join();
        }
    });
}

/// The start handler waits for the task for which its thread was started.
#[test]
fn start_handler_may_await_triggering_task() {
    new_threads_may_wait(|builder, wait| builder.on_start(move |_| wait()));
}

#[test]
fn backoff_factory_may_await_that_task() {
    struct Parks;
    impl CustomBackoff for Parks {
        fn backoff(&mut self, _: u64) -> Rest {
            Rest::Park
        }

        fn reset(&mut self) {}
    }
    new_threads_may_wait(|builder, wait| {
        builder.backoff(BackoffFactory::new(move |_| {
            wait();
            Parks
        }))
    });
}

type Wait = Box<dyn Fn() + Send + Sync>;

/// Tests user code that each new thread runs, which `with` adds to the builder. One thread must
/// wait in that code for the task for which it was started.
fn new_threads_may_wait(with: fn(Builder, Wait) -> Builder) {
    watched(move || {
        let ran = Arc::new(Gate::new());
        let next_waits = Arc::new(AtomicBool::new(false));
        let (opened, waits) = (ran.clone(), next_waits.clone());
        let wait = move || {
            // Relaxed, here and below: the flag orders nothing else.
            if waits.swap(false, Ordering::Relaxed) {
                opened.wait();
            }
        };
        let builder = two_workers().workers(3).max_threads(5);
        let pool = built(with(builder, Box::new(wait)));
        // All threads except one wait for something in the other pool, so slots are free and no
        // thread is idle.
        let elsewhere = Arc::new(bare_pool(2));
        let waits = [(); 2].map(|()| {
            let (other, opened) = (elsewhere.clone(), ran.clone());
            let wait = pool.spawn(move || other.spawn(move || opened.wait()).join());
            let_others_sleep();
            wait
        });
        let (end, ended) = channel();
        drop(pool.spawn(move || {
            next_waits.store(true, Ordering::Relaxed);
            join(|| ran.wait(), || ran.open());
            end.send(()).unwrap();
        }));
        ended.recv().unwrap();
        for wait in waits {
            wait.join();
        }
    });
}

/// A task is queued, but no thread may take it.
#[test]
fn blocked_queue_does_not_silence_waiter() {
    watched(|| {
        let builder = Pool::builder()
            .queue(QueueKind::Split)
            .share(SharePolicy::Off);
        let pool = Arc::new(built(builder.workers(2).max_threads(3)));
        let other = Arc::new(bare_pool(1));
        let (end, ended) = channel();
        let spawner = pool.clone();
        let first = move || {
            let (began, gate) = (Gate::new(), Arc::new(Gate::new()));
            let second = || {
                began.open();
                // The joiner falls asleep, and a third thread takes its slot.
                let_others_sleep();
                let [runs, waits] = [(); 2].map(|()| Arc::new(Gate::new()));
                let (third_runs, third_waits) = (runs.clone(), waits.clone());
                let (elsewhere, opened) = (other.clone(), gate.clone());
                drop(spawner.spawn(move || {
                    third_runs.open();
                    third_waits.wait();
                    elsewhere.spawn(move || opened.wait()).join();
                }));
                runs.wait();
                // This fork answers the joiner's signal, but the joiner must not run now.
                join(|| (), || ());
                let outside = spawner.clone();
                let spawns = move || drop(outside.spawn(|| ()));
                thread::spawn(spawns).join().unwrap();
                waits.open();
                // The third thread also waits, while a task is queued that none of the three
                // threads may start.
                let_others_sleep();
                needs_another_thread();
                gate.open();
            };
            join(|| began.wait(), second);
            end.send(()).unwrap();
        };
        drop(pool.spawn(first));
        ended.recv().unwrap();
    });
}

/// The first signal was answered by an unrelated task on top of the interrupted task.
#[test]
fn interrupted_task_is_signalled_again() {
    watched(|| {
        let pool = built(two_workers());
        let began = Gate::new();
        let second = || {
            let me = thread::current().id();
            began.open();
            let_others_sleep();
            tidegate::broadcast(|_| {
                if thread::current().id() == me {
                    let_others_sleep();
                    // Publishes a task in response to the joiner's signal. The joiner may not take
                    // that task.
                    join(|| thread::sleep(Duration::from_millis(2)), || ());
                }
            });
            needs_another_thread();
        };
        pool.install(|| join(|| began.wait(), second));
    });
}
