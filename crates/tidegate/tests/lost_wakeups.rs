//! Wake-ups and signals that are used up in vain: work that only another thread can run must still find it.
//!
//! In each case one worker waits within a task for what another task does, so a lost wake-up is a hang.

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;
use support::{Gate, bare_pool, built, let_others_sleep, watched};
use tidegate::{Builder, Pool, Queue, Share, Wait, join};

/// Two workers and no spare threads, in a pool that nothing but its own workers look after: the share
/// controller would look for work in each of its cycles.
fn two_workers() -> Builder {
    Pool::builder()
        .queue(Queue::Split)
        .workers(2)
        .spare_threads(0)
        .share(Share::Off)
}

/// Forks a half that only another thread can run meanwhile.
fn needs_another_thread() {
    let gate = Gate::new();
    join(|| gate.wait(), || gate.open());
}

#[test]
fn a_waiter_whose_wait_is_over_passes_its_wake_up_on() {
    watched(|| {
        let pool = Arc::new(built(two_workers().wait(Wait::HelpAny)));
        let other = bare_pool(1);
        for _ in 0..30 {
            let ran = Arc::new(Gate::new());
            let (publisher, opener) = (pool.clone(), ran.clone());
            let (begin, begun) = channel();
            let opens_at_once = other.spawn(move || {
                begun.recv().unwrap();
                let_others_sleep();
                // Wakes the waiter, whose wait is over when it gets up.
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

#[test]
fn a_content_thief_is_asked_in_a_pool_that_ends() {
    watched(|| {
        for _ in 0..10 {
            let handlers = AtomicUsize::new(0);
            let pool = built(two_workers().on_exit(move |_| {
                // Relaxed: it tells nothing but itself.
                if handlers.fetch_add(1, Ordering::Relaxed) > 0 {
                    return;
                }
                // For either thread; the other one looks for work, finds none and rests.
                drop(tidegate::spawn(|| {
                    for _ in 0..20 {
                        // Wakes it in vain, which makes it content for longer.
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

#[test]
fn a_part_of_a_broadcast_that_begins_late_is_asked_for_its_forks() {
    watched(|| {
        let pool = built(two_workers());
        let_others_sleep();
        for _ in 0..20 {
            let begun = AtomicUsize::new(0);
            pool.broadcast(|_| {
                // Relaxed: it tells nothing but itself.
                if begun.fetch_add(1, Ordering::Relaxed) == 1 {
                    let_others_sleep();
                    needs_another_thread();
                }
            });
        }
    });
}

#[test]
fn a_called_waiter_passes_its_call_on_before_a_part_of_a_broadcast() {
    watched(|| {
        // The third worker blocks, so that a slot is free while the waiter sleeps.
        let pool = Arc::new(built(two_workers().workers(3).spare_threads(1)));
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
                        tidegate::closed::spawn_broadcast(s, move |_, _, _| {
                            if thread::current().id() == waiter {
                                ran.wait();
                            }
                        });
                        // Its first half wakes the waiter, which runs its part first.
                        join(|| ran.wait(), || ran.open());
                    });
                };
                join(|| began.wait(), second);
            });
            blocks.join();
        }
    });
}

#[test]
fn a_task_is_asked_again_after_an_unrelated_one_on_top_of_it_has_answered() {
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
                    // Publishes for the joiner, which may not have it.
                    join(|| thread::sleep(Duration::from_millis(2)), || ());
                }
            });
            needs_another_thread();
        };
        pool.install(|| join(|| began.wait(), second));
    });
}
