//! A thief that takes several tasks runs the youngest first, and meanwhile keeps the older ones in
//! a queue.
//!
//! The youngest may block until the join of an older half in the same batch is over. Then the
//! joiner must take its half back: there are two workers and no spare threads, so no other thread
//! could run it.

mod support;

use std::sync::Mutex;
use std::thread::current;
use support::{Gate, Tally, built, fill, watched};
use tidegate::{
    Pool, Scope,
    policy::{QueueKind, StealAmount},
};

/// The number of the scope's tasks below the half, and so in the same batch.
const UNRELATED: usize = 2;

/// The state that the parts of one case share.
#[derive(Default)]
struct Stage {
    /// The thief steals again when this opens.
    laden: Gate,
    occupied: Gate,
    half: Tally,
    young: Tally,
    unrelated: Tally,
    /// Opened after the join.
    joined: Gate,
}

/// One try: the half of a join lies in the deque, and in one batch with it a younger task that
/// waits for what follows the join. Returns whether a thief took both in one batch, with the half
/// unstarted.
fn half_below_a_task_that_waits(pool: &Pool, unrelated: usize) -> bool {
    let stage = Stage::default();
    let in_batch = Mutex::new(false);
    let young = |_: &Scope<'_>| {
        *in_batch.lock().unwrap() = stage.half.get() == 0;
        stage.young.come();
        stage.joined.wait();
    };
    pool.install(|| {
        tidegate::scope(|s| {
            // A full batch: a thief with a fixed number takes no fewer tasks.
            for _ in 0..unrelated + 2 {
                s.spawn(|_| {
                    stage.occupied.open();
                    stage.laden.wait();
                });
            }
            stage.occupied.wait();
            let owner = current().id();
            for _ in 0..unrelated {
                s.spawn(|_| stage.unrelated.come());
            }
            let (_, at) = tidegate::join(
                || {
                    s.spawn(young);
                    fill(6, &|| {
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
    });
    assert_eq!(stage.unrelated.get(), unrelated);
    in_batch.into_inner().unwrap()
}

/// Retries until thieves have taken such batches.
fn tried(pool: &Pool, unrelated: usize) {
    let mut batches = 0;
    while batches < 20 {
        batches += usize::from(half_below_a_task_that_waits(pool, unrelated));
    }
}

fn two_workers(amount: StealAmount) -> Pool {
    // Other queues give thieves one task at a time, and some hide tasks that their owner does not
    // take.
    let builder = Pool::builder().queue(QueueKind::Split).steal(amount);
    built(builder.workers(2).spare_threads(0))
}

/// The youngest task of the batch waits for that half.
#[test]
fn joiner_takes_half_back_from_batch() {
    watched(|| {
        tried(&two_workers(StealAmount::Fixed(2)), 0);
        tried(&two_workers(StealAmount::Half), 0);
    });
}

/// Older unrelated tasks in the batch do not keep the joiner from its half.
#[test]
fn older_unrelated_tasks_hide_no_half() {
    watched(|| {
        tried(&two_workers(StealAmount::Fixed(UNRELATED + 2)), UNRELATED);
        tried(&two_workers(StealAmount::Half), UNRELATED);
    });
}

/// A thief keeps a task of a scope. Meanwhile the youngest task of its batch blocks on a lock that
/// the scope's waiter holds.
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
