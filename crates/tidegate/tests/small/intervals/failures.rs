//! Intervals that fail, and intervals that can never start: which intervals are skipped, which run,
//! and what the pool reports.

use crate::support::{Gate, Log, Tally, pool, watched};
use tidegate::interval::{Failure, Interval, Lock, Scope, UsageErrorKind};

/// Returns the message of a failure without the lines that created the intervals.
fn text(failure: &Failure) -> String {
    let begin = format!(" ({}:", file!());
    let message = failure.to_string();
    let mut parts = message.split(&begin);
    let first = parts.next().expect("a text has a part").to_owned();
    let rest = parts.map(|part| part.split_once(')').expect("a place ends").1);
    first + &rest.collect::<String>()
}

/// Runs a chain a -> b -> c, in which the interval `failing` fails, and an unordered interval d.
/// Returns the intervals that have run, and the error.
fn chain_failing_at(failing: &str, panics: bool) -> (Vec<&'static str>, Option<String>) {
    let log = Log::default();
    let result = pool(2).run_intervals(|s| {
        let make = |name: &'static str| {
            let (log, fails) = (&log, name == failing);
            let body = move |_: &Scope<'_, '_>| {
                log.note(name);
                assert!(!(fails && panics), "no more");
                if fails { Err("no more") } else { Ok(()) }
            };
            s.try_interval(body).named(name)
        };
        let (a, b, c, d) = (make("a"), make("b"), make("c"), make("d"));
        a.end().before(b.start()).unwrap();
        b.end().before(c.start()).unwrap();
        drop((a, b, c, d));
    });
    let mut ran = log.end();
    ran.sort_unstable();
    (ran, result.err().as_ref().map(text))
}

#[test]
fn failure_skips_only_later_intervals() {
    for (panics, verb) in [(false, "failed"), (true, "panicked")] {
        let told = |name: &str| Some(format!("{name} {verb}: no more"));
        assert_eq!(chain_failing_at("a", panics), (vec!["a", "d"], told("a")));
        assert_eq!(
            chain_failing_at("b", panics),
            (vec!["a", "b", "d"], told("b"))
        );
        assert_eq!(
            chain_failing_at("c", panics),
            (vec!["a", "b", "c", "d"], told("c"))
        );
        assert_eq!(
            chain_failing_at("d", panics),
            (vec!["a", "b", "c", "d"], told("d"))
        );
    }
    assert_eq!(
        chain_failing_at("none", false),
        (vec!["a", "b", "c", "d"], None)
    );
}

/// The error names the intervals through which the failure has passed.
#[test]
fn inner_failure_stops_outer_successors() {
    watched(|| {
        let ran = Tally::new();
        let failure = pool(2)
            .run_intervals(|s| {
                let outer = s.interval(|s| {
                    let inner = s.interval(|s| {
                        s.try_interval(|_| Err::<(), _>("too late"))
                            .named("innermost");
                    });
                    inner.named("inner");
                });
                let outer = outer.named("outer");
                let after = s.interval(|_| ran.come());
                outer.end().before(after.start()).unwrap();
                let far = after.then(s, |_, ()| ran.come()).unwrap();
                drop((outer, after, far));
            })
            .unwrap_err();
        assert_eq!(failure.chain(), ["innermost", "inner", "outer", "root"]);
        assert_eq!(
            text(&failure),
            "innermost failed: too late, in inner, in outer"
        );
        assert_eq!((ran.get(), failure.others()), (0, 0));
        let error = failure.error().map(ToString::to_string);
        assert_eq!(error.as_deref(), Some("too late"));
    });
}

/// The surrounding interval may return the failure as its own error.
#[test]
fn inline_failure_may_fail_its_parent() {
    let failure = pool(2).run_intervals(|s| {
        let outer =
            s.try_interval(|s| s.inline(|s| drop(s.try_interval(|_| Err::<(), _>("deep")))));
        outer.named("outer");
    });
    assert_eq!(
        text(&failure.unwrap_err()),
        "outer failed: interval 1 failed: deep"
    );
}

#[test]
fn inner_failure_leaves_no_value() {
    watched(|| {
        let own = pool(2);
        own.run_intervals(|s| {
            let outer = s.interval(|s| {
                s.try_interval(|_| Err::<(), _>("inside"));
                5
            });
            let outer = outer.schedule();
            while !outer.end().has_occurred() {
                std::thread::yield_now();
            }
            assert_eq!(outer.value(), None);
        })
        .unwrap_err();
    });
}

/// By itself, the failure does not make the surrounding interval fail.
#[test]
fn inline_failure_stays_local() {
    let ran = Tally::new();
    let result = pool(2).run_intervals(|s| {
        let inner = s.inline(|s| drop(s.interval(|_| std::panic::panic_any(7)).named("seven")));
        let payload = inner.unwrap_err().into_panic().unwrap();
        s.interval(|_| ran.come());
        *payload.downcast_ref::<i32>().unwrap()
    });
    assert_eq!((result.unwrap(), ran.get()), (7, 1));
    let body = pool(2)
        .run_intervals(|_| -> () { panic!("in the body") })
        .unwrap_err();
    assert_eq!(body.to_string(), "root panicked: in the body");
}

#[test]
#[cfg_attr(miri, ignore = "what never runs is not freed")]
fn stall_is_reported_without_hanging() {
    watched(|| {
        let stalled = pool(2).run_intervals(|s| {
            std::mem::forget(s.interval(|_| ()));
            s.interval(|_| ());
        });
        let failure = stalled.unwrap_err();
        assert!(failure.is_stall());
        assert!(
            failure
                .to_string()
                .starts_with("an interval inside root can never end"),
            "{failure}"
        );
        // The cycle leads through a lock: its holder waits for an interval that must take the lock.
        let lock = Lock::new();
        let stalled = pool(2).run_intervals(|s| {
            let wanting = s.interval(|_| ()).named("wanting");
            let seen = Interval::clone(&wanting);
            let mut holder = s.interval(move |s| {
                let child = s.interval(|_| ()).named("child");
                seen.end().before(child.start()).unwrap();
            });
            holder.lock(&lock).unwrap();
            let holder = holder.named("holder");
            let mut wanting = wanting;
            wanting.lock(&lock).unwrap();
            let holder = holder.schedule();
            holder.start().before(wanting.start()).unwrap();
        });
        assert_eq!(
            text(&stalled.unwrap_err()),
            "2 intervals inside root can never end: wanting waits for a lock that holder holds; \
             child waits for the end of wanting; holder waits for the end of child"
        );
        // The lock is free again after the stall.
        let taken = pool(2).run_intervals(|s| s.interval(|_| ()).lock(&lock).unwrap());
        taken.unwrap();
    });
}

#[cfg(not(miri))] // Closures that never run are not freed.
mod stall_messages {
    use super::*;

    /// Returns the message of the stall if the first of the intervals `names` is leaked and the
    /// others wait for it.
    fn of(names: &[&'static str]) -> String {
        let stalled = pool(2).run_intervals(|s| {
            s.interval(|_| ()).named("ends");
            let leaked = s.interval(|_| ()).named("renamed").named(names[0]);
            for name in &names[1..] {
                let after = s.interval(|_| ()).named(*name);
                leaked.end().before(after.start()).unwrap();
            }
            std::mem::forget(leaked);
        });
        text(&stalled.unwrap_err())
    }

    #[test]
    fn list_up_to_five_intervals() {
        assert_eq!(
            of(&["read", "sort"]),
            "2 intervals inside root can never end: \
             read was never scheduled; sort waits for the end of read"
        );
        assert_eq!(
            of(&["a", "b", "c", "d", "e", "f", "g"]),
            "7 intervals inside root can never end: a was never scheduled; \
             b waits for the end of a; c waits for the end of a; d waits for the end of a; \
             e waits for the end of a; and 2 more"
        );
    }

    #[test]
    fn list_points_of_every_kind() {
        let stalled = pool(2).run_intervals(|s| {
            let outer = s.interval(|s| std::mem::forget(s.interval(|_| ()).named("inner")));
            let outer = outer.named("outer");
            let leaked = s.interval(|_| ()).named("leaked");
            let last = s.interval(|_| ()).named("last");
            outer.end().before(last.start()).unwrap();
            leaked.start().before(last.start()).unwrap();
            leaked.start().before(last.start()).unwrap();
            std::mem::forget(leaked);
        });
        assert_eq!(
            text(&stalled.unwrap_err()),
            "3 intervals inside root can never end: inner was never scheduled; \
             leaked was never scheduled; last waits for the end of outer, the start of leaked; \
             outer waits for the end of inner"
        );
    }

    #[test]
    fn show_where_named_intervals_were_created() {
        let line = line!() + 2;
        let stalled = pool(1).run_intervals(|s| {
            let read = s.interval(|_| ()).named("read");
            let sort = s.interval(|_| ()).named("sort");
            read.end().before(sort.start()).unwrap();
            std::mem::forget(read);
        });
        let message = stalled.unwrap_err().to_string();
        let read = format!(": read ({}:{line}:26) was never scheduled;", file!());
        assert!(message.contains(&read), "{message}");
        let sort = format!(
            "; sort ({}:{}:26) waits for the end of read",
            file!(),
            line + 1
        );
        assert!(message.ends_with(&sort), "{message}");
    }

    #[test]
    #[cfg(debug_assertions)]
    fn show_where_unnamed_intervals_were_created() {
        let line = line!() + 1;
        let stalled = pool(1).run_intervals(|s| std::mem::forget(s.interval(|_| ())));
        let message = stalled.unwrap_err().to_string();
        let place = format!("interval 1 ({}:{line}:", file!());
        assert!(message.contains(&place), "{message}");
        assert!(message.ends_with(") was never scheduled"), "{message}");
    }
}

#[test]
fn failure_shows_where_the_interval_was_created() {
    let line = line!() + 1;
    let named = pool(1).run_intervals(|s| drop(s.interval(|_| panic!("no more")).named("read")));
    let expected = format!("read ({}:{line}:50) panicked: no more", file!());
    assert_eq!(named.unwrap_err().to_string(), expected);
    let unnamed = pool(1).run_intervals(|s| drop(s.interval(|_| panic!("no more"))));
    let expected = format!("interval 1 ({}:{}:52) panicked: no more", file!(), line + 3);
    assert_eq!(unnamed.unwrap_err().to_string(), expected);
}

mod failed_bodies {
    use super::*;
    use std::sync::mpsc;

    /// Increments the tally when it is dropped.
    struct Token<'a>(&'a Tally);

    impl Drop for Token<'_> {
        fn drop(&mut self) {
            self.0.come();
        }
    }

    /// Runs a body that creates intervals and then calls `fail`. Returns the intervals that have
    /// run, and the failure.
    fn ran(fail: fn() -> Result<(), &'static str>) -> (Vec<&'static str>, String) {
        let (log, freed) = (Log::default(), Tally::new());
        let failed = pool(2).run_intervals(|s| {
            let (log, freed) = (&log, &freed);
            let (sender, receiver) = mpsc::channel();
            let failing = s.try_interval(move |s| {
                let create = |name| {
                    let token = Token(freed);
                    s.interval(move |_| {
                        let _token = token;
                        log.note(name);
                    })
                };
                create("scheduled").schedule();
                drop(create("dropped"));
                let _kept = create("kept");
                let late = [create("dropped late"), create("scheduled late")];
                sender.send(late).unwrap();
                fail()
            });
            failing.named("failing").schedule();
            let [dropped, scheduled] = receiver.recv().unwrap();
            // The closures of skipped intervals are dropped only after the body has failed.
            freed.wait_for(3);
            drop(dropped);
            scheduled.schedule();
        });
        assert_eq!(freed.get(), 5);
        let failure = failed.unwrap_err();
        assert_eq!(failure.others(), 0);
        let mut ran = log.end();
        ran.sort_unstable();
        (ran, text(&failure))
    }

    #[test]
    fn skip_intervals_that_were_not_scheduled() {
        watched(|| {
            let expected = |failure: &str| {
                let ran = vec!["scheduled", "scheduled late"];
                (ran, failure.to_owned())
            };
            assert_eq!(ran(|| Err("no more")), expected("failing failed: no more"));
            assert_eq!(
                ran(|| panic!("no more")),
                expected("failing panicked: no more")
            );
        });
    }

    #[test]
    fn of_a_root_skip_them_too() {
        watched(|| {
            let log = Log::default();
            let failed = pool(2).run_intervals(|s| -> () {
                s.interval(|_| log.note("scheduled")).schedule();
                s.interval(|_| log.note("dropped"));
                panic!("no more");
            });
            assert_eq!(failed.unwrap_err().to_string(), "root panicked: no more");
            assert_eq!(log.end(), ["scheduled"]);
        });
    }
}

#[test]
#[cfg_attr(miri, ignore = "what never runs is not freed")]
fn failure_with_stall_is_reported_once() {
    watched(|| {
        let failure = pool(2).run_intervals(|s| {
            s.try_interval(|_| Err::<(), _>("no more"));
            std::mem::forget(s.interval(|_| ()));
        });
        let failure = failure.unwrap_err();
        assert_eq!((failure.others(), failure.is_stall()), (0, false));
        assert_eq!(failure.error().unwrap().to_string(), "no more");
        // The message already contains the cause.
        assert!(std::error::Error::source(&failure).is_none());
    });
}

/// An edge from a failing interval of another family also skips the interval that it leads to.
#[test]
fn edge_across_families_carries_failure() {
    watched(|| {
        let own = pool(2);
        let ran = Tally::new();
        let failure = own.run_intervals(|s| {
            let (over, seen) = (Gate::new(), &ran);
            let failing = s.try_interval(|_| Err::<(), _>("early")).schedule();
            while !failing.end().has_occurred() {
                std::thread::yield_now();
            }
            over.open();
            s.interval(move |s| {
                let next = s.interval(move |_| seen.come());
                failing.end().before(next.start()).unwrap();
                assert_eq!(
                    s.end().before(next.start()).unwrap_err().wrong(),
                    UsageErrorKind::Cycle
                );
                let follower = failing.then(s, move |_, ()| seen.come()).unwrap();
                drop((next, follower));
            });
        });
        assert_eq!(
            (text(&failure.unwrap_err()).as_str(), ran.get()),
            ("interval 1 failed: early", 0)
        );
    });
}

#[test]
#[cfg_attr(miri, ignore = "what never runs is not freed")]
fn stalled_interval_releases_its_lock() {
    watched(|| {
        let lock = Lock::new();
        let own = pool(2);
        for _ in 0..10 {
            let stalled = own.run_intervals(|s| {
                let mut holder = s.interval(|s| std::mem::forget(s.interval(|_| ())));
                holder.lock(&lock).unwrap();
            });
            assert!(stalled.unwrap_err().is_stall());
            own.run_intervals(|s| s.interval(|_| ()).lock(&lock).unwrap())
                .unwrap();
        }
    });
}

/// An interval gets its first lock from another tree, and then waits for a lock of a stalled
/// interval of its own tree. If `late`, that tree has nothing left to do when the first lock is
/// handed over.
#[cfg(not(miri))] // Closures that never run are not freed.
fn stalls_behind_lock_of_other_tree(late: bool) {
    let (pool, first, second) = (pool(3), Lock::new(), Lock::new());
    let (held, release) = (Gate::new(), Gate::new());
    std::thread::scope(|threads| {
        threads.spawn(|| {
            let ended = pool.run_intervals(|s| {
                let mut holder = s.interval(|_| {
                    held.open();
                    release.wait();
                });
                holder.lock(&first).unwrap();
            });
            ended.unwrap();
        });
        let stalling = threads.spawn(|| {
            held.wait();
            pool.run_intervals(|s| {
                let mut stalled = s.interval(|s| std::mem::forget(s.interval(|_| ())));
                stalled.lock(&second).unwrap();
                stalled.schedule();
                let mut waits = s.interval(|_| ());
                waits.lock(&first).unwrap();
                waits.lock(&second).unwrap();
                waits.schedule();
                if !late {
                    release.open();
                }
            })
        });
        if late {
            held.wait();
            crate::support::let_others_sleep();
            release.open();
        }
        assert!(stalling.join().unwrap().unwrap_err().is_stall());
    });
}

#[cfg(not(miri))]
#[test]
fn stall_is_seen_behind_other_trees_lock() {
    watched(|| {
        for late in [false, true] {
            stalls_behind_lock_of_other_tree(late);
        }
    });
}

#[test]
fn names_are_escaped_in_messages() {
    let failed = pool(1).run_intervals(|s| {
        s.interval(|s| {
            s.interval(|_| panic!("oh")).named("inner\n");
        })
        .named("outer\n");
    });
    let message = failed.unwrap_err().to_string();
    assert!(message.starts_with(r"inner\n ("), "{message}");
    assert!(message.ends_with(r"panicked: oh, in outer\n"), "{message}");
}

#[cfg_attr(miri, ignore = "what never runs is not freed")]
#[test]
fn names_are_escaped_in_stalls() {
    let stalled = pool(1).run_intervals(|s| {
        let leaked = s.interval(|_| ()).named("leaked\n");
        leaked
            .end()
            .before(s.interval(|_| ()).named("waits\n").start())
            .unwrap();
        std::mem::forget(leaked);
    });
    let message = stalled.unwrap_err().to_string();
    assert!(!message.contains('\n'), "{message}");
}
