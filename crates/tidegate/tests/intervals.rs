//! Intervals: order, locks, places, failures and misuse, on graphs made by hand.

mod support;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use support::{Gate, Tally, built, fib, pool, soak, watched};
use tidegate::interval::{self, Body, Draft, Interval, Lock, Locked, Wrong};
use tidegate::{PlaceBy, Pool, Queue, Share};

/// Who came when.
#[derive(Default)]
struct Log(Mutex<Vec<&'static str>>);

impl Log {
    fn note(&self, what: &'static str) {
        self.0.lock().unwrap().push(what);
    }

    fn end(self) -> Vec<&'static str> {
        self.0.into_inner().unwrap()
    }

    fn has(&self, what: &str) -> bool {
        self.0.lock().unwrap().contains(&what)
    }
}

#[test]
fn an_interval_ends_after_all_that_it_creates() {
    watched(|| {
        for workers in [1, 2, 4] {
            let pool = pool(workers);
            let log = Log::default();
            pool.interval(|s| {
                let outer = s.interval(|s| {
                    let log = &log;
                    s.interval(move |s| {
                        s.interval(move |_| {
                            fib(15);
                            log.note("grandchild");
                        });
                    });
                    s.interval(|_| log.note("child"));
                });
                let after = s.interval(|_| log.note("after"));
                outer.end().before(after.start()).unwrap();
            })
            .unwrap();
            let log = log.end();
            assert_eq!((log.len(), log[2]), (3, "after"));
        }
    });
}

#[test]
fn nothing_starts_before_its_draft_is_scheduled() {
    watched(|| {
        let pool = pool(2);
        let log = Log::default();
        pool.interval(|s| {
            let first = s.interval(|_| log.note("first"));
            let other = s.interval(|_| log.note("other")).schedule();
            while !other.end().has_occurred() {
                std::thread::yield_now();
            }
            assert!(!log.has("first") && !first.start().has_occurred());
            let first = first.schedule();
            while !first.end().has_occurred() {
                std::thread::yield_now();
            }
        })
        .unwrap();
        assert_eq!(log.end(), ["other", "first"]);
    });
}

#[test]
fn points_of_every_kind_can_be_ordered() {
    watched(|| {
        for _ in 0..200 {
            let log = Log::default();
            interval::run(|s| {
                let log = &log;
                // b starts after a has started, a ends after b has ended, c starts in between.
                let a = s.interval(move |_| log.note("a"));
                let b = s.interval(move |_| log.note("b"));
                let c = s.interval(move |_| log.note("c"));
                let d = s.interval(move |_| log.note("d"));
                a.start().before(b.start()).unwrap();
                b.end().before(a.end()).unwrap();
                b.end().before(c.start()).unwrap();
                c.end().before(a.end()).unwrap();
                a.end().before(d.start()).unwrap();
                // What is so anyway costs nothing.
                a.start().before(a.end()).unwrap();
                b.end().before(s.end()).unwrap();
            })
            .unwrap();
            let log = log.end();
            let at = |what| log.iter().position(|it| *it == what).unwrap();
            assert!(
                at("b") < at("c") && at("c") < at("d") && at("a") < at("d"),
                "{log:?}"
            );
        }
    });
}

#[test]
fn a_value_goes_along_an_edge() {
    watched(|| {
        let sum = pool(2).interval(|s| {
            let numbers: Vec<Draft<'_, u64>> = (0..100).map(|i| s.interval(move |_| i)).collect();
            let handles: Vec<Interval<'_, u64>> =
                numbers.iter().map(|n| Interval::clone(n)).collect();
            let sum = s.interval(move |_| handles.iter().map(|n| n.value().unwrap()).sum::<u64>());
            for number in &numbers {
                number.end().before(sum.start()).unwrap();
            }
            let double = sum.then(s, |_, sum| 2 * sum).unwrap().schedule();
            assert_eq!(double.value(), None, "not yet");
            let result = AtomicUsize::new(0);
            drop((numbers, sum));
            while !double.end().has_occurred() {
                std::thread::yield_now();
            }
            result.store(*double.value().unwrap() as usize, Ordering::Relaxed);
            result.into_inner()
        });
        // The body waits by itself here, so another worker must run the rest.
        assert_eq!(sum.unwrap(), 9_900);
    });
}

#[test]
fn an_inline_interval_is_over_when_its_call_returns() {
    watched(|| {
        for workers in [1, 2] {
            let pool = pool(workers);
            let ran = Tally::new();
            pool.interval(|s| {
                for _ in 0..20 {
                    s.interval(|s| {
                        let before = ran.get();
                        let inner = Tally::new();
                        s.inline(|s| {
                            for _ in 0..10 {
                                s.interval(|_| {
                                    ran.come();
                                    inner.come();
                                });
                            }
                        })
                        .unwrap();
                        assert_eq!(inner.get(), 10);
                        assert!(ran.get() >= before + 10);
                    });
                }
            })
            .unwrap();
            assert_eq!(ran.get(), 200);
        }
    });
}

#[test]
fn one_at_a_time_holds_a_lock_and_no_worker_waits_for_it() {
    watched(|| {
        for workers in [1, 2, 3] {
            let pool = pool(workers);
            let (one, two) = (Locked::new(0), Locked::new(0));
            let free = Tally::new();
            pool.interval(|s| {
                for task in 0..300 {
                    let (one, two, free) = (&one, &two, &free);
                    match task % 3 {
                        0 => {
                            let mut both = s.interval(move |s| {
                                let seen = one.with(s, |one| *one);
                                // Held until all inside has ended, too.
                                s.interval(|_| _ = fib(6));
                                two.with(s, |two| *two += 1);
                                one.with(s, |one| *one = seen + 1);
                            });
                            both.lock(two.lock()).unwrap();
                            both.lock(one.lock()).unwrap();
                        }
                        1 => {
                            let mut single = s.interval(move |s| one.with(s, |one| *one += 1));
                            single.lock(one.lock()).unwrap();
                        }
                        _ => drop(s.interval(move |_| free.come())),
                    }
                }
            })
            .unwrap();
            assert_eq!(
                (one.into_inner(), two.into_inner(), free.get()),
                (200, 100, 100)
            );
        }
    });
}

#[test]
fn a_lock_passes_between_pools_and_trees() {
    watched(|| {
        let rounds = soak(30, "rounds of trees that share a lock");
        let pools = [pool(1), pool(2)];
        let (lock, other) = (Locked::new(0), Lock::new());
        std::thread::scope(|threads| {
            for thread in 0..4 {
                let (pool, lock, other) = (&pools[thread % 2], &lock, &other);
                threads.spawn(move || {
                    for _ in 0..rounds {
                        pool.interval(|s| {
                            for task in 0..10 {
                                let mut add = s.interval(move |s| lock.with(s, |sum| *sum += 1));
                                if task % 2 == 0 {
                                    add.lock(other).unwrap();
                                }
                                add.lock(lock.lock()).unwrap();
                            }
                        })
                        .unwrap();
                    }
                });
            }
        });
        assert_eq!(lock.into_inner(), 4 * 10 * rounds);
    });
}

#[test]
fn an_interval_runs_at_its_place() {
    watched(|| {
        let builder = Pool::builder().workers(2).share(Share::Off);
        let pool = built(builder.places(PlaceBy::Each(1)));
        let places = pool.places();
        let astray = Tally::new();
        pool.interval(|s| {
            let mut last: Option<Draft<'_>> = None;
            for round in 0..100 {
                let place = places[round % 2];
                let astray = &astray;
                let next = s.interval(move |_| {
                    if tidegate::current_place() != Some(place) {
                        astray.come();
                    }
                });
                let next = next.at(place.strict());
                if let Some(last) = last {
                    last.end().before(next.start()).unwrap();
                }
                last = Some(next);
            }
        })
        .unwrap();
        assert_eq!(astray.get(), 0);
    });
}

#[test]
fn an_edge_that_would_close_a_cycle_is_refused_and_nothing_is_lost() {
    watched(|| {
        let ran = Tally::new();
        interval::run(|s| {
            let a = s.interval(|_| ran.come()).named("a");
            let b = s.interval(|_| ran.come()).named("b");
            let c = s.interval(|_| ran.come()).named("c");
            a.end().before(b.start()).unwrap();
            // Backward, and fine.
            c.end().before(a.start()).unwrap();
            for (from, to) in [(&b, &c), (&b, &a), (&a, &c), (&a, &a)] {
                let error = from.end().before(to.start()).unwrap_err();
                assert_eq!(error.wrong(), Wrong::Cycle);
            }
            let error = b.end().before(c.start()).unwrap_err();
            assert_eq!(
                error.to_string(),
                "c comes before b already: an edge back would close a cycle"
            );
            // Forward, after one that was not.
            assert_eq!(b.start().before(c.end()).unwrap_err().wrong(), Wrong::Cycle);
            assert_eq!(a.end().before(a.start()).unwrap_err().wrong(), Wrong::Cycle);
            assert_eq!(s.end().before(a.start()).unwrap_err().wrong(), Wrong::Cycle);
            drop((c, b, a));
        })
        .unwrap();
        assert_eq!(ran.get(), 3);
    });
}

#[test]
fn cycles_are_found_across_families() {
    watched(|| {
        let pool = pool(2);
        let (go, order) = (Gate::new(), Log::default());
        pool.interval(|s| {
            // An interval is handed from one family to another by an uncle.
            let (sender, receiver) = std::sync::mpsc::channel();
            let uncle = s.interval(|_| order.note("uncle"));
            let late = s.interval(|_| order.note("late"));
            uncle.end().before(late.start()).unwrap();
            let uncle_seen = Interval::clone(&uncle);
            let late_seen = Interval::clone(&late);
            let (go, order) = (&go, &order);
            s.interval(move |s| {
                let child = s.interval(move |_| order.note("child"));
                // Between families: forward, backward, and into what has begun.
                child.end().before(late_seen.start()).unwrap();
                let error = late_seen.end().before(child.start()).unwrap_err();
                assert_eq!(error.wrong(), Wrong::Cycle);
                uncle_seen.end().before(child.start()).unwrap();
                assert_eq!(
                    child.end().before(uncle_seen.start()).unwrap_err().wrong(),
                    Wrong::Cycle
                );
                assert_eq!(
                    s.end().before(child.start()).unwrap_err().wrong(),
                    Wrong::Cycle
                );
                s.end().before(late_seen.start()).unwrap();
                sender.send(()).unwrap();
                go.open();
            });
            s.interval(move |_| receiver.recv().unwrap());
            go.wait();
            drop((uncle, late));
        })
        .unwrap();
        assert_eq!(order.end(), ["uncle", "child", "late"]);
    });
}

#[test]
fn an_edge_into_what_has_occurred_is_refused() {
    watched(|| {
        let own = pool(2);
        own.interval(|s| {
            let over = s.interval(|_| ()).named("over").schedule();
            while !over.end().has_occurred() {
                std::thread::yield_now();
            }
            let next = s.interval(|_| ()).named("next");
            over.end().before(next.start()).unwrap();
            for (point, word) in [(over.start(), "start"), (over.end(), "end")] {
                let error = next.start().before(point).unwrap_err();
                assert_eq!(error.wrong(), Wrong::Occurred, "{word}");
            }
            let error = next.end().before(over.start()).unwrap_err();
            assert!(
                error.to_string().contains("over cannot wait for next"),
                "{error}"
            );
        })
        .unwrap();
    });
}

#[test]
fn intervals_of_different_inline_intervals_cannot_be_ordered() {
    watched(|| {
        interval::run(|s| {
            let outer = s.interval(|_| ()).named("outer");
            let point = outer.end();
            let error = s.inline(|s| {
                let inner = s.interval(|_| ()).named("inner");
                point.before(inner.start()).unwrap_err()
            });
            let error = error.unwrap();
            assert_eq!(error.wrong(), Wrong::OtherTree);
            assert!(error.to_string().starts_with("outer and inner"), "{error}");
        })
        .unwrap();
    });
}

#[test]
fn locks_requested_twice_or_against_the_order_are_refused() {
    watched(|| {
        let (first, second) = (Lock::new(), Lock::new());
        interval::run(|s| {
            let (one, two) = (&first, &second);
            let mut holder = s.interval(move |s| {
                let mut child = s.interval(|_| ()).named("child");
                assert_eq!(child.lock(two).unwrap_err().wrong(), Wrong::LockTwice);
                let error = child.lock(one).unwrap_err();
                assert_eq!(error.wrong(), Wrong::LockOrder);
                assert!(
                    error.to_string().contains("child") && error.to_string().contains("holder")
                );
                child.lock(&Lock::new()).unwrap();
            });
            holder.lock(two).unwrap();
            assert_eq!(holder.lock(two).unwrap_err().wrong(), Wrong::LockTwice);
            _ = holder.named("holder");
        })
        .unwrap();
    });
}

#[test]
fn data_whose_lock_is_not_held_is_not_shown() {
    let data = Locked::new(0);
    let failure = interval::run(|s| {
        let shown = &data;
        s.interval(move |s| shown.with(s, |data| *data += 1))
            .named("curious");
    });
    let text = failure.unwrap_err().to_string();
    assert!(
        text.contains("curious sees data whose lock it has not requested"),
        "{text}"
    );
}

/// A chain a -> b -> c of which the one called so fails, and d beside it; who ran.
fn chain_failing_at(failing: &str, panics: bool) -> (Vec<&'static str>, Option<String>) {
    let log = Log::default();
    let result = interval::run(|s| {
        let make = |name: &'static str| {
            let (log, fails) = (&log, name == failing);
            let body = move |_: &Body<'_, '_>| {
                log.note(name);
                assert!(!(fails && panics), "no more");
                if fails { Err("no more") } else { Ok(()) }
            };
            s.attempt(body).named(name)
        };
        let (a, b, c, d) = (make("a"), make("b"), make("c"), make("d"));
        a.end().before(b.start()).unwrap();
        b.end().before(c.start()).unwrap();
        drop((a, b, c, d));
    });
    let mut ran = log.end();
    ran.sort_unstable();
    (ran, result.err().map(|failure| failure.to_string()))
}

#[test]
fn what_comes_after_a_failure_does_not_run_and_everything_else_does() {
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

#[test]
fn a_failure_inside_stops_what_comes_after_the_outer_interval_and_names_the_way() {
    watched(|| {
        let ran = Tally::new();
        let failure = interval::run(|s| {
            let outer = s.interval(|s| {
                let inner = s.interval(|s| {
                    s.attempt(|_| Err::<(), _>("too late")).named("innermost");
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
        assert_eq!(
            failure.chain(),
            ["innermost", "inner", "outer", "the inline interval"]
        );
        assert_eq!(
            failure.to_string(),
            "innermost failed: too late, in inner, in outer"
        );
        assert_eq!((ran.get(), failure.others()), (0, 0));
        let source = std::error::Error::source(&failure).map(ToString::to_string);
        assert_eq!(source.as_deref(), Some("too late"));
    });
}

#[test]
fn a_failure_of_an_inline_interval_goes_no_further_by_itself() {
    let ran = Tally::new();
    let result = interval::run(|s| {
        let inner = s.inline(|s| drop(s.interval(|_| std::panic::panic_any(7)).named("seven")));
        let payload = inner.unwrap_err().into_panic().unwrap();
        s.interval(|_| ran.come());
        *payload.downcast_ref::<i32>().unwrap()
    });
    assert_eq!((result.unwrap(), ran.get()), (7, 1));
    let body = interval::run(|_| -> () { panic!("in the body") }).unwrap_err();
    assert_eq!(
        body.to_string(),
        "the inline interval panicked: in the body"
    );
}

#[test]
fn what_can_never_start_is_told_and_does_not_hang() {
    watched(|| {
        let stalled = interval::run(|s| {
            std::mem::forget(s.interval(|_| ()));
            s.interval(|_| ());
        });
        let failure = stalled.unwrap_err();
        assert!(failure.is_stall());
        assert_eq!(
            failure.to_string(),
            "an interval waits for what never comes"
        );
        // Through a lock: its holder waits for one who wants it.
        let lock = Lock::new();
        let stalled = interval::run(|s| {
            let wanting = s.interval(|_| ());
            let seen = Interval::clone(&wanting);
            let mut holder = s.interval(move |s| {
                let child = s.interval(|_| ());
                seen.end().before(child.start()).unwrap();
            });
            holder.lock(&lock).unwrap();
            let mut wanting = wanting;
            wanting.lock(&lock).unwrap();
            let holder = holder.schedule();
            holder.start().before(wanting.start()).unwrap();
        });
        assert!(stalled.unwrap_err().is_stall());
        // The lock is free again.
        let taken = interval::run(|s| s.interval(|_| ()).lock(&lock).unwrap());
        taken.unwrap();
    });
}

#[test]
fn a_long_pipeline_needs_memory_for_what_has_not_ended_only() {
    watched(|| {
        let intervals = soak(100_000, "intervals in a pipeline");
        let pool = pool(2);
        let (live, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        struct Counted<'a>(&'a AtomicUsize);
        impl Drop for Counted<'_> {
            fn drop(&mut self) {
                self.0.fetch_sub(1, Ordering::Relaxed);
            }
        }
        fn step<'s, 'e>(
            s: &Body<'s, 'e>,
            left: usize,
            live: &'s AtomicUsize,
            most: &'s AtomicUsize,
        ) {
            if left == 0 {
                return;
            }
            most.fetch_max(live.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
            let value = Counted(live);
            let stage = s.interval(move |_| value);
            drop(stage.then(s, |_, _| ()).unwrap());
            _ = left;
        }
        pool.interval(|s| {
            let mut left = intervals;
            while left > 0 {
                let batch = left.min(100);
                left -= batch;
                s.inline(|s| (0..batch).for_each(|_| step(s, 1, &live, &most)))
                    .unwrap();
            }
        })
        .unwrap();
        assert_eq!(live.into_inner(), 0);
        assert!(most.into_inner() <= 100);
    });
}

#[test]
fn intervals_run_on_every_queue() {
    watched(|| {
        for queue in Queue::ALL {
            let pool = built(Pool::builder().workers(2).queue(*queue));
            let (sum, lock) = (AtomicUsize::new(0), Lock::new());
            pool.interval(|s| {
                let mut row: Vec<Interval<'_>> = Vec::new();
                for _ in 0..20 {
                    let next: Vec<Draft<'_>> = (0..10)
                        .map(|_| s.interval(|_| _ = sum.fetch_add(1, Ordering::Relaxed)))
                        .collect();
                    for (before, after) in row.iter().zip(&next) {
                        before.end().before(after.start()).unwrap();
                    }
                    row = next.into_iter().map(Draft::schedule).collect();
                    let mut locked = s.interval(|s| drop(s.interval(|_| _ = fib(5))));
                    locked.lock(&lock).unwrap();
                }
            })
            .unwrap();
            assert_eq!(sum.into_inner(), 200, "{queue}");
        }
    });
}
