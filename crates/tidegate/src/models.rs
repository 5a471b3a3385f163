//! Loom models of the whole runtime: they explore every interleaving of real pools with one or two
//! threads, within the preemption bound.
//!
//! If a model passes, loom has found no interleaving with a data race or a thread that sleeps
//! forever. Time is simulated (see `tidegate_sync::clock`): when a waiting thread looks at the
//! clock a second time, it has waited long enough.

use crate::Pool;
use crate::pool::enter;
use crate::scope;
use crate::worker::{WorkerThread, steal_one};
use loom::model::Builder;
use std::task::Poll;
use std::time::Instant;
use tidegate_deque::Steal;
use tidegate_policy::Priority;
use tidegate_sync::Arc;
use tidegate_sync::atomic::{AtomicUsize, Ordering};
use tidegate_sync::park::Parker;

/// The bound on preemptions, unless `LOOM_MAX_PREEMPTIONS` sets one.
const PREEMPTIONS: usize = 1;

fn model() -> Builder {
    let mut model = Builder::new();
    model.preemption_bound = model.preemption_bound.or(Some(PREEMPTIONS));
    model.max_branches = 100_000;
    model
}

fn check(body: impl Fn() + Send + Sync + 'static) {
    run(&model(), body);
}

/// Like `check`, but explores interleavings only from `loom::explore` to `loom::stop_exploring`.
/// The whole life of a pool with two workers has too many interleavings.
fn check_part(body: impl Fn() + Send + Sync + 'static) {
    let mut model = model();
    model.expect_explicit_explore = true;
    run(&model, body);
}

fn run(model: &Builder, body: impl Fn() + Send + Sync + 'static) {
    let start = Instant::now();
    model.check(body);
    // When its time limit is reached, loom returns as if it had explored everything.
    if model
        .max_duration
        .is_some_and(|most| start.elapsed() >= most)
    {
        println!("cut off");
    }
}

fn pool(workers: usize) -> Pool {
    Pool::builder()
        .workers(workers)
        .spare_threads(0)
        .build()
        .expect("valid options")
}

/// A call that must happen exactly once.
pub(crate) struct Once(AtomicUsize);

impl Once {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self(AtomicUsize::new(0)))
    }

    pub(crate) fn happen(&self) {
        assert_eq!(self.0.fetch_add(1, Ordering::Relaxed), 0, "happened twice");
    }

    pub(crate) fn check(&self) {
        assert_eq!(self.0.load(Ordering::Relaxed), 1, "never happened");
    }
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
        drop(pool.spawn(move || task.happen()));
        drop(pool);
        once.check();
    });
}

#[test]
fn loom_wake_during_a_poll_is_not_lost() {
    check(|| {
        let pool = pool(1);
        let (started, waking) = std::sync::mpsc::channel();
        let mut is_first = true;
        let future = std::future::poll_fn(move |context| {
            if !std::mem::take(&mut is_first) {
                return Poll::Ready(7);
            }
            let waker = context.waker().clone();
            let thread = loom::thread::spawn(move || waker.wake());
            started
                .send(thread)
                .expect("the model waits for the thread");
            Poll::Pending
        });
        assert_eq!(pool.spawn_future(future).join(), 7);
        // Receive before the pool is dropped: loom does not see that the pool's reference count
        // orders the two.
        let waking = waking.recv().expect("the first poll has sent it");
        waking.join().expect("a waker does not panic");
    });
}

#[test]
fn loom_outside_thread_joins_a_handle() {
    check(|| {
        let pool = pool(1);
        assert_eq!(pool.spawn(|| 5).join(), 5);
    });
}

struct CountDrop(Arc<AtomicUsize>);

impl Drop for CountDrop {
    fn drop(&mut self) {
        // Relaxed: the end of the pool orders this and the check.
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// The worker may begin the task before the handle is dropped, at the same time, or after that.
#[test]
fn loom_aborted_closure_is_dropped_once() {
    check(|| {
        let pool = pool(1);
        let drops = Arc::new(AtomicUsize::new(0));
        let captured = CountDrop(drops.clone());
        drop(pool.spawn(move || drop(captured)).abort_on_drop());
        drop(pool);
        assert_eq!(drops.load(Ordering::Relaxed), 1);
    });
}

/// One thread wakes a pending future while another aborts it. The worker may still be in the first
/// poll, and may poll the future once more.
#[test]
fn loom_aborted_future_races_its_waker() {
    check_part(|| {
        let pool = pool(1);
        let (drops, polled) = (Arc::new(AtomicUsize::new(0)), Arc::new(Parker::new()));
        let (give, given) = std::sync::mpsc::channel();
        let (captured, polls, mut is_first) = (CountDrop(drops.clone()), polled.clone(), true);
        let future = std::future::poll_fn(move |context| {
            let drops = captured.0.load(Ordering::Relaxed);
            assert_eq!(drops, 0, "polled after its drop");
            if std::mem::take(&mut is_first) {
                give.send(context.waker().clone()).expect("main receives");
                polls.unpark();
            }
            Poll::<()>::Pending
        });
        let handle = pool.spawn_future(future).abort_on_drop();
        polled.park();
        let waker = given.recv().expect("the first poll has sent it");
        loom::explore();
        let wakes = waker.clone();
        let waking = loom::thread::spawn(move || wakes.wake());
        drop(handle);
        waking.join().expect("a waker does not panic");
        loom::stop_exploring();
        drop(pool);
        assert_eq!(drops.load(Ordering::Relaxed), 1);
        // Not earlier: a future without wakers would end by itself.
        drop(waker);
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

/// Like `loom_push_wakes_worker_falling_asleep`, but the task goes to the queue of a class.
#[test]
fn loom_urgent_task_wakes_worker_falling_asleep() {
    check_part(|| {
        let pool = pool(2);
        let (first, second) = (Parker::new(), Arc::new(Parker::new()));
        pool.install(|| {
            wait_for_vacancy(&first);
            let awaited = second.clone();
            let task = crate::spawn_at_priority(Priority::Urgent, move || {
                loom::stop_exploring();
                awaited.unpark();
            });
            drop(task);
            second.park();
        });
    });
}

/// Explores only the part from the first fork to the end of the last join, which allows a deeper
/// search than the whole life of a pool.
pub(crate) fn check_calls(body: impl Fn() + Send + Sync + 'static) {
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
