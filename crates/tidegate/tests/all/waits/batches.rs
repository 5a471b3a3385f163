//! A thief that takes several tasks at a time runs the youngest first. Meanwhile it keeps the older
//! tasks in a queue.
//!
//! The youngest task may wait for the end of a join. If the second half of that join is an older
//! task in the same batch, the joiner must take its half back: there are two workers and no spare
//! threads, so no other thread could run the half.

use crate::support::{Gate, Tally, built, fill, watched};
use std::sync::Mutex;
use std::thread::current;
use tidegate::{
    Pool, Scope,
    policy::{Choose, QueueKind, StealAmount},
};

/// The number of unrelated tasks in the scope that are older than the half and therefore in the
/// same batch.
const UNRELATED: usize = 2;

/// The state that the tasks of one attempt share.
#[derive(Default)]
struct Stage {
    /// Opened once the thief has a task, so that it steals nothing yet.
    occupied: Gate,
    /// Opened once the deque holds the batch, so that the thief steals.
    laden: Gate,
    half: Tally,
    young: Tally,
    unrelated: Tally,
    joined: Gate,
}

/// Makes one attempt: puts the second half of a join into the deque, and then a younger task that
/// blocks until the join has ended. Returns whether a thief has taken both in one batch before the
/// half has started.
fn half_below_a_task_that_waits(pool: &Pool, unrelated: usize) -> bool {
    let stage = Stage::default();
    let in_batch = Mutex::new(false);
    let young = |_: &Scope<'_>| {
        *in_batch.lock().unwrap() = stage.half.get() == 0;
        stage.young.come();
        stage.joined.wait();
    };
    let thief = || {
        stage.occupied.open();
        stage.laden.wait();
    };
    let attempt = || {
        tidegate::scope(|s| {
            let owner = current().id();
            // Answers what the thief has asked earlier: otherwise the first task below would
            // become public before the others are there.
            tidegate::join(|| (), || ());
            for _ in 0..unrelated {
                s.spawn(|_| stage.unrelated.come());
            }
            let (_, at) = tidegate::join(
                || {
                    s.spawn(young);
                    // As many younger tasks as the batch has: so half of the tasks is the batch.
                    fill(unrelated + 2, &|| {
                        stage.laden.open();
                        stage.young.wait_for(1);
                    });
                },
                || {
                    stage.half.come();
                    current().id()
                },
            );
            let in_batch = *in_batch.lock().unwrap();
            assert_eq!(
                in_batch,
                at == owner,
                "the thief is held up by the young task"
            );
            stage.joined.open();
        });
    };
    std::thread::scope(|threads| {
        threads.spawn(|| pool.install(thief));
        stage.occupied.wait();
        pool.install(attempt);
    });
    assert_eq!(stage.unrelated.get(), unrelated);
    in_batch.into_inner().unwrap()
}

/// Repeats the attempt until thieves have taken both tasks in one batch 20 times.
fn tried(pool: &Pool, unrelated: usize) {
    let mut batches = 0;
    while batches < 20 {
        batches += usize::from(half_below_a_task_that_waits(pool, unrelated));
    }
}

fn two_workers(amount: StealAmount) -> Pool {
    // With other queues, thieves get one task at a time, and some queues hide tasks until their
    // owner takes its next step.
    let builder = Pool::builder().queue(QueueKind::Split).steal(amount);
    built(builder.workers(2).max_threads(2))
}

/// The batch's youngest task waits for the join of a half in the same batch.
#[test]
fn joiner_takes_half_back_from_batch() {
    watched(|| {
        tried(&two_workers(StealAmount::Fixed(2)), 0);
        tried(&two_workers(StealAmount::Half), 0);
    });
}

/// Even if the batch also contains older, unrelated tasks, the joiner gets its half back.
#[test]
fn older_unrelated_tasks_hide_no_half() {
    watched(|| {
        tried(&two_workers(StealAmount::Fixed(UNRELATED + 2)), UNRELATED);
        tried(&two_workers(StealAmount::Half), UNRELATED);
    });
}

/// A thief holds some of a scope's tasks in its batch, while the youngest task of the batch blocks
/// on a lock that the scope's waiter holds.
#[test]
fn scope_waiter_takes_task_from_thief() {
    watched(|| {
        let pool = two_workers(StealAmount::Half);
        for _ in 0..20 {
            let (occupied, laden, blocked) = (Gate::new(), Gate::new(), Gate::new());
            let (lock, ran) = (Mutex::new(()), Tally::new());
            pool.install(|| {
                tidegate::scope(|outer| {
                    outer.spawn(|_| {
                        occupied.open();
                        laden.wait();
                    });
                    occupied.wait();
                    let held = lock.lock().unwrap();
                    tidegate::scope(|inner| {
                        inner.spawn(|_| ran.come());
                        outer.spawn(|_| {
                            blocked.open();
                            drop(lock.lock().unwrap());
                        });
                        inner.spawn(|_| ran.come());
                        inner.spawn(|_| ran.come());
                        laden.open();
                        blocked.wait();
                    });
                    drop(held);
                });
            });
            assert_eq!(ran.get(), 3);
        }
    });
}
