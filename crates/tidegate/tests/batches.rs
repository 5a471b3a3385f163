//! A thief that takes several tasks runs the youngest first; it keeps the older ones in a queue meanwhile.
//!
//! If the youngest blocks on what comes after the join of an older half, the joiner must take its half back. There are
//! two workers and no spare threads, so nobody else could run it.

mod support;

use std::sync::Mutex;
use std::thread::current;
use support::{Gate, Tally, built, fill, watched};
use tidegate::{
    Pool, Scope,
    policy::{QueueKind, StealAmount},
};

/// How many tasks of the scope lie under the half, and so in the same batch.
const STRANGERS: usize = 2;

/// Where the parts of one case are.
#[derive(Default)]
struct Stage {
    /// The thief has something to do: it steals again when this opens.
    laden: Gate,
    occupied: Gate,
    half: Tally,
    young: Tally,
    strangers: Tally,
    /// Opened behind the join.
    joined: Gate,
}

/// One try: a join whose half lies in the deque, and in one batch, below a task that waits for what follows the join. Whether a thief had
/// both in one batch, the half unstarted.
fn half_below_a_task_that_waits(pool: &Pool, strangers: usize) -> bool {
    let stage = Stage::default();
    let in_batch = Mutex::new(false);
    let young = |_: &Scope<'_>| {
        *in_batch.lock().unwrap() = stage.half.get() == 0;
        stage.young.come();
        stage.joined.wait();
    };
    pool.install(|| {
        tidegate::scope(|s| {
            // As many as a batch has: a thief with a fixed number takes no fewer.
            for _ in 0..strangers + 2 {
                s.spawn(|_| {
                    stage.occupied.open();
                    stage.laden.wait();
                });
            }
            stage.occupied.wait();
            let owner = current().id();
            for _ in 0..strangers {
                s.spawn(|_| stage.strangers.come());
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
    assert_eq!(stage.strangers.get(), strangers);
    in_batch.into_inner().unwrap()
}

/// Tries until thieves have taken such batches.
fn tried(pool: &Pool, strangers: usize) {
    let mut batches = 0;
    while batches < 20 {
        batches += usize::from(half_below_a_task_that_waits(pool, strangers));
    }
}

fn two_workers(amount: StealAmount) -> Pool {
    // Other queues than this give one task at a time, and some hide what their owner does not.
    let builder = Pool::builder().queue(QueueKind::Split).steal(amount);
    built(builder.workers(2).spare_threads(0))
}

#[test]
fn a_joiner_takes_its_half_back_from_a_batch_whose_youngest_task_waits_for_it() {
    watched(|| {
        tried(&two_workers(StealAmount::Fixed(2)), 0);
        tried(&two_workers(StealAmount::Half), 0);
    });
}

#[test]
fn strangers_that_are_older_in_the_batch_do_not_hide_the_half() {
    watched(|| {
        tried(&two_workers(StealAmount::Fixed(STRANGERS + 2)), STRANGERS);
        tried(&two_workers(StealAmount::Half), STRANGERS);
    });
}

/// A thief blocks, in the youngest task of a batch, on a lock that the waiter of a scope holds, and keeps a task of that scope.
#[test]
fn a_scope_s_waiter_takes_its_task_back_from_a_thief_that_waits_for_it() {
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
