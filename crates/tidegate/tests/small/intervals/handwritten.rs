//! Intervals in handwritten graphs: order, values, locks and places.

use crate::support::{Gate, Log, Tally, built, fib, pool, soak, until, watched};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use tidegate::interval::{Interval, IntervalBuilder, Lock, Locked, Scope};
use tidegate::{
    Pool,
    policy::{Choose, PlaceBy, QueueKind, SharePolicy},
};

#[test]
fn interval_ends_after_its_children() {
    watched(|| {
        for workers in [1, 2, 4] {
            let pool = pool(workers);
            let log = Log::default();
            pool.run_intervals(|s| {
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
fn nothing_starts_before_it_is_scheduled() {
    watched(|| {
        let pool = pool(2);
        let log = Log::default();
        pool.run_intervals(|s| {
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

mod dropped_builders {
    use super::*;

    /// The builders are dropped in three ways: by the body, on another thread, and by a child.
    /// Edges are added only afterwards.
    #[test]
    fn wait_for_their_body() {
        watched(|| {
            for workers in [1, 2] {
                let log = Log::default();
                let own = pool(workers);
                own.run_intervals(|s| {
                    let log = &log;
                    let [a, b, c] = ["a", "b", "c"].map(|name| s.interval(move |_| log.note(name)));
                    let points = [&a, &b, &c].map(|draft| Interval::clone(draft));
                    drop(a);
                    std::thread::scope(|threads| _ = threads.spawn(|| drop(b)));
                    let child = s.interval(move |_| drop(c)).schedule();
                    if workers > 1 {
                        until(|| child.end().has_occurred());
                    }
                    fib(10);
                    assert!(points.iter().all(|it| !it.start().has_occurred()));
                    let [first, second, third] = points;
                    third.end().before(second.start()).unwrap();
                    second.end().before(first.start()).unwrap();
                })
                .unwrap();
                assert_eq!(log.end(), ["c", "b", "a"]);
            }
        });
    }

    /// The builders outlive the body that has created them. The body's interval ends only after the
    /// intervals of these builders.
    #[test]
    fn start_at_once_after_their_body() {
        watched(|| {
            for how in ["dropped", "dropped on another thread", "scheduled"] {
                let (returned, ran, own) = (Gate::new(), Tally::new(), pool(2));
                own.run_intervals(|s| {
                    let (returned, ran) = (&returned, &ran);
                    let (sender, receiver) = mpsc::channel();
                    let creator = s.interval(move |s| {
                        sender.send(s.interval(|_| ran.come())).unwrap();
                        s.interval(|_| returned.open());
                    });
                    let creator = creator.schedule();
                    let late = receiver.recv().unwrap();
                    returned.wait();
                    fib(10);
                    assert_eq!((ran.get(), creator.end().has_occurred()), (0, false));
                    match how {
                        "dropped" => drop(late),
                        "scheduled" => drop(late.schedule()),
                        _ => std::thread::scope(|threads| _ = threads.spawn(|| drop(late))),
                    }
                    until(|| creator.end().has_occurred());
                    assert_eq!(ran.get(), 1, "{how}");
                })
                .unwrap();
            }
        });
    }

    /// The builder is dropped before or after the body returns. Whichever happens last starts the
    /// interval.
    #[test]
    fn run_once_when_their_body_returns() {
        watched(|| {
            let rounds = soak(200, "builders dropped while their body returns");
            let (own, ran) = (pool(2), Tally::new());
            for round in 1..=rounds {
                own.run_intervals(|s| {
                    let ran = &ran;
                    let (sender, receiver) = mpsc::channel();
                    s.interval(move |s| sender.send(s.interval(|_| ran.come())).unwrap())
                        .schedule();
                    drop(receiver.recv().unwrap());
                })
                .unwrap();
                assert_eq!(ran.get(), round);
            }
        });
    }
}

#[test]
fn all_kinds_of_points_are_orderable() {
    watched(|| {
        for _ in 0..200 {
            let log = Log::default();
            pool(2)
                .run_intervals(|s| {
                    let log = &log;
                    // b starts after the start of a and ends before the end of a. c runs between
                    // the ends of b and a.
                    let a = s.interval(move |_| log.note("a"));
                    let b = s.interval(move |_| log.note("b"));
                    let c = s.interval(move |_| log.note("c"));
                    let d = s.interval(move |_| log.note("d"));
                    a.start().before(b.start()).unwrap();
                    b.end().before(a.end()).unwrap();
                    b.end().before(c.start()).unwrap();
                    c.end().before(a.end()).unwrap();
                    a.end().before(d.start()).unwrap();
                    // Redundant edges do no harm.
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
        let sum = pool(2).run_intervals(|s| {
            let numbers: Vec<IntervalBuilder<'_, u64>> =
                (0..100).map(|i| s.interval(move |_| i)).collect();
            let handles: Vec<Interval<'_, u64>> =
                numbers.iter().map(|n| Interval::clone(n)).collect();
            let sum = s.interval(move |_| handles.iter().map(|n| n.value().unwrap()).sum::<u64>());
            for number in &numbers {
                number.end().before(sum.start()).unwrap();
            }
            let double = sum.then(s, |_, sum| 2 * sum).unwrap().schedule();
            assert_eq!(double.value(), None, "not yet");
            let result = AtomicUsize::new(0);
            numbers
                .into_iter()
                .for_each(|number| drop(number.schedule()));
            sum.schedule();
            while !double.end().has_occurred() {
                std::thread::yield_now();
            }
            result.store(*double.value().unwrap() as usize, Ordering::Relaxed);
            result.into_inner()
        });
        // The body blocks here, so another worker must run the other intervals.
        assert_eq!(sum.unwrap(), 9_900);
    });
}

#[test]
fn inline_interval_ends_with_its_call() {
    watched(|| {
        for workers in [1, 2] {
            let pool = pool(workers);
            let ran = Tally::new();
            pool.run_intervals(|s| {
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
fn locks_exclude_without_blocking_workers() {
    watched(|| {
        for workers in [1, 2, 3] {
            let pool = pool(workers);
            let (one, two) = (Locked::new(0), Locked::new(0));
            let free = Tally::new();
            pool.run_intervals(|s| {
                for task in 0..300 {
                    let (one, two, free) = (&one, &two, &free);
                    match task % 3 {
                        0 => {
                            let mut both = s.interval(move |s| {
                                let seen = one.with(s, |one| *one);
                                // The interval keeps its locks until its inner intervals have
                                // ended, too.
                                s.interval(|_| _ = fib(6));
                                two.with(s, |two| *two += 1);
                                one.with(s, |one| *one = seen + 1);
                            });
                            both.lock(two.handle()).unwrap();
                            both.lock(one.handle()).unwrap();
                        }
                        1 => {
                            let mut single = s.interval(move |s| one.with(s, |one| *one += 1));
                            single.lock(one.handle()).unwrap();
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
fn lock_passes_between_pools_and_trees() {
    watched(|| {
        let rounds = soak(30, "rounds of trees that share a lock");
        let pools = [pool(1), pool(2)];
        let (lock, other) = (Locked::new(0), Lock::new());
        std::thread::scope(|threads| {
            for thread in 0..4 {
                let (pool, lock, other) = (&pools[thread % 2], &lock, &other);
                threads.spawn(move || {
                    for _ in 0..rounds {
                        pool.run_intervals(|s| {
                            for task in 0..10 {
                                let mut add = s.interval(move |s| lock.with(s, |sum| *sum += 1));
                                if task % 2 == 0 {
                                    add.lock(other).unwrap();
                                }
                                add.lock(lock.handle()).unwrap();
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
        let builder = Pool::builder().workers(2).share(SharePolicy::Off);
        let pool = built(builder.places(PlaceBy::Each(1)));
        let places = pool.places();
        let astray = Tally::new();
        pool.run_intervals(|s| {
            let mut last: Option<IntervalBuilder<'_>> = None;
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

/// An interval that comes after another interval's start may run while that interval's body still
/// runs.
#[test]
fn start_edge_allows_overlap() {
    watched(|| {
        let own = pool(2);
        for _ in 0..50 {
            let (news, locked) = (Gate::new(), Lock::new());
            own.run_intervals(|s| {
                let first = s.interval(|_| news.wait());
                let beside = s.interval(|_| news.open());
                first.start().before(beside.start()).unwrap();
                // Even an interval that already has its lock does not wait for the body of `first`.
                let mut holder = s.interval(|_| ());
                holder.lock(&locked).unwrap();
                let mut next = s.interval(|_| ());
                next.lock(&locked).unwrap();
                first.start().before(holder.start()).unwrap();
                holder.end().before(first.end()).unwrap();
            })
            .unwrap();
        }
    });
}

#[test]
fn long_pipeline_needs_bounded_memory() {
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
            s: &Scope<'s, 'e>,
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
        pool.run_intervals(|s| {
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
        for queue in QueueKind::ALL {
            let pool = built(Pool::builder().workers(2).queue(*queue));
            let (sum, lock) = (AtomicUsize::new(0), Lock::new());
            pool.run_intervals(|s| {
                let mut row: Vec<Interval<'_>> = Vec::new();
                for _ in 0..20 {
                    let next: Vec<IntervalBuilder<'_>> = (0..10)
                        .map(|_| s.interval(|_| _ = sum.fetch_add(1, Ordering::Relaxed)))
                        .collect();
                    for (before, after) in row.iter().zip(&next) {
                        before.end().before(after.start()).unwrap();
                    }
                    row = next.into_iter().map(IntervalBuilder::schedule).collect();
                    let mut locked = s.interval(|s| drop(s.interval(|_| _ = fib(5))));
                    locked.lock(&lock).unwrap();
                }
            })
            .unwrap();
            assert_eq!(sum.into_inner(), 200, "{queue}");
        }
    });
}

/// The conversion of a name is user code, so it runs without the interval's lock.
#[test]
fn a_name_may_depend_on_the_interval() {
    struct NameOf<'scope>(Interval<'scope, ()>);

    impl From<NameOf<'_>> for std::borrow::Cow<'static, str> {
        fn from(of: NameOf<'_>) -> Self {
            format!("again {:?}", of.0).into()
        }
    }

    watched(|| {
        pool(1)
            .run_intervals(|s| {
                let builder = s.interval(|_| ()).named("first");
                let interval = Interval::clone(&builder);
                let renamed = builder.named(NameOf(interval));
                assert!(format!("{renamed:?}").contains("again"));
            })
            .unwrap();
    });
}
