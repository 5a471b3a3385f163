//! A closed pool that follows the affinity and the quotas. The tests set the number of slots
//! themselves, and run the share controller's cycles where they need loans.

use super::{STACK, ShareController};
use crate::Builder;
use crate::Pool;
use crate::door::closed::{self, Closed, Entry, Member, UnstartedThread};
use crate::job::Task;
use crate::jobserver::Tokens;
use crate::options::{Options, Source};
use crate::policy::SharePolicy;
use crate::pool::{PoolInner, members};
use crate::scope::{self, Scope};
use crate::sleep;
use crate::worker::run;
use crate::worker::wait::Awaited;
use crate::worker::{Admission, Membership, WorkerThread};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;
use tidegate_policy::search::Waiting;
use tidegate_policy::slots::Status;
use tidegate_policy::tunables::{ALONE_CYCLE, STARVED_PATIENCE};
use tidegate_share::Location;
use tidegate_sync::thread;
use tidegate_testkit::until;

fn options(threads: usize, builder: Builder) -> Options {
    let closed = Closed {
        on_panic: Box::new(|_, _| ()),
        threads_by: "a test",
        breadth_first: false,
        forgiving: false,
    };
    let mut builder = builder.workers(threads).share(SharePolicy::Auto);
    builder.settings.closed = Some(closed);
    let mut options = builder.options().unwrap();
    // As if the machine had determined the number of threads.
    options.workers_from = Source::Default;
    options.share.as_mut().unwrap().share = SharePolicy::Off;
    options
}

/// Starts a pool without its share controller, and waits until all threads are idle.
fn start(threads: usize, builder: Builder) -> Arc<PoolInner> {
    let start = |thread: UnstartedThread| thread.start("following".into());
    let options = Arc::new(options(threads, builder));
    let pool = PoolInner::start_by(options, false, start).unwrap();
    until(|| pool.ledger().active() == 0);
    pool
}

/// Creates a pool of four slots without threads, and makes the calling thread one of two workers
/// that hold slots.
fn on_worker(act: impl FnOnce(WorkerThread<'_>, usize)) {
    let pool = PoolInner::bare(options(4, Pool::builder()));
    let admitted = members::admit_all(&pool, 2);
    let membership = Membership::enter(pool.clone(), Admission::granted(admitted[0]));
    act(membership.current(), admitted[1]);
    drop(membership);
    std::mem::forget(pool);
}

fn controller(pool: &Arc<PoolInner>) -> ShareController {
    ShareController::new(pool.clone(), Location::find(), Tokens::of(None))
}

fn status(worker: WorkerThread<'_>) -> Status {
    worker.pool().ledger().status(worker.index)
}

/// Whether the pool has one waiting thread, and all its other threads run.
fn one_waits(pool: &PoolInner) -> bool {
    let ledger = pool.ledger();
    let waits = |(_, status): &(usize, Status)| *status == Status::Waiting;
    ledger.members().filter(waits).count() == 1 && ledger.active() + 1 == ledger.thread_count()
}

/// An event of a test.
#[derive(Default)]
struct Flag(AtomicBool);

impl Flag {
    fn set(&self) {
        // Release pairs with the Acquire in `wait`.
        self.0.store(true, Ordering::Release);
    }

    fn wait(&self) {
        until(|| self.0.load(Ordering::Acquire));
    }
}

/// Work that a test holds until it says otherwise.
#[derive(Default)]
struct Gate {
    begun: Flag,
    may_end: Flag,
}

impl Gate {
    fn pass(&self) {
        self.begun.set();
        self.may_end.wait();
    }
}

mod losing_slots {
    use super::*;

    #[test]
    fn happens_only_between_tasks() {
        on_worker(|worker, _| {
            worker.pool().want(1, false);
            assert!(worker.is_called(), "it is asked for its slot");
            worker.poll();
            let now = (status(worker), worker.must_stop());
            assert_eq!(now, (Status::Running, false));
            sleep::make_way(worker);
            assert!(worker.must_stop());
        });
    }

    #[test]
    fn lets_waiters_continue() {
        on_worker(|worker, _| {
            worker.pool().want(1, false);
            sleep::stop_running(worker, Status::Waiting);
            sleep::resume_running(worker, Waiting::Owed);
            assert_eq!(status(worker), Status::Overcommitted);
            assert_eq!(worker.tally.sleeps.get(), 0);
            sleep::make_way(worker);
            assert!(worker.must_stop());
        });
    }
}

mod waiters {
    use super::*;

    fn elsewhere(act: &(dyn Fn() + Sync)) {
        std::thread::scope(|threads| threads.spawn(act).join().unwrap());
    }

    /// The task lies in the scope's queue since before the slot became free.
    #[test]
    fn get_free_slots_for_their_scope() {
        on_worker(|worker, _| {
            let pool = worker.pool();
            pool.want(1, false);
            scope::scope(worker, |scope: &Scope<'_>| {
                elsewhere(&|| scope.spawn(|_| ()));
                let awaited = Awaited::Scope(scope::core(scope));
                worker.waiting.set_awaited(awaited, false);
                sleep::stop_running(worker, Status::Waiting);
                assert_eq!(status(worker), Status::Waiting);
                elsewhere(&|| pool.want(2, false));
                assert_eq!(status(worker), Status::Running);
            });
        });
    }

    /// A waiter can run a task, the one that has begun to wait after it cannot, and there are slots
    /// for both.
    #[test]
    fn sleep_while_others_get_slots() {
        on_worker(|worker, other| {
            let pool = worker.pool();
            pool.want(1, false);
            scope::scope(worker, |scope: &Scope<'_>| {
                elsewhere(&|| scope.spawn(|_| ()));
                let awaited = Awaited::Scope(scope::core(scope));
                worker.waiting.set_awaited(awaited, false);
                sleep::stop_running(worker, Status::Waiting);
                scope::scope(worker, |inner: &Scope<'_>| {
                    let waiter = pool.worker(other);
                    let awaited = Awaited::Scope(scope::core(inner));
                    waiter.waiting.set_awaited(awaited, false);
                    let served = pool.change().stop(other, Status::Waiting);
                    assert_eq!(served, None);
                    elsewhere(&|| pool.want(2, false));
                    assert!(!waiter.sleeper.parker.try_take(), "it was woken");
                });
                assert_eq!(status(worker), Status::Running);
            });
        });
    }

    /// Thread T waits for a scope whose task runs on thread J. T runs the second half of a join of
    /// J on top of its wait, and spawns a task into the scope there. Then it gives its slot to J,
    /// which waits for that task.
    #[test]
    fn run_tasks_that_they_spawned_on_top() {
        let pool = start(2, Pool::builder());
        let entry = Entry(pool.clone());
        let flags: [Flag; 5] = Default::default();
        let [begun, half_begun, half_may_end, awaited, spawned] = &flags;
        std::thread::scope(|threads| {
            let program = threads.spawn(|| {
                entry.inside(|member| {
                    member.scope(|scope| {
                        scope.spawn(|scope| {
                            begun.set();
                            let second = |_| {
                                half_begun.set();
                                half_may_end.wait();
                                scope.spawn(|_| spawned.set());
                            };
                            let first = || half_begun.wait();
                            Member::with(|member| member.unwrap().join(first, second));
                            awaited.set();
                            spawned.wait();
                        });
                        begun.wait();
                    });
                });
            });
            half_begun.wait();
            until(|| one_waits(&pool));
            pool.want(1, false);
            half_may_end.set();
            awaited.wait();
            until(|| one_waits(&pool));
            // T parks meanwhile. If it has not, it finds the task by itself.
            std::thread::sleep(Duration::from_millis(20));
            pool.want(2, false);
            program.join().unwrap();
        });
        pool.let_go();
    }
}

mod programs {
    use super::*;

    fn fib(member: Member<'_>, n: u64) -> u64 {
        if n < 2 {
            return n;
        }
        let second = |_| Member::with(|member| fib(member.unwrap(), n - 2));
        let (a, b) = member.join(|| fib(member, n - 1), second);
        a + b
    }

    /// Counts the leaves of a tree of scopes, in whose tasks joins wait for further scopes.
    fn leaves(member: Member<'_>, depth: u32) -> usize {
        if depth == 0 {
            return 1;
        }
        let sum = AtomicUsize::new(0);
        let add = || {
            let below = Member::with(|member| leaves(member.unwrap(), depth - 1));
            // Relaxed: the end of the scope orders the sum.
            sum.fetch_add(below, Ordering::Relaxed);
        };
        member.scope(|scope| {
            scope.spawn(|_| {
                Member::with(|member| member.unwrap().join(add, |_| add()));
            });
            closed::spawn_fifo(scope, |_| add());
        });
        sum.into_inner()
    }

    fn run(entry: &Entry) {
        assert_eq!(entry.inside(|member| fib(member, 12)), 144);
        assert_eq!(entry.inside(|member| leaves(member, 4)), 81);
        assert_eq!(entry.broadcast(|number, _| number), [0, 1, 2, 3]);
    }

    #[test]
    fn need_one_slot() {
        let pool = start(4, Pool::builder());
        pool.want(1, false);
        (0..20).for_each(|_| run(&Entry(pool.clone())));
        pool.let_go();
    }

    #[test]
    fn lose_no_task_while_slots_change() {
        let pool = start(4, Pool::builder());
        std::thread::scope(|threads| {
            let program = threads.spawn(|| (0..100).for_each(|_| run(&Entry(pool.clone()))));
            let mut slots = (1..=4).cycle();
            while !program.is_finished() {
                pool.want(slots.next().unwrap_or(1), false);
                std::thread::yield_now();
            }
        });
        pool.let_go();
    }

    /// The thread that stands in for the share controller ends some time after the pool is over.
    #[test]
    fn threads_outlive_share_controller() {
        let mut threads = Vec::new();
        let start = |thread: UnstartedThread| {
            threads.push(std::thread::spawn(|| thread.run()));
            Ok(())
        };
        let options = Arc::new(options(2, Pool::builder()));
        let pool = PoolInner::start_by(options, false, start).unwrap();
        let (observed, ended) = (pool.clone(), Arc::new(Flag::default()));
        let end = ended.clone();
        let controller = move || {
            until(|| observed.is_over());
            std::thread::sleep(Duration::from_millis(20));
            drop(observed);
            end.set();
        };
        pool.add_thread(thread::start("share".into(), STACK, controller).unwrap());
        pool.let_go();
        threads
            .into_iter()
            .for_each(|thread| thread.join().unwrap());
        // Relaxed: ordered by the joins.
        assert!(ended.0.load(Ordering::Relaxed));
        assert_eq!(Arc::strong_count(&pool), 1);
    }

    #[test]
    fn call_all_exit_handlers() {
        let calls = Arc::new(AtomicUsize::new(0));
        let counted = calls.clone();
        let count = move |_| {
            counted.fetch_add(1, Ordering::Relaxed);
        };
        let pool = start(4, Pool::builder().on_exit(count));
        pool.want(1, false);
        pool.let_go();
        // Relaxed: a counter.
        until(|| pool.is_over() && calls.load(Ordering::Relaxed) == 4);
    }
}

mod loans {
    use super::*;

    /// Three tasks never end, and the tasks that wait behind them all run within four cycles.
    #[test]
    fn let_tasks_pass_long_ones() {
        let pool = start(4, Pool::builder());
        pool.want(1, false);
        let (entry, mut controller) = (Entry(pool.clone()), controller(&pool));
        let (begun, ended, release) = Default::default();
        let [begun, ended]: [Arc<AtomicUsize>; 2] = [begun, ended];
        let release: Arc<Flag> = release;
        let have = |count: &AtomicUsize, n| until(|| count.load(Ordering::Relaxed) == n);
        for _ in 0..3 {
            let (begun, release) = (begun.clone(), release.clone());
            entry.spawn(move || {
                begun.fetch_add(1, Ordering::Relaxed);
                release.wait();
            });
        }
        for _ in 0..8 {
            let ended = ended.clone();
            entry.spawn(move || {
                ended.fetch_add(1, Ordering::Relaxed);
            });
        }
        have(&begun, 1);
        for (cycle, slots) in [(0, 1), (1, 3), (2, 2), (3, 4)] {
            let _ = controller.apply(cycle * ALONE_CYCLE.default);
            assert_eq!(pool.sleep.slots(), slots, "cycle {cycle}");
            if cycle == 1 {
                have(&begun, 3);
            }
        }
        have(&ended, 8);
        release.set();
        pool.let_go();
    }

    /// Both threads run a long task. One of them has no slot, because its wait ended while none was
    /// free.
    #[test]
    fn count_threads_without_slots() {
        on_worker(|worker, other| {
            let pool = worker.pool().as_arc();
            pool.want(1, false);
            {
                let mut ledger = pool.change();
                let _ = ledger.stop(other, Status::Waiting);
                assert!(!ledger.ready(other) && ledger.overcommit(other));
            }
            pool.sources.injector.push(Task::alone(&pool, |_| ()));
            let mut controller = controller(&pool);
            let lent = [0, 1].map(|cycle| controller.lend(1, cycle * ALONE_CYCLE.default));
            assert_eq!(lent, [0, 3]);
            while let Some(task) = pool.sources.injector.pop() {
                run::run_taken(worker, task);
            }
            std::mem::forget(controller);
        });
    }

    /// Spawns a task that waits at the gate. Returns the number of the thread that runs it.
    fn thread_of(entry: &Entry, gate: &Arc<Gate>) -> usize {
        let index = Arc::new(AtomicUsize::new(0));
        let (set, gate_of_task) = (index.clone(), gate.clone());
        entry.spawn(move || {
            // Relaxed: ordered by the gate.
            set.store(
                Member::with(|member| member.unwrap().index()),
                Ordering::Relaxed,
            );
            gate_of_task.pass();
        });
        gate.begun.wait();
        // Relaxed: ordered by the gate.
        index.load(Ordering::Relaxed)
    }

    fn spawn_at(entry: &Entry, gate: &Arc<Gate>) {
        let gate = gate.clone();
        entry.spawn(move || gate.pass());
    }

    fn check_slots(controller: &mut ShareController, cycle: u64, slots: usize) {
        let _ = controller.apply(cycle * ALONE_CYCLE.default);
        assert_eq!(controller.pool.sleep.slots(), slots, "cycle {cycle}");
    }

    /// One thread has the only slot, and runs one task after another. The other threads run parts
    /// of a broadcast for long, without slots.
    #[test]
    fn leave_out_parts_without_slots() {
        let pool = start(3, Pool::builder());
        pool.want(1, false);
        let (entry, mut controller) = (Entry(pool.clone()), controller(&pool));
        let [first, second, last, part]: [Arc<Gate>; 4] = Default::default();
        let holder = thread_of(&entry, &first);
        let (parts, gate) = (Arc::new(AtomicUsize::new(0)), part.clone());
        let begun = parts.clone();
        entry.spawn_broadcast(move |number, _| {
            if number != holder {
                begun.fetch_add(1, Ordering::Relaxed);
                gate.pass();
            }
        });
        // Relaxed: a counter.
        until(|| parts.load(Ordering::Relaxed) == 2);
        spawn_at(&entry, &second);
        spawn_at(&entry, &last);
        check_slots(&mut controller, 0, 1);
        first.may_end.set();
        second.begun.wait();
        check_slots(&mut controller, 1, 1);
        // By now the only thread that competes for slots is stuck, too.
        check_slots(&mut controller, 2, 3);
        [second, last, part]
            .iter()
            .for_each(|gate| gate.may_end.set());
        pool.let_go();
    }

    /// A thread with a slot runs one part of a broadcast after another, and then a long one.
    #[test]
    fn count_parts_as_tasks() {
        let pool = start(2, Pool::builder());
        pool.want(1, false);
        let (entry, mut controller) = (Entry(pool.clone()), controller(&pool));
        let [task, short, long, last]: [Arc<Gate>; 4] = Default::default();
        let holder = thread_of(&entry, &task);
        for part in [&short, &long] {
            let part = part.clone();
            entry.spawn_broadcast(move |number, _| {
                if number == holder {
                    part.pass();
                }
            });
        }
        spawn_at(&entry, &last);
        task.may_end.set();
        short.begun.wait();
        check_slots(&mut controller, 0, 1);
        short.may_end.set();
        long.begun.wait();
        check_slots(&mut controller, 1, 1);
        check_slots(&mut controller, 2, 2);
        [long, last].iter().for_each(|gate| gate.may_end.set());
        pool.let_go();
    }

    #[test]
    fn are_rare_while_tasks_are_short() {
        on_worker(|worker, other| {
            let pool = worker.pool().as_arc();
            let _ = pool.change().stop(other, Status::Idle);
            pool.want(1, false);
            pool.sources.injector.push(Task::alone(&pool, |_| ()));
            let mut controller = controller(&pool);
            let patience = STARVED_PATIENCE.default / ALONE_CYCLE.default;
            let lent = (0..=3 * patience).filter(|cycle| {
                worker.tally.base_tasks.add(1);
                controller.lend(1, cycle * ALONE_CYCLE.default) > 0
            });
            assert_eq!(lent.collect::<Vec<_>>(), [1, 2, 3].map(|n| n * patience));
            while let Some(task) = pool.sources.injector.pop() {
                run::run_taken(worker, task);
            }
            std::mem::forget(controller);
        });
    }
}
