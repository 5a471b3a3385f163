//! With `WaitPolicy::HelpAny`, a waiting worker runs any task, even if it has fallen asleep
//! meanwhile.
//!
//! There are two workers and no spare threads. One worker waits for a half that the other worker
//! runs. The half waits for an unrelated task, which only the first worker can run.

use crate::support::{AMOUNTS, Gate, Tally, built, fill, until, watched};
use std::thread::current;
use tidegate::{
    Pool,
    policy::{Choose, StealAmount, WaitPolicy},
};

fn two_workers(amount: StealAmount) -> Pool {
    let builder = Pool::builder().workers(2).max_threads(2).steal(amount);
    built(builder.wait(WaitPolicy::HelpAny))
}

/// One worker waits for a half that the other worker runs. When the first worker sleeps, the half
/// calls `then`.
fn while_the_other_waits(pool: &Pool, then: impl Fn() + Send + Sync) {
    let (stolen, asleep) = (Gate::new(), || pool.stats().waiting.latch);
    pool.install(|| {
        let before = asleep();
        tidegate::join(
            || fill(2, &|| stolen.wait()),
            || {
                stolen.open();
                // The statistics include the time of a worker that still sleeps on a latch.
                until(|| asleep() > before);
                then();
            },
        );
    });
}

#[test]
fn sleeping_waiter_runs_outside_task() {
    watched(|| {
        for amount in AMOUNTS {
            let pool = two_workers(amount);
            for _ in 0..10 {
                while_the_other_waits(&pool, || {
                    let here = current().id();
                    let there = std::thread::scope(|s| {
                        let caller = s.spawn(|| pool.install(|| current().id()));
                        caller.join().unwrap()
                    });
                    assert_ne!(here, there);
                });
            }
        }
    });
}

#[test]
fn sleeping_waiter_runs_spawned_task() {
    watched(|| {
        // No fixed amount: with it, a thief takes nothing unless the deque holds that many tasks.
        for amount in [StealAmount::One, StealAmount::Half] {
            let pool = two_workers(amount);
            for _ in 0..10 {
                while_the_other_waits(&pool, || {
                    let ran = std::sync::Arc::new(Tally::new());
                    let other = ran.clone();
                    drop(tidegate::spawn(move || other.come()));
                    ran.wait_for(1);
                });
            }
        }
    });
}
