//! Closed pools on few threads, small enough for Miri.

use crate::support::{Gate, Tally, fib, watched};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier, Mutex};
use std::thread::JoinHandle;
use tidegate::policy::{Choose, Priority, QueueKind};
use tidegate_core::Pool;
use tidegate_core::door::closed::{self, Closed, ClosedPool, Member, UnhandledPanic};

/// A closed pool and its threads, which the pool does not join itself.
struct Joined {
    pool: Option<ClosedPool>,
    threads: Vec<JoinHandle<()>>,
    /// The origins of the unhandled panics.
    strays: Arc<Mutex<Vec<UnhandledPanic>>>,
}

impl Joined {
    fn new(count: usize) -> Self {
        Self::build(Pool::builder(), count)
    }

    fn build(builder: tidegate_core::Builder, count: usize) -> Self {
        let (mut threads, strays) = (Vec::new(), Arc::new(Mutex::new(Vec::new())));
        let seen = strays.clone();
        let closed = Closed {
            on_panic: Box::new(move |_, from| seen.lock().unwrap().push(from)),
            threads_by: "this test",
            breadth_first: false,
            forgiving: false,
        };
        let pool = ClosedPool::build(builder.workers(count), closed, false, |thread| {
            threads.push(std::thread::spawn(|| thread.run()));
            Ok(())
        });
        Self {
            pool: Some(pool.expect("options in range")),
            threads,
            strays,
        }
    }

    fn entry(&self) -> closed::Entry {
        self.pool.as_ref().expect("not yet dropped").entry()
    }

    /// Drops the pool, waits for its threads and returns the origins of the unhandled panics.
    fn end(mut self) -> Vec<UnhandledPanic> {
        drop(self.pool.take());
        for thread in self.threads.drain(..) {
            thread.join().expect("a thread of a pool does not panic");
        }
        std::mem::take(&mut self.strays.lock().unwrap())
    }
}

/// The argument of the second half indicates whether the half was stolen.
#[test]
fn second_half_runs_after_first_panics() {
    watched(|| {
        let joined = Joined::new(2);
        for steal in [false, true] {
            let (begun, ran) = (Gate::new(), Mutex::new(None));
            let both = |member: Member<'_>| {
                let first = || {
                    if steal {
                        begun.wait();
                    }
                    panic!("the first half");
                };
                let second = |stolen: bool| {
                    begun.open();
                    *ran.lock().unwrap() = Some(stolen);
                    panic!("the second half");
                };
                member.join(first, second);
            };
            let ended = catch_unwind(AssertUnwindSafe(|| joined.entry().inside(both)));
            let payload = ended.unwrap_err();
            assert_eq!(payload.downcast_ref::<&str>(), Some(&"the first half"));
            let stolen = ran.into_inner().unwrap();
            assert!(stolen.is_some());
            assert!(!steal || stolen == Some(true));
        }
        assert_eq!(
            joined.end(),
            [UnhandledPanic::Second, UnhandledPanic::Second]
        );
    });
}

/// The caller belongs to no pool, or to another pool.
#[test]
fn outside_caller_owns_in_place_scope() {
    watched(|| {
        let (joined, other) = (Joined::new(2), Joined::new(1));
        let in_place = || {
            let (count, owner) = (Tally::new(), std::thread::current().id());
            joined.entry().in_place_scope(|s| {
                assert_eq!(std::thread::current().id(), owner);
                s.spawn(|s| {
                    assert_ne!(std::thread::current().id(), owner);
                    s.spawn(|_| count.come());
                    count.come();
                });
                s.spawn(|_| count.come());
            });
            assert_eq!(count.get(), 3);
        };
        in_place();
        other.entry().inside(|_| in_place());
        joined.end();
        other.end();
    });
}

#[test]
fn in_place_scope_waits_despite_panic() {
    watched(|| {
        let joined = Joined::new(1);
        let ran = Tally::new();
        let ended = catch_unwind(AssertUnwindSafe(|| {
            joined.entry().in_place_scope(|s| {
                s.spawn(|_| ran.come());
                s.spawn(|_| panic!("a task"));
                panic!("the body");
            })
        }));
        assert_eq!(ran.get(), 1);
        let payload = ended.unwrap_err();
        assert_eq!(payload.downcast_ref::<&str>(), Some(&"the body"));
        assert_eq!(joined.end(), [UnhandledPanic::Second]);
    });
}

#[test]
fn fifo_tasks_start_in_order() {
    watched(|| {
        for count in [1, 2] {
            let joined = Joined::new(count);
            let order = Mutex::new(Vec::new());
            joined.entry().inside(|member| {
                member.scope(|s| {
                    for i in 0..6 {
                        let order = &order;
                        closed::spawn_fifo(s, move |_| order.lock().unwrap().push(i));
                    }
                });
            });
            let mut order = order.into_inner().unwrap();
            if count > 1 {
                order.sort_unstable();
            }
            assert_eq!(order, [0, 1, 2, 3, 4, 5]);
            joined.end();
        }
    });
}

#[test]
fn spawned_tasks_outlive_pool_handle() {
    watched(|| {
        let (sender, receiver) = channel();
        let joined = Joined::new(2);
        let entry = joined.entry();
        for i in 0..3 {
            let sender = sender.clone();
            entry.spawn(move || {
                let again = sender.clone();
                let here = Member::with(|member| member.unwrap().entry());
                here.spawn_fifo(move || again.send(i).unwrap());
                here.spawn_broadcast(move |_, threads| sender.send(10 * threads).unwrap());
            });
        }
        entry.spawn(|| panic!("no task waits for this"));
        drop(sender);
        assert_eq!(joined.end(), [UnhandledPanic::Task]);
        let mut sent: Vec<_> = receiver.iter().collect();
        sent.sort_unstable();
        assert_eq!(sent, [0, 1, 2, 20, 20, 20, 20, 20, 20]);
    });
}

#[test]
fn broadcast_follows_deque_on_every_thread() {
    watched(|| {
        let joined = Joined::new(2);
        let (entry, spawned) = (joined.entry(), Arc::new(Tally::new()));
        let own = spawned.clone();
        entry.inside(move |member| member.entry().spawn(move || own.come()));
        let barrier = Barrier::new(2);
        let parts = entry.broadcast(|number, threads| {
            barrier.wait();
            (
                number,
                threads,
                Member::with(|member| member.map(Member::index)),
            )
        });
        assert_eq!(spawned.get(), 1);
        assert_eq!(parts, [(0, 2, Some(0)), (1, 2, Some(1))]);
        joined.end();
    });
}

/// The half that `run_own` runs may belong to a join in a frame below.
#[test]
fn run_own_takes_half_from_below() {
    watched(|| {
        let joined = Joined::build(Pool::builder().queue(QueueKind::Split), 1);
        let order = Mutex::new(Vec::new());
        let note = |i| order.lock().unwrap().push(i);
        joined.entry().inside(|member| {
            let first = || {
                member.scope(|s| {
                    s.spawn(|_| note(3));
                    assert!(member.run_own(), "the oldest: the half below");
                    note(2);
                });
            };
            let second = |stolen: bool| {
                assert!(stolen);
                assert_eq!(fib(4), 3);
                note(1);
            };
            member.join(first, second);
            assert!(!member.run_own() && !member.run_any() && !member.has_work());
        });
        assert_eq!(order.into_inner().unwrap(), [1, 2, 3]);
        joined.end();
    });
}

/// A task joins a task that it has spawned, then yields, so the empty task that the joiner has left
/// begins on top of it. No dispatch has chosen the empty task, so its class gets no turn.
#[test]
fn yields_give_no_turn() {
    watched(|| {
        let joined = Joined::build(Pool::builder().queue(QueueKind::Split), 1);
        let order = Arc::new(Mutex::new(Vec::new()));
        let note = |name| {
            let order = order.clone();
            move || order.lock().unwrap().push(name)
        };
        joined.entry().inside(|member| {
            let urgent = tidegate::task().priority(Priority::Urgent);
            drop(urgent.spawn(note("urgent")));
            tidegate::spawn(|| ()).join();
            assert!(member.run_own(), "the empty task");
            drop(tidegate::spawn(note("normal")));
        });
        joined.end();
        assert_eq!(*order.lock().unwrap(), ["urgent", "normal"]);
    });
}

#[test]
fn cross_pool_waiter_runs_own_queue() {
    watched(|| {
        let (here, there) = (Joined::new(1), Joined::new(1));
        let (a, b, ran) = (here.entry(), there.entry(), AtomicUsize::new(0));
        a.inside(|_| {
            b.inside(|_| {
                a.inside(|member| {
                    ran.fetch_add(1 + member.index(), Ordering::Relaxed);
                });
            });
        });
        assert_eq!(ran.into_inner(), 1);
        here.end();
        there.end();
    });
}

/// A thread that waits for another pool does not run tasks that frames below have spawned.
#[test]
fn cross_pool_wait_leaves_older_spawns() {
    watched(|| {
        let (here, there) = (Joined::new(1), Joined::new(1));
        let other = there.entry();
        let ran = Tally::new();
        here.entry().inside(|member| {
            member.entry().spawn(|| ());
            member.scope(|s| {
                other.inside(|_| ());
                s.spawn(|_| ran.come());
            });
            assert_eq!(ran.get(), 1, "before the scope has ended");
        });
        here.end();
        there.end();
    });
}

/// A closed pool starts no threads, even if its threads spawn tasks when they end.
#[test]
fn exit_spawns_start_no_threads() {
    watched(|| {
        let (starts, spawned) = (Arc::new(Tally::new()), Arc::new(Tally::new()));
        let (started, task) = (starts.clone(), spawned.clone());
        let builder = Pool::builder().on_start(move |_| started.come());
        let builder = builder.on_exit(move |_| {
            let task = task.clone();
            let here = Member::with(|member| member.unwrap().entry());
            here.clone().spawn(move || here.spawn(move || task.come()));
        });
        Joined::build(builder, 2).end();
        assert_eq!((starts.get(), spawned.get()), (2, 2));
    });
}

#[test]
fn broadcast_data_drops_without_a_lock() {
    struct Again(closed::Entry);
    impl Drop for Again {
        fn drop(&mut self) {
            self.0.spawn_broadcast(|_, _| ());
        }
    }
    watched(|| {
        let joined = Joined::new(1);
        for _ in 0..20 {
            let again = Again(joined.entry());
            joined.entry().spawn_broadcast(move |_, _| {
                let _ = &again;
            });
        }
        joined.end();
    });
}

#[test]
fn failed_start_ends_started_threads() {
    watched(|| {
        let mut threads = Vec::new();
        let closed = Closed {
            on_panic: Box::new(|_, _| ()),
            threads_by: "this test",
            breadth_first: false,
            forgiving: false,
        };
        // With the random policy, the pool does not read the machine's topology, because it needs
        // no distances.
        let builder = Pool::builder().workers(3);
        let builder = builder.victim(tidegate::policy::VictimPolicy::Random);
        let refused = ClosedPool::build(builder, closed, false, |thread| {
            if thread.index() == 2 {
                return Err(std::io::Error::other("no more"));
            }
            threads.push(std::thread::spawn(|| thread.run()));
            Ok(())
        });
        assert!(matches!(refused, Err(closed::Refused::Thread(_))));
        assert_eq!(threads.len(), 2);
        for thread in threads {
            thread.join().unwrap();
        }
    });
}

mod a_full_deque {
    use super::*;

    /// The deque has no room for the join's second half, so the half has only a placeholder instead
    /// of a position. Meanwhile the first half waits for another pool and empties the deque, so the
    /// deque's bottom is 0. The join must not take this bottom for the position after its half.
    #[test]
    fn survives_a_join_that_empties_it() {
        const TASKS: usize = if cfg!(miri) { 70 } else { 131_100 };
        watched(|| {
            let (pool, other) = (Joined::new(1), Joined::new(1));
            let ran: Arc<Vec<Tally>> = Arc::new((0..TASKS).map(|_| Tally::new()).collect());
            let (done, ended) = channel();
            let (own, outside, runs) = (pool.entry(), other.entry(), ran.clone());
            pool.entry().spawn(move || {
                for task in 0..TASKS {
                    let runs = runs.clone();
                    own.spawn(move || runs[task].come());
                }
                let join = |member: Option<Member<'_>>| {
                    member
                        .expect("a task")
                        .join(|| outside.inside(|_| ()), |_| ())
                };
                Member::with(join);
                done.send(()).unwrap();
            });
            ended.recv().unwrap();
            pool.end();
            other.end();
            assert!(ran.iter().all(|runs| runs.get() == 1));
        });
    }
}
