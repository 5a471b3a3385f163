//! Places: which threads run the tasks of a place. No task may be forgotten.

use crate::support::{Gate, Tally, built, fib, soak, watched};
use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use tidegate::{
    Builder, PlaceId, Pool, current_place,
    policy::{Choose, PlaceBy, SharePolicy, StealAmount},
};

/// Returns the builder of a pool with `places` places and `each` workers at each place.
fn placed(places: usize, each: usize) -> Builder {
    let builder = Pool::builder()
        .workers(places * each)
        .share(SharePolicy::Off);
    builder.places(PlaceBy::Each(each))
}

fn catch<R>(f: impl FnOnce() -> R) -> std::thread::Result<R> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(f))
}

/// Whether the current task runs at `place`, or in a part of it.
fn is_at(pool: &Pool, place: PlaceId) -> bool {
    let place = if place.is_strict() {
        place
    } else {
        place.strict()
    };
    let mut here = current_place().map(PlaceId::strict);
    while here.is_some_and(|here| here != place) {
        here = here.and_then(|here| pool.parent_of(here));
    }
    here.is_some()
}

#[test]
fn outermost_place_holds_all_workers() {
    watched(|| {
        let pool = built(placed(3, 2));
        let places = pool.places();
        let distinct: HashSet<_> = places.iter().copied().collect();
        assert_eq!((places.len(), distinct.len()), (3, 3));
        let all = pool.parent_of(places[0]).expect("one of three");
        for place in places {
            assert_eq!(
                (pool.workers_at(place), pool.parent_of(place)),
                (2, Some(all))
            );
            assert!(!pool.cpus_at(place).is_empty());
        }
        assert_eq!((pool.workers_at(all), pool.parent_of(all)), (6, None));
        let one = built(Pool::builder().workers(2).places(PlaceBy::Machine));
        assert_eq!(one.places().len(), 1);
        assert_eq!(one.parent_of(one.places()[0]), None);
        assert_eq!(current_place(), None, "no worker");
    });
}

#[test]
fn foreign_place_is_rejected() {
    watched(|| {
        let (pool, other) = (built(placed(2, 1)), built(placed(2, 1)));
        let place = other.places()[0];
        let refused = catch(|| pool.install_at(place, || ()));
        let payload = refused.unwrap_err();
        let text = payload.downcast_ref::<String>().expect("a message");
        assert!(text.contains("belongs to another pool"), "{text}");
        let refused = catch(|| pool.scope(|s| s.spawn_at(place, |_| ())));
        assert!(refused.is_err());
    });
}

#[test]
fn strict_task_stays_at_place() {
    watched(|| {
        for (places, each) in [(2, 1), (2, 2), (4, 1)] {
            for amount in [StealAmount::One, StealAmount::Half] {
                let pool = built(placed(places, each).steal(amount));
                let all = pool.places();
                let (ran, astray) = (Tally::new(), Tally::new());
                pool.scope(|s| {
                    for round in 0..300 {
                        let place = all[round % places].strict();
                        let (pool, ran, astray) = (&pool, &ran, &astray);
                        s.spawn_at(place, move |s| {
                            if !is_at(pool, place) {
                                astray.come();
                            }
                            // Meanwhile, other workers leave their CPU slots and take them again.
                            fib(8);
                            s.spawn(|_| ran.come());
                            tidegate::blocking(|| ran.come());
                        });
                    }
                });
                assert_eq!((ran.get(), astray.get()), (600, 0), "{places} places");
            }
        }
    });
}

#[test]
fn open_task_leaves_busy_place() {
    watched(|| {
        let pool = built(placed(2, 1));
        let places = pool.places();
        let (busy, open, strict) = (Gate::new(), Gate::new(), Gate::new());
        let at_the_other = || {
            tidegate::scope(|s| {
                s.spawn_at(places[1].strict(), |_| {
                    busy.open();
                    open.wait();
                    // By now, all tasks that other workers may run have run. The strict task has
                    // not, although it was put there first.
                    assert!(!strict.is_open());
                });
                busy.wait();
                s.spawn_at(places[1].strict(), |_| strict.open());
                for _ in 0..100 {
                    s.spawn_at(places[0], |_| _ = fib(10));
                }
                s.spawn_at(places[1], |_| {
                    assert_eq!(current_place(), Some(places[0]));
                    open.open();
                });
            })
        };
        pool.install_at(places[0].strict(), at_the_other);
        assert!(strict.is_open());
    });
}

#[test]
fn waiting_task_frees_its_cpu_slot() {
    watched(|| {
        for builder in [placed(2, 1), placed(1, 1), placed(2, 1).max_threads(3)] {
            let pool = built(builder);
            let place = pool.places()[0].strict();
            for _ in 0..50 {
                let gate = Gate::new();
                pool.scope(|s| {
                    s.spawn_at(place, |_| tidegate::blocking(|| gate.wait()));
                    s.spawn_at(place, |_| {
                        tidegate::scope(|inner| {
                            inner.spawn_at(place, |_| gate.open());
                            inner.spawn_at(place, |_| _ = fib(5));
                        });
                    });
                });
            }
        }
    });
}

#[test]
fn scope_waiter_wakes_for_placed_task() {
    watched(|| {
        for strict in [false, true] {
            let pool = built(placed(2, 1).max_threads(2));
            let places = pool.places();
            for round in 0..50 {
                let (stolen, ran) = (Gate::new(), Gate::new());
                let place = places[round % 2];
                let there = if strict { place.strict() } else { place };
                let other = places[(round + 1) % 2].strict();
                let body = || {
                    tidegate::scope(|s| {
                        s.spawn_at(other, |s| {
                            stolen.open();
                            // This usually takes long enough for the waiter to fall asleep.
                            fib(16);
                            s.spawn_at(there, |_| ran.open());
                            ran.wait();
                        });
                        stolen.wait();
                    });
                };
                pool.install_at(place.strict(), body);
            }
        }
    });
}

#[test]
fn a_guest_takes_nobody_s_stand() {
    watched(|| {
        let pool = built(placed(2, 1));
        let places = pool.places();
        for _ in 0..50 {
            let ran = Gate::new();
            pool.scope(|s| {
                // A guest runs this without a CPU slot. If no slot was free for a guest, a worker
                // runs it, and that worker has a CPU slot.
                let mut others = places
                    .iter()
                    .filter(|place| current_place() != Some(**place));
                let place = others.next().expect("there are two");
                s.spawn_at(place.strict(), |_| ran.open());
                ran.wait();
            });
        }
    });
}

#[test]
fn calls_move_between_places() {
    fn bounce(pool: &Pool, places: &[PlaceId], left: usize) -> usize {
        let place = places[left % places.len()];
        pool.install_at(place, || {
            assert!(!place.is_strict() || is_at(pool, place));
            if left == 0 {
                0
            } else {
                1 + bounce(pool, places, left - 1)
            }
        })
    }
    watched(|| {
        for threads in [2, 8] {
            let pool = built(placed(2, 1).max_threads(threads));
            let mut places = pool.places();
            assert_eq!(bounce(&pool, &places, 30), 30);
            let both =
                || tidegate::join(|| bounce(&pool, &places, 20), || bounce(&pool, &places, 21));
            assert_eq!(pool.install(both), (20, 21));
            if threads > 2 {
                places = places.into_iter().map(PlaceId::strict).collect();
                assert_eq!(bounce(&pool, &places, 5), 5);
            }
        }
    });
}

#[test]
fn fewer_slots_serve_every_place() {
    watched(|| {
        let pool = built(placed(3, 1));
        let places = pool.places();
        for workers in [1, 2, 3, 1] {
            pool.set_workers(workers).unwrap();
            let counts = [0, 1, 2].map(|_| AtomicUsize::new(0));
            pool.scope(|s| {
                for task in 0..90 {
                    let (place, count) = (places[task % 3].strict(), &counts[task % 3]);
                    let pool = &pool;
                    s.spawn_at(place, move |_| {
                        assert!(is_at(pool, place));
                        count.fetch_add(1, Ordering::Relaxed);
                    });
                }
            });
            assert_eq!(counts.map(AtomicUsize::into_inner), [30, 30, 30]);
        }
    });
}

#[test]
fn sleeping_workers_find_placed_tasks() {
    watched(|| {
        let rounds = soak(2_000, "tasks put at sleeping places");
        let pool = built(placed(2, 1));
        let places = pool.places();
        for round in 0..rounds {
            let place = places[(round / 2) % 2];
            let place = if round % 2 == 0 {
                place
            } else {
                place.strict()
            };
            let at = pool.install_at(place, current_place).expect("a worker");
            assert!(!place.is_strict() || at.strict() == place);
            if round % 5 == 0 {
                std::thread::yield_now();
            }
        }
    });
}

#[test]
fn changing_workers_run_placed_tasks() {
    watched(|| {
        let tasks = soak(4_000, "tasks put by three threads");
        let pool = built(placed(2, 2));
        let places = pool.places();
        let ran = Tally::new();
        std::thread::scope(|threads| {
            for thread in 0..3 {
                let (pool, places, ran) = (&pool, &places, &ran);
                threads.spawn(move || {
                    for round in 0..tasks / 3 / 20 {
                        pool.scope(|s| {
                            for task in 0..20 {
                                let place = places[(task + thread) % 2];
                                let place = if task % 3 == 0 { place.strict() } else { place };
                                s.spawn_at(place, move |_| {
                                    assert!(!place.is_strict() || is_at(pool, place));
                                    fib(task as u64 % 7);
                                    ran.come();
                                });
                            }
                        });
                        if thread == 0 {
                            pool.set_workers(1 + round % 4).unwrap();
                        }
                    }
                });
            }
        });
        assert_eq!(ran.get(), tasks / 3 / 20 * 20 * 3);
    });
}

#[test]
fn placed_panic_surfaces_at_scope() {
    watched(|| {
        let pool = built(placed(2, 1));
        let place = pool.places()[1].strict();
        let panicked = catch(|| {
            pool.scope(|s| s.spawn_at(place, |_| std::panic::panic_any("from there")));
        });
        assert_eq!(panicked.unwrap_err().downcast_ref(), Some(&"from there"));
        let panicked = catch(|| {
            pool.install_at(place, || std::panic::panic_any("from there too"));
        });
        assert_eq!(
            panicked.unwrap_err().downcast_ref(),
            Some(&"from there too")
        );
    });
}

/// Returns the CPUs that the calling thread may run on, according to the kernel.
#[cfg(all(target_os = "linux", not(miri)))]
fn allowed_here() -> tidegate::machine::CpuList {
    let status = std::fs::read_to_string("/proc/thread-self/status").expect("Linux has it");
    let mut lines = status.lines();
    let list = lines.find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    list.expect("a line of it").trim().parse().expect("a list")
}

#[test]
#[cfg(all(target_os = "linux", not(miri)))]
fn bound_worker_keeps_its_cpu() {
    watched(|| {
        let before = allowed_here();
        let pool = built(placed(2, 1).bind(true));
        for _ in 0..100 {
            for place in pool.places() {
                let (here, there) = (
                    pool.cpus_at(place),
                    pool.install_at(place.strict(), allowed_here),
                );
                assert_eq!(here, there);
                // If another thread takes over the CPU slot, it also takes over the slot's CPU.
                pool.install_at(place.strict(), || {
                    tidegate::blocking(std::thread::yield_now)
                });
            }
        }
        assert_eq!(
            allowed_here(),
            before,
            "who calls from outside is never bound"
        );
        let free = built(placed(2, 1));
        assert_eq!(free.install(allowed_here), before);
    });
}
