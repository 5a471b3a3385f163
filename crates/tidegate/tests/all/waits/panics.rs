//! Panics, in a full cross product of cases: where the panic happens, whether it happens on a
//! thief, whether it is nested, and what happens to the pool.
//!
//! One checker covers all cases: the payload arrives unchanged, every closure that has started has
//! ended, the other panics went to `on_panic` with their numbers, every value was dropped once, and
//! the pool still works.

use crate::support::book::{Book, Tracked};
use crate::support::{Gate, Tally, built, fib, until, watched};
use Place::*;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex};
use std::thread::{ThreadId, current};
use tidegate::policy::{Choose, QueueKind};
use tidegate::{PanicReport, Pool};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    FirstHalf,
    SecondHalf,
    BothHalves,
    Spawned,
    TwoSpawned,
    ScopeBody,
    ScopeBodyAndSpawned,
    HandlesTask,
    DetachedTask,
    Installed,
    ForEachItem,
    Map,
    Reduce,
    BroadcastPart,
    BroadcastParts,
}

#[rustfmt::skip]
const PLACES: [Place; 15] = [
    FirstHalf, SecondHalf, BothHalves, Spawned, TwoSpawned, ScopeBody, ScopeBodyAndSpawned,
    HandlesTask, DetachedTask, Installed, ForEachItem, Map, Reduce, BroadcastPart, BroadcastParts,
];

#[derive(Clone, Copy, Debug, PartialEq)]
struct Case {
    place: Place,
    /// Whether a thief runs the part that can be stolen. Otherwise the pool has only one thread.
    stolen: bool,
    /// Whether the panic happens in a scope inside a join, each with its own tasks.
    nested: bool,
    /// Whether the pool is dropped immediately, rather than used again first.
    dropped: bool,
}

/// The payload of a panic. `number` is 1 for the first panic of a case, and 2 for the second.
struct Boom {
    number: usize,
    _value: Tracked,
}

/// The state that a case's closures share.
struct Stage {
    case: Case,
    book: Book,
    thrown: Mutex<Vec<usize>>,
    /// For each panic that reached `on_panic`: the payload's number, and the pool's number for the
    /// panic.
    reported: Mutex<Vec<(usize, u64)>>,
    begun: Tally,
    ended: Tally,
    /// Opened by the part that must run on another thread.
    elsewhere: Gate,
    /// Opened by a part that is about to panic.
    throws: Gate,
}

impl Stage {
    fn throw(&self, number: usize) {
        self.thrown.lock().unwrap().push(number);
        self.throws.open();
        // Not `panic!`, which would print a message for each case.
        resume_unwind(Box::new(Boom {
            number,
            _value: self.book.value(),
        }))
    }

    /// Returns a closure that either must have ended or must never have started when the panic
    /// surfaces.
    fn sibling(self: &Arc<Self>) -> impl FnOnce() -> Tracked + Send + 'static {
        let (stage, captured) = (self.clone(), self.book.value());
        move || {
            stage.begun.come();
            drop(captured);
            let result = stage.book.value();
            stage.ended.come();
            result
        }
    }

    /// Called by the part that a thief must run if the case is `stolen`.
    fn at_the_thief(&self, owner: ThreadId) {
        assert_eq!(current().id() != owner, self.case.stolen, "{:?}", self.case);
        self.elsewhere.open();
    }

    /// Called by the part that the owner runs. Waits until a thief runs the other part.
    fn wait_for_the_thief(&self) {
        if self.case.stolen {
            self.elsewhere.wait();
        }
    }

    /// Panics, or lets other closures panic, as the case requires. Runs on a thread of the pool.
    fn act(self: &Arc<Self>, pool: &Pool) {
        let (owner, kept) = (current().id(), self.book.value());
        match self.case.place {
            FirstHalf => drop(self.join(owner, true, false)),
            SecondHalf => drop(self.join(owner, false, true)),
            BothHalves => drop(self.join(owner, true, true)),
            Spawned => self.scope(owner, false, 1),
            TwoSpawned => self.scope(owner, false, 2),
            ScopeBody => self.scope(owner, true, 0),
            ScopeBodyAndSpawned => self.scope(owner, true, 1),
            HandlesTask => drop(self.spawn(owner).join()),
            DetachedTask => drop(self.spawn(owner)),
            Installed => self.install(pool),
            ForEachItem => self.for_each(owner),
            Map => self.map_reduce(owner, true),
            Reduce => self.map_reduce(owner, false),
            BroadcastPart => self.broadcast(pool, 1),
            BroadcastParts => self.broadcast(pool, 2),
        }
        drop(kept);
    }

    fn join(self: &Arc<Self>, owner: ThreadId, first: bool, second: bool) -> (Tracked, Tracked) {
        let (a, b) = (self.sibling(), self.sibling());
        let half = |sibling: Box<dyn FnOnce() -> Tracked + Send>, number| {
            let result = sibling();
            if let Some(number) = number {
                self.throw(number);
            }
            result
        };
        tidegate::join(
            || {
                self.wait_for_the_thief();
                half(Box::new(a), first.then_some(1))
            },
            || {
                self.at_the_thief(owner);
                if first && self.case.stolen {
                    self.throws.wait();
                }
                half(Box::new(b), second.then_some(2))
            },
        )
    }

    fn scope(self: &Arc<Self>, owner: ThreadId, body: bool, tasks: usize) {
        tidegate::scope(|s| {
            for number in 1..=tasks {
                let sibling = self.sibling();
                s.spawn(move |_| {
                    if number == 1 {
                        self.at_the_thief(owner);
                    }
                    drop(sibling());
                    self.throw(number + usize::from(body));
                });
            }
            let sibling = self.sibling();
            s.spawn(move |_| {
                if tasks == 0 {
                    self.at_the_thief(owner);
                }
                drop(sibling());
            });
            self.wait_for_the_thief();
            if body {
                self.throw(1);
            }
        });
    }

    fn spawn(self: &Arc<Self>, owner: ThreadId) -> tidegate::Handle<Tracked> {
        let (stage, sibling) = (self.clone(), self.sibling());
        let handle = tidegate::spawn(move || {
            stage.at_the_thief(owner);
            let result = sibling();
            stage.throw(1);
            result
        });
        self.wait_for_the_thief();
        handle
    }

    /// Calls the pool from a thread outside all pools if the case is `stolen`, and from one of the
    /// pool's workers otherwise.
    fn install(self: &Arc<Self>, pool: &Pool) {
        let install = || {
            let sibling = self.sibling();
            pool.install(move || {
                drop(sibling());
                self.throw(1);
            });
        };
        if self.case.stolen {
            let caught = std::thread::scope(|s| s.spawn(install).join());
            resume_unwind(caught.expect_err("a panic"));
        }
        install();
    }

    fn for_each(self: &Arc<Self>, owner: ThreadId) {
        tidegate::for_each(0..2, |i| {
            if i == 0 {
                self.wait_for_the_thief();
            } else {
                self.at_the_thief(owner);
            }
            drop(self.sibling()());
            if i == 1 {
                self.throw(1);
            }
        });
    }

    fn map_reduce(self: &Arc<Self>, owner: ThreadId, in_map: bool) {
        let sum = tidegate::map_reduce(
            0..4,
            |i| {
                if i == 0 {
                    self.wait_for_the_thief();
                }
                // While the owner waits, it may rob item 3, which was stolen together with item 2.
                if i == 2 {
                    self.at_the_thief(owner);
                }
                let value = self.sibling()();
                if in_map && i == 2 {
                    self.throw(1);
                }
                (i, value)
            },
            |a, b| {
                if !in_map && a.0 == 2 {
                    self.throw(1);
                }
                (a.0, b.1)
            },
        );
        drop(sum);
    }

    fn broadcast(self: &Arc<Self>, pool: &Pool, panics: usize) {
        let results = pool.broadcast(|number| {
            let result = self.sibling()();
            if number < panics {
                self.throw(number + 1);
            }
            result
        });
        drop(results);
    }

    /// Runs the case. Returns its result.
    fn run(self: &Arc<Self>, pool: &Pool) -> Result<(), Box<Boom>> {
        let (a, b) = (self.sibling(), self.sibling());
        let nest = || {
            tidegate::join(
                || {
                    tidegate::scope(|s| {
                        s.spawn(|_| drop(a()));
                        self.act(pool);
                    });
                },
                || drop(b()),
            );
        };
        let body = || {
            pool.install(|| {
                if self.case.nested {
                    nest();
                } else {
                    self.act(pool);
                }
            });
        };
        catch_unwind(AssertUnwindSafe(body)).map_err(|payload| {
            payload
                .downcast()
                .unwrap_or_else(|_| panic!("{:?}: another payload", self.case))
        })
    }

    /// Checks that each panic has either surfaced or been reported, in the required order.
    fn check(&self, surfaced: Option<usize>) {
        let case = self.case;
        let reported = self.reported.lock().unwrap();
        for (at, (_, pools_number)) in reported.iter().enumerate() {
            assert_eq!(*pools_number, at as u64 + 1, "{case:?}");
        }
        let mut seen: Vec<_> = reported.iter().map(|(number, _)| *number).collect();
        seen.extend(surfaced);
        seen.sort_unstable();
        let mut thrown = self.thrown.lock().unwrap().clone();
        thrown.sort_unstable();
        assert_eq!(seen, thrown, "{case:?}");
        assert_eq!(surfaced.is_none(), case.place == DetachedTask, "{case:?}");
        let expected = match case.place {
            BothHalves | BroadcastParts if case.stolen => 2,
            TwoSpawned | ScopeBodyAndSpawned => 2,
            _ => 1,
        };
        assert_eq!(thrown.len(), expected, "{case:?}");
        if matches!(case.place, BothHalves | ScopeBodyAndSpawned) {
            assert_eq!(surfaced, Some(1), "{case:?}");
        }
    }
}

fn check(case: Case) {
    let stage = Arc::new(Stage {
        case,
        book: Book::new(),
        thrown: Mutex::default(),
        reported: Mutex::default(),
        begun: Tally::new(),
        ended: Tally::new(),
        elsewhere: Gate::new(),
        throws: Gate::new(),
    });
    let handler = {
        let stage = stage.clone();
        move |report: PanicReport| {
            let boom = report
                .payload
                .downcast::<Boom>()
                .expect("only such are thrown");
            let mut reported = stage.reported.lock().unwrap();
            reported.push((boom.number, report.number));
        }
    };
    let workers = if case.stolen { 2 } else { 1 };
    let builder = Pool::builder().workers(workers).max_threads(workers);
    let pool = built(builder.on_panic(handler));
    let surfaced = stage.run(&pool).err();
    if case.place != DetachedTask {
        assert_eq!(stage.begun.get(), stage.ended.get(), "{case:?}");
    }
    if !case.dropped {
        assert_eq!(pool.install(|| fib(10)), 55, "{case:?}");
        assert_eq!(pool.broadcast(|number| number).len(), workers, "{case:?}");
        if case.place == DetachedTask {
            until(|| !stage.reported.lock().unwrap().is_empty());
        }
    }
    drop(pool);
    stage.check(surfaced.as_ref().map(|boom| boom.number));
    assert_eq!(stage.begun.get(), stage.ended.get(), "{case:?}");
    drop(surfaced);
    stage.book.check();
    assert_eq!(Arc::strong_count(&stage), 1, "{case:?}: a closure leaked");
}

fn all(stolen: bool) {
    for place in PLACES {
        for nested in [false, true] {
            for dropped in [false, true] {
                check(Case {
                    place,
                    stolen,
                    nested,
                    dropped,
                });
            }
        }
    }
}

#[test]
fn panics_surface_without_a_thief() {
    watched(|| all(false));
}

#[test]
fn every_panic_where_a_thief_is() {
    watched(|| all(true));
}

#[test]
fn panic_passes_nested_scopes_unchanged() {
    watched(|| {
        fn dive(depth: usize) {
            if depth == 0 {
                resume_unwind(Box::new(4711_usize));
            }
            tidegate::join(|| (), || tidegate::scope(|_| dive(depth - 1)));
        }
        let pool = crate::support::pool(2);
        for _ in 0..50 {
            let caught = catch_unwind(AssertUnwindSafe(|| pool.install(|| dive(50))));
            assert_eq!(caught.unwrap_err().downcast_ref(), Some(&4711_usize));
        }
    });
}

#[test]
fn second_half_panics_surface_once() {
    watched(|| {
        let reported = Arc::new(Tally::new());
        let count = reported.clone();
        let builder = Pool::builder().workers(2);
        let pool = built(builder.on_panic(move |_| count.come()));
        let (thrown, caught) = (Tally::new(), Tally::new());
        fn tree(depth: usize, thrown: &Tally, caught: &Tally) {
            if depth == 0 {
                return;
            }
            let both = || {
                tidegate::join(
                    || tree(depth - 1, thrown, caught),
                    || {
                        tree(depth - 1, thrown, caught);
                        thrown.come();
                        resume_unwind(Box::new(depth));
                    },
                );
            };
            if let Err(payload) = catch_unwind(AssertUnwindSafe(both)) {
                assert_eq!(payload.downcast_ref(), Some(&depth));
                caught.come();
            }
        }
        pool.install(|| tree(10, &thrown, &caught));
        assert_eq!((thrown.get(), caught.get()), (1023, 1023));
        drop(pool);
        assert_eq!(reported.get(), 0);
    });
}

mod a_half_that_no_thread_has_begun {
    use super::*;

    /// While the other worker waits for the scope, it takes the half out of its owner's queue and
    /// keeps it. The joiner must not wait for a half that never starts.
    #[test]
    fn is_dropped_when_the_join_unwinds() {
        watched(|| {
            for queue in QueueKind::ALL {
                let pool = built(Pool::builder().workers(2).max_threads(2).queue(*queue));
                for _ in 0..40 {
                    pool.install(|| tidegate::scope(spawn_from_outside));
                }
            }
        });
    }

    fn spawn_from_outside<'scope>(scope: &tidegate::Scope<'scope>) {
        let unwinding = || {
            std::thread::yield_now();
            resume_unwind(Box::new(1))
        };
        std::thread::scope(|threads| {
            threads.spawn(|| {
                scope.spawn(move |_| {
                    let join = || tidegate::join(unwinding, || ());
                    assert!(catch_unwind(join).is_err());
                });
            });
        });
    }
}
