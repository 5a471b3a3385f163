//! Loom models of the whole runtime: they explore every interleaving of real pools with one or two
//! threads, within the preemption bound.
//!
//! If a model passes, loom has found no interleaving with a data race or a thread that sleeps
//! forever. Time is simulated (see `tidegate_sync::clock`): when a waiting thread looks at the
//! clock a second time, it has waited long enough.

use crate::Pool;
use crate::job::Task;
use crate::pool::enter;
use crate::scope;
use crate::spawn;
use crate::worker::{WorkerThread, steal_one};
use tidegate_deque::Steal;
use tidegate_sync::atomic::{AtomicUsize, Ordering};
use tidegate_sync::model::{Once, check, check_part};
use tidegate_sync::park::Parker;

mod sources;

fn pool(workers: usize) -> Pool {
    Pool::builder()
        .workers(workers)
        .max_threads(workers)
        .build()
        .expect("valid options")
}

#[test]
fn loom_installed_work_wakes_a_parked_worker() {
    check(|| {
        let pool = pool(1);
        assert_eq!(pool.install(|| 7), 7);
    });
}

#[test]
fn loom_half_runs_exactly_once() {
    check(|| {
        let pool = pool(2);
        let (a, b) = (Once::new(), Once::new());
        pool.install(|| crate::join(|| a.happen(), || b.happen()));
        a.check();
        b.check();
    });
}

#[test]
fn loom_interdependent_halves_both_run() {
    check(|| {
        let pool = pool(2);
        let news = Parker::new();
        pool.install(|| crate::join(|| news.park(), || news.unpark()));
    });
}

#[test]
fn loom_guest_and_worker_share_a_join() {
    check(|| {
        let pool = pool(2);
        let (a, b) = (Once::new(), Once::new());
        pool.join(|| a.happen(), || b.happen());
        a.check();
        b.check();
    });
}

#[test]
fn loom_a_scope_ends_after_its_task() {
    check(|| {
        let pool = pool(2);
        let (a, b) = (Once::new(), Once::new());
        pool.scope(|s| {
            s.spawn(|_| a.happen());
            s.spawn(|_| b.happen());
        });
        a.check();
        b.check();
    });
}

#[test]
fn loom_in_place_scope_awaits_its_task() {
    check(|| {
        let pool = pool(1);
        let once = Once::new();
        scope::scope_in_place(pool.inner(), |s| {
            s.spawn(|_| once.happen());
        });
        once.check();
    });
}

#[test]
fn loom_dropped_pool_finishes_spawned_tasks() {
    check(|| {
        let pool = pool(1);
        let once = Once::new();
        let task = once.clone();
        let task = Task::alone(pool.inner(), move |_| task.happen());
        spawn::submit(pool.inner(), None, task);
        drop(pool);
        once.check();
    });
}

/// Begins to explore, and waits until the pool's other worker has given up its slot. That worker
/// has not yet looked for work for the last time.
fn wait_for_vacancy(stolen_begins: &Parker) {
    // The other worker steals this half, and afterwards has nothing to do.
    let stolen = || {
        loom::explore();
        stolen_begins.unpark();
    };
    crate::join(|| stolen_begins.park(), stolen);
    let pool = WorkerThread::get().expect("a worker").pool();
    while !pool.sleep.has_vacancy() {
        loom::thread::yield_now();
    }
}

#[test]
fn loom_push_wakes_worker_falling_asleep() {
    check_part(|| {
        let pool = pool(2);
        let (first, second) = (Parker::new(), Parker::new());
        pool.install(|| {
            wait_for_vacancy(&first);
            // The other worker must steal this half, whether or not it has fallen asleep by then.
            let awaited = || {
                loom::stop_exploring();
                second.unpark();
            };
            crate::join(|| second.park(), awaited);
        });
    });
}

/// Explores only the part from the first fork to the end of the last join, which allows a deeper
/// search than the whole life of a pool.
fn check_calls(body: impl Fn() + Send + Sync + 'static) {
    check_part(move || {
        let pool = pool(2);
        pool.install(|| {
            loom::explore();
            body();
            loom::stop_exploring();
        });
    });
}

#[test]
fn loom_calls_interdependent_halves_both_run() {
    check_calls(|| {
        let news = Parker::new();
        crate::join(|| news.park(), || news.unpark());
    });
}

#[test]
fn loom_calls_a_joiner_robs_its_thief() {
    check_calls(|| {
        let (begun, news) = (Parker::new(), Parker::new());
        let stolen = || {
            begun.unpark();
            crate::join(|| news.park(), || news.unpark());
        };
        crate::join(|| begun.park(), stolen);
    });
}

/// The joiner may rob a half of its thief, but has no slot until the thief adds one.
#[test]
fn loom_added_slot_reaches_sleeping_waiter() {
    check_part(|| {
        let pool = pool(2);
        let (begun, go, news) = (Parker::new(), Parker::new(), Parker::new());
        let set_workers = |workers| pool.set_workers(workers).expect("the pool has room");
        pool.install(|| {
            let robbed = || {
                loom::stop_exploring();
                news.unpark();
            };
            let adds_slot = || {
                set_workers(2);
                news.park();
            };
            let stolen = || {
                begun.unpark();
                go.park();
                crate::join(adds_slot, robbed);
            };
            let first = || {
                begun.park();
                set_workers(1);
                loom::explore();
                go.unpark();
            };
            crate::join(first, stolen);
        });
    });
}

#[test]
fn loom_calls_slot_releaser_sees_push() {
    check_part(|| {
        let pool = Pool::builder().workers(2).max_threads(3).build();
        let pool = pool.expect("valid options");
        let (begun, go) = (Parker::new(), Parker::new());
        let (ended, news) = (Parker::new(), Parker::new());
        pool.install(|| {
            let stolen = || {
                begun.unpark();
                go.park();
                crate::blocking(|| ended.park());
            };
            let awaited = || {
                loom::stop_exploring();
                news.unpark();
                ended.unpark();
            };
            let forks = || {
                begun.park();
                // This push answers all earlier signals.
                crate::join(|| (), || ());
                loom::explore();
                go.unpark();
                crate::join(|| news.park(), awaited);
            };
            crate::join(forks, stolen);
        });
    });
}

#[test]
fn loom_calls_waiting_request_is_granted() {
    check_part(|| {
        let memory = "budget:bytes=2,serial=2".parse().expect("a policy");
        let pool = Pool::builder().workers(2).max_threads(2).memory(memory);
        let pool = pool.build().expect("valid options");
        let asks = || drop(crate::memory::reserve(2).expect("the serial run has it"));
        let begun = Parker::new();
        pool.install(|| {
            let stolen = || {
                loom::explore();
                begun.unpark();
                asks();
            };
            let first = || {
                begun.park();
                asks();
            };
            crate::join(first, stolen);
            loom::stop_exploring();
        });
    });
}

/// The result is stored with Relaxed ordering: only the latch orders the thief's store before the
/// joiner's load.
#[test]
fn loom_calls_joiner_sees_thief_result() {
    check_calls(|| {
        let (begun, result) = (Parker::new(), AtomicUsize::new(0));
        let stolen = || {
            begun.unpark();
            result.store(7, Ordering::Relaxed);
        };
        crate::join(|| begun.park(), stolen);
        assert_eq!(
            result.load(Ordering::Relaxed),
            7,
            "an open latch and no result"
        );
    });
}

/// How often to yield so that the worker falls asleep: more often than any idle policy needs here.
const YIELDS: usize = 50;

/// Only the fences in both threads order the sleeper's mark before the publisher's look.
#[test]
fn loom_publisher_sees_sleeping_worker() {
    check_part(|| {
        let pool = pool(1);
        // The worker falls asleep meanwhile. Checking that it sleeps would order the two threads.
        (0..YIELDS).for_each(|_| loom::thread::yield_now());
        loom::explore();
        pool.install(loom::stop_exploring);
    });
}

/// A robber identifies its victim by number and generation. Here the victim has left, and the next
/// guest, which has the same number, makes a task public.
#[test]
fn loom_robbing_reused_number_gets_nothing() {
    check_part(|| {
        let pool = Pool::builder().workers(1).max_threads(2).build();
        let pool = pool.expect("valid options");
        let pool = pool.inner();
        while !pool.ledger().has_free() {
            loom::thread::yield_now();
        }
        let (number, generation) = enter::take_part(pool, None, |guest| {
            assert!(guest.membership.is_guest.get());
            (guest.index, guest.deque().generation())
        });
        loom::explore();
        let victim = pool.clone();
        let robber = loom::thread::spawn(move || {
            let (got, _) = steal_one(victim.worker(number), Some(generation));
            let robbed = matches!(got, Steal::Success(_));
            assert!(!robbed, "robbed a task of the next guest");
        });
        enter::take_part(pool, None, |guest| {
            assert_eq!(guest.index, number);
            crate::join(
                || crate::worker::give::expose(WorkerThread::get().expect("a worker")),
                || (),
            );
        });
        loom::stop_exploring();
        robber.join().expect("no assertion failed");
    });
}
