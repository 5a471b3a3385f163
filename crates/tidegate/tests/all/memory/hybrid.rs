//! A task that allocates a lot of memory first sleeps until thieves have made a number of rounds.
//! It must resume no matter which threads remain to count the rounds.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::support::watched;
use tidegate::policy::{Choose, SharePolicy};
use tidegate::{Pool, memory};

const IDLE: [&str; 6] = ["elastic", "none", "yield", "abp-yield", "linear", "quanta"];

fn pool(workers: usize, idle: &str) -> Pool {
    let builder = Pool::builder().workers(workers).share(SharePolicy::Off);
    let builder = builder.idle(idle.parse().unwrap());
    // Sleep for one round per byte.
    let builder = builder.memory("hybrid:alpha=1,beta=0".parse().unwrap());
    builder.build().unwrap()
}

/// Runs tasks that each sleep for `rounds` rounds of the thieves.
fn sleep_off(rounds: usize, began: &AtomicUsize) {
    tidegate::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|_| {
                began.fetch_add(1, Ordering::Relaxed);
                drop(memory::reserve(rounds).unwrap());
            });
        }
    });
}

/// How many rounds outlast a change of the number of workers. On a busy machine, each round that
/// yields the processor takes milliseconds.
fn long(idle: &str) -> usize {
    if idle.ends_with("yield") {
        1_000
    } else {
        100_000
    }
}

#[test]
fn sleepers_of_lost_slot_resume() {
    for idle in IDLE {
        watched(move || {
            let pool = pool(2, idle);
            for _ in 0..5 {
                let began = AtomicUsize::new(0);
                pool.set_workers(2).unwrap();
                thread::scope(|threads| {
                    threads.spawn(|| pool.install(|| sleep_off(long(idle), &began)));
                    while began.load(Ordering::Relaxed) < 2 {
                        thread::yield_now();
                    }
                    pool.set_workers(1).unwrap();
                });
            }
        });
    }
}

#[test]
fn single_worker_counts_rounds_alone() {
    for idle in IDLE {
        watched(move || pool(1, idle).install(|| sleep_off(1_000, &AtomicUsize::new(0))));
    }
}
