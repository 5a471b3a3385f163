//! With `WaitPolicy::HelpAny` a worker that waits runs whatever there is, also if it has fallen asleep over it.
//!
//! There are two workers and no spare threads: one waits for a half that the other has, so nobody else can run the unrelated
//! task for which that half waits.

mod support;

use std::thread::current;
use support::{AMOUNTS, Gate, Tally, built, fill, until, watched};
use tidegate::{
    Pool,
    policy::{StealAmount, WaitPolicy},
};

fn two_workers(amount: StealAmount) -> Pool {
    let builder = Pool::builder().workers(2).spare_threads(0).steal(amount);
    built(builder.wait(WaitPolicy::HelpAny))
}

/// Lets one worker wait for a half on the other, which calls `then` when the first sleeps.
fn while_the_other_waits(pool: &Pool, then: impl Fn() + Send + Sync) {
    let (stolen, asleep) = (Gate::new(), || pool.stats().waiting.latch);
    pool.install(|| {
        let before = asleep();
        tidegate::join(
            || fill(2, &|| stolen.wait()),
            || {
                stolen.open();
                // The time asleep on a latch is counted from its beginning.
                until(|| asleep() > before);
                then();
            },
        );
    });
}

#[test]
fn a_waiter_that_sleeps_is_woken_for_what_comes_from_outside() {
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
fn a_waiter_that_sleeps_is_woken_for_what_a_task_spawns() {
    watched(|| {
        // A fixed number would have to be there before anybody takes one.
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
