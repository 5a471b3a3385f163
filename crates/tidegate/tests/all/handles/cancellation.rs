//! Tokens, and the functions that stop when their token is cancelled.

use crate::support::{Gate, pool, watched};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier};
use std::time::Duration;
use tidegate::{
    CancelToken, Cancelled, Pool, TaskLocal, TryError, TryScope, check_cancelled, interval, shield,
    try_for_each, try_join, try_scope, with_deadline,
};

/// The error of a call whose closures return a number as their error.
type Stop = TryError<u32>;

fn cancelled() -> CancelToken {
    let token = CancelToken::new();
    token.cancel();
    token
}

/// Counts how often its clones are dropped.
struct Counts(Arc<AtomicUsize>);

impl Drop for Counts {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::AcqRel);
    }
}

#[test]
fn cancelling_reaches_descendants_only() {
    let root = CancelToken::new();
    let (left, right) = (root.child(), root.child());
    let below = left.child();
    left.cancel();
    let is_cancelled = [&root, &left, &right, &below].map(CancelToken::is_cancelled);
    assert_eq!(is_cancelled, [false, true, false, true]);
    root.cancel();
    assert_eq!(right.check(), Err(Cancelled));
}

#[test]
fn try_join_drops_what_has_not_begun() {
    watched(|| {
        let pool = pool(1);
        let drops = Arc::new(AtomicUsize::new(0));
        let run = |cancel_in_a: bool| {
            let token = CancelToken::new();
            let counts = Counts(drops.clone());
            let ran_b = AtomicUsize::new(0);
            let result = pool.install(|| {
                let a = || {
                    if cancel_in_a {
                        token.cancel();
                    }
                    1
                };
                let b = || {
                    let _counts = &counts;
                    ran_b.fetch_add(1, Ordering::Relaxed);
                    2
                };
                token.run(|| try_join(a, b))
            });
            drop(counts);
            (result, ran_b.into_inner())
        };
        assert_eq!(run(false), (Ok((1, 2)), 1));
        assert_eq!(run(true), (Err(Cancelled), 0));
        assert_eq!(drops.load(Ordering::Acquire), 2);
        assert_eq!(cancelled().run(|| try_join(|| 1, || 2)), Err(Cancelled));
        assert_eq!(try_join(|| 1, || 2), Ok((1, 2)));
    });
}

/// Both halves have begun, on two workers, when the token is cancelled.
#[test]
fn try_join_returns_what_has_begun() {
    watched(|| {
        let barrier = Barrier::new(2);
        let token = CancelToken::new();
        let half = |n| {
            barrier.wait();
            token.cancel();
            n
        };
        let halves = || token.run(|| try_join(|| half(1), || half(2)));
        assert_eq!(pool(2).install(halves), Ok((1, 2)));
    });
}

#[test]
fn panic_in_try_join_is_resumed() {
    watched(|| {
        let token = CancelToken::new();
        let panics = || token.run(|| try_join(|| panic!("ebb"), || ()));
        let ended = catch_unwind(AssertUnwindSafe(panics));
        assert_eq!(ended.unwrap_err().downcast_ref(), Some(&"ebb"));
        assert!(!token.is_cancelled());
    });
}

#[test]
fn first_error_cancels_the_rest_of_a_scope() {
    watched(|| {
        let pool = pool(1);
        let (ran, drops) = (AtomicUsize::new(0), Arc::new(AtomicUsize::new(0)));
        let result: Result<(), Stop> = pool.install(|| {
            try_scope(|scope| {
                for n in 0..10 {
                    let (ran, counts) = (&ran, Counts(drops.clone()));
                    scope.spawn(move |_| {
                        let _counts = counts;
                        ran.fetch_add(1, Ordering::Relaxed);
                        Err(n)
                    });
                }
                Ok(())
            })
        });
        assert!(matches!(result, Err(Stop::Failed(_))), "{result:?}");
        assert_eq!(ran.into_inner(), 1);
        assert_eq!(drops.load(Ordering::Acquire), 10);
    });
}

#[test]
fn error_of_the_body_cancels_its_tasks() {
    watched(|| {
        let pool = pool(1);
        let ran = AtomicUsize::new(0);
        let result: Result<(), Stop> = pool.install(|| {
            try_scope(|scope| {
                scope.spawn(|_| Ok(_ = ran.fetch_add(1, Ordering::Relaxed)));
                Err(3)
            })
        });
        assert_eq!(result, Err(Stop::Failed(3)));
        assert_eq!(ran.into_inner(), 0);
    });
}

#[test]
fn complete_scope_returns_its_value() {
    watched(|| {
        let ran = AtomicUsize::new(0);
        let result: Result<_, Stop> = try_scope(|scope| {
            for _ in 0..10 {
                scope.spawn(|scope| {
                    scope.spawn(|_| Ok(_ = ran.fetch_add(1, Ordering::Relaxed)));
                    Ok(())
                });
            }
            Ok(7)
        });
        assert_eq!((result, ran.into_inner()), (Ok(7), 10));
        // No task is left to skip: all had begun before this call.
        let result = try_scope(|scope| {
            scope.cancel();
            Ok::<_, u32>(8)
        });
        assert_eq!(result, Ok(8));
    });
}

#[test]
fn panic_in_a_scope_cancels_the_rest() {
    watched(|| {
        let pool = pool(1);
        let ran = AtomicUsize::new(0);
        let panics = || {
            pool.install(|| {
                try_scope(|scope| {
                    for _ in 0..10 {
                        scope.spawn(|_| {
                            ran.fetch_add(1, Ordering::Relaxed);
                            panic!("ebb")
                        });
                    }
                    Ok::<_, u32>(())
                })
            })
        };
        let ended = catch_unwind(AssertUnwindSafe(panics));
        assert_eq!(ended.unwrap_err().downcast_ref(), Some(&"ebb"));
        assert_eq!(ran.into_inner(), 1);
    });
}

#[test]
fn nested_scopes_stop_with_their_parent() {
    watched(|| {
        let pool = pool(2);
        let (inner_stopped, gate) = (AtomicUsize::new(0), Gate::new());
        let result: Result<(), Stop> = pool.install(|| {
            try_scope(|outer| {
                outer.spawn(|_| {
                    let result: Result<(), _> = try_scope(|_| {
                        gate.open();
                        spin_until_cancelled()
                    });
                    assert_eq!(result, Err(TryError::Failed(Cancelled)));
                    inner_stopped.fetch_add(1, Ordering::Relaxed);
                    Ok(())
                });
                outer.spawn(|_| {
                    gate.wait();
                    Err(1)
                });
                Ok(())
            })
        });
        assert_eq!(result, Err(Stop::Failed(1)));
        assert_eq!(inner_stopped.into_inner(), 1);
    });
}

/// A `try_scope` that fails does not cancel the scope around it.
#[test]
fn failed_child_leaves_its_parent_alone() {
    watched(|| {
        let result = try_scope(|_| {
            let inner: Result<(), Stop> = try_scope(|_| Err(1));
            assert_eq!(inner, Err(Stop::Failed(1)));
            check_cancelled()?;
            Ok(7)
        });
        assert_eq!(result, Ok::<_, TryError<Cancelled>>(7));
    });
}

#[test]
fn deadline_stops_nested_work() {
    watched(|| {
        let result = with_deadline(Duration::from_millis(1), || {
            try_scope(|scope| {
                scope.spawn(|_| {
                    let (a, b) = tidegate::join(spin_until_cancelled, spin_until_cancelled);
                    a.and(b)
                });
                Ok(())
            })
        });
        assert_eq!(result.map_err(TryError::into_inner), Err(Cancelled));
    });
}

fn spin_until_cancelled() -> Result<(), Cancelled> {
    loop {
        check_cancelled()?;
        std::thread::yield_now();
    }
}

#[test]
fn shield_hides_the_token_from_everything_below() {
    watched(|| {
        let ran = AtomicUsize::new(0);
        let count = || _ = ran.fetch_add(1, Ordering::Relaxed);
        let check = || {
            let joined = tidegate::join(check_cancelled, check_cancelled);
            assert_eq!(joined, (Ok(()), Ok(())));
            assert_eq!(try_join(count, count), Ok(((), ())));
            // A token that is set inside `shield` works as usual.
            let inner = cancelled();
            assert_eq!(inner.run(check_cancelled), Err(Cancelled));
        };
        cancelled().run(|| {
            assert_eq!(check_cancelled(), Err(Cancelled));
            shield(check);
            assert_eq!(check_cancelled(), Err(Cancelled));
        });
        assert_eq!(ran.into_inner(), 2);
    });
}

#[test]
fn loop_stops_at_its_first_error() {
    watched(|| {
        let pool = pool(2);
        let (visits, drops) = (AtomicUsize::new(0), Arc::new(AtomicUsize::new(0)));
        let items: Vec<_> = (0..1_000).map(|n| (n, Counts(drops.clone()))).collect();
        let result = pool.install(|| {
            try_for_each(items, |(n, _)| {
                visits.fetch_add(1, Ordering::Relaxed);
                // Each item takes long enough to form a block of its own.
                std::thread::sleep(Duration::from_micros(50));
                if n == 3 { Err(n) } else { Ok(()) }
            })
        });
        assert_eq!(result, Err(Stop::Failed(3)));
        assert!(visits.load(Ordering::Relaxed) < 1_000);
        assert_eq!(drops.load(Ordering::Acquire), 1_000);
    });
}

/// The first item fails while the second item runs nested work. The nested work must stop.
#[test]
fn nested_work_of_a_loop_stops_at_its_first_error() {
    watched(|| {
        let barrier = Barrier::new(2);
        let visit = |n: u32| {
            barrier.wait();
            if n == 0 {
                return Err("ebb");
            }
            let (a, b) = tidegate::join(spin_until_cancelled, spin_until_cancelled);
            a.and(b).map_err(|Cancelled| "flow")
        };
        let result = pool(2).install(|| try_for_each(0..2_u32, visit));
        assert_eq!(result, Err(TryError::Failed("ebb")));
    });
}

#[test]
fn panic_stops_a_loop() {
    watched(|| {
        let visits = AtomicUsize::new(0);
        let visit = |_| -> Result<(), u32> {
            visits.fetch_add(1, Ordering::Relaxed);
            panic!("ebb")
        };
        let panics = || pool(1).install(|| try_for_each(0..1_000_u32, visit));
        assert!(catch_unwind(AssertUnwindSafe(panics)).is_err());
        assert_eq!(visits.into_inner(), 1);
    });
}

#[test]
fn loop_sees_its_callers_token() {
    watched(|| {
        let visits = AtomicUsize::new(0);
        let visit = |_| {
            visits.fetch_add(1, Ordering::Relaxed);
            Ok::<_, u32>(())
        };
        let result = cancelled().run(|| try_for_each(0..100_u32, visit));
        assert_eq!(result, Err(Stop::Cancelled));
        assert_eq!(visits.load(Ordering::Relaxed), 0);
        assert_eq!(
            CancelToken::new().run(|| try_for_each(0..100_u32, visit)),
            Ok(())
        );
        assert_eq!(visits.load(Ordering::Relaxed), 100);
        // An empty loop has no items to skip, so it succeeds in spite of the cancelled token.
        assert_eq!(cancelled().run(|| try_for_each(0..0_u32, visit)), Ok(()));
    });
}

#[test]
fn panic_in_a_loop_is_resumed() {
    watched(|| {
        let panics = || try_for_each(0..100_u32, |_| -> Result<(), u32> { panic!("ebb") });
        let ended = catch_unwind(AssertUnwindSafe(panics));
        assert_eq!(ended.unwrap_err().downcast_ref(), Some(&"ebb"));
    });
}

/// Loops without an error type visit every item even if the token is cancelled, because their
/// callers rely on it.
#[test]
fn plain_functions_ignore_the_token() {
    watched(|| {
        let visits = AtomicUsize::new(0);
        cancelled().run(|| {
            tidegate::for_each(0..100_u32, |_| _ = visits.fetch_add(1, Ordering::Relaxed));
            assert_eq!(tidegate::map_reduce(0..4, |n| n, |a, b| a + b), Some(6));
            assert_eq!(tidegate::par_map(0..4, |n| n), [0, 1, 2, 3]);
            let mut numbers: Vec<u32> = (0..10_000).map(|n| n * 37 % 1_009).collect();
            tidegate::sort_unstable(&mut numbers);
            assert!(numbers.is_sorted());
            tidegate::scope(|s| s.spawn(|_| _ = visits.fetch_add(1, Ordering::Relaxed)));
        });
        assert_eq!(visits.into_inner(), 101);
    });
}

#[test]
fn cancelled_intervals_do_not_run() {
    watched(|| {
        let token = CancelToken::new();
        let ran = AtomicUsize::new(0);
        let result = token.run(|| {
            interval::run(|scope| {
                let first = scope.interval(|_| token.cancel());
                let second = scope.interval(|_| _ = ran.fetch_add(1, Ordering::Relaxed));
                first.end().before(second.start()).unwrap();
            })
        });
        let failure = result.unwrap_err();
        assert!(failure.error().is_some_and(|error| error.is::<Cancelled>()));
        assert_eq!(ran.into_inner(), 0);
    });
}

/// A spawned task keeps its token, and the end of the pool waits for the task.
#[test]
fn dropped_pool_waits_for_cancelled_tasks() {
    watched(|| {
        let pool = Pool::builder().workers(1).build().unwrap();
        let token = CancelToken::new();
        let (ended, has_ended) = channel();
        drop(token.run(|| {
            pool.spawn(move || {
                let result = try_scope(|scope| {
                    scope.spawn(|_| spin_until_cancelled());
                    Ok(())
                });
                ended.send(result.map_err(TryError::into_inner)).unwrap();
            })
        }));
        token.cancel();
        drop(pool);
        assert_eq!(has_ended.try_recv(), Ok(Err(Cancelled)));
    });
}

/// Each task sets a value and spawns the next task. If contexts grew with each task, dropping the
/// last one would cause a deep recursion.
#[test]
fn long_chains_of_tasks_keep_their_context_small() {
    static LEFT: TaskLocal<u32> = TaskLocal::new();
    fn next(scope: &TryScope<'_, '_, u32>, left: u32) {
        scope.spawn(move |scope| {
            if left > 0 {
                LEFT.scope(left, || next(scope, left - 1));
            }
            Ok(())
        });
    }
    watched(|| {
        let chain = |scope: &TryScope<'_, '_, u32>| {
            next(scope, 100_000);
            Ok(())
        };
        assert_eq!(pool(2).install(|| try_scope(chain)), Ok(()));
    });
}

#[test]
fn task_keeps_the_deadline_of_its_spawner() {
    watched(|| {
        let result = try_scope(|scope| {
            with_deadline(Duration::from_millis(1), || {
                scope.spawn(|_| spin_until_cancelled());
            });
            Ok(())
        });
        assert_eq!(result.map_err(TryError::into_inner), Err(Cancelled));
    });
}

#[test]
fn a_thread_outside_spawns_into_the_scopes_token() {
    watched(|| {
        let result: Result<(), Stop> = try_scope(|scope| {
            std::thread::scope(|s| {
                s.spawn(|| {
                    scope.spawn(|_| {
                        assert!(CancelToken::current().is_some());
                        Err(2)
                    });
                });
            });
            Ok(())
        });
        assert_eq!(result, Err(Stop::Failed(2)));
    });
}
