//! How computations use the pool: limits, nesting, context, panics, and tasks without an iterator.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Barrier, Mutex};
use std::thread;

use orx_parallel::*;
use tidegate::Pool;
use tidegate::policy::SharePolicy;
use tidegate_orx::TidegatePool;
use tidegate_testkit::watched;

/// Creates a pool that does not share the machine, so its workers always have slots.
fn pool(workers: usize) -> Pool {
    let builder = Pool::builder().workers(workers).share(SharePolicy::Off);
    builder.build().unwrap()
}

/// The number of tasks that a computation on `items` items spawns; each task makes one state.
fn tasks(pool: TidegatePool<'_>, items: usize, limit: impl Into<NumThreads>) -> usize {
    let made = AtomicUsize::new(0);
    let state = |_| made.fetch_add(1, Relaxed);
    let computation = (0..items).par().runner(Runner::adaptive_with_pool(pool));
    let computation = computation.num_threads(limit).use_new(state);
    assert_eq!(computation.map(|_, item| item).count(), items);
    made.into_inner()
}

mod limits {
    use super::*;

    #[test]
    fn are_the_least_of_three() {
        let pool = pool(4);
        let pool = TidegatePool::new(&pool);
        assert_eq!(tasks(pool, 1000, 0), 4);
        assert_eq!(tasks(pool, 1000, 3), 3);
        assert_eq!(tasks(pool, 1000, 9), 4);
        assert_eq!(tasks(pool, 2, 0), 2);
    }

    #[test]
    fn follow_the_number_of_workers() {
        let pool = pool(4);
        pool.set_workers(2).unwrap();
        assert_eq!(TidegatePool::new(&pool).max_num_threads().get(), 2);
        assert_eq!(tasks(TidegatePool::new(&pool), 1000, 0), 2);
    }

    #[test]
    fn are_those_of_the_current_pool() {
        let [outer, inner] = [pool(3), pool(2)];
        let current = || TidegatePool::current().max_num_threads().get();
        assert_eq!(
            outer.install(|| (current(), inner.install(current))),
            (3, 2)
        );
        assert_eq!(current(), tidegate::current_num_workers());
    }

    #[test]
    fn one_thread_means_the_calling_thread() {
        let pool = pool(2);
        let items = (0..1000).par().num_threads(1);
        let items = items.runner(Runner::adaptive_with_pool(TidegatePool::new(&pool)));
        let here = thread::current().id();
        assert!(
            items.all(|_| thread::current().id() == here && tidegate::current_worker().is_none())
        );
    }
}

mod workers {
    use super::*;

    #[test]
    fn belong_to_the_pool() {
        let pool = pool(5);
        let items = (0..1000).par();
        let items = items.runner(Runner::adaptive_with_pool(TidegatePool::new(&pool)));
        assert!(items.all(|_| tidegate::current_num_workers() == 5));
    }

    #[test]
    fn run_at_the_same_time() {
        watched(|| {
            let pool = pool(2);
            let both = Barrier::new(2);
            let items = (0..2).par().chunk_size(1);
            let items = items.runner(Runner::fixed_with_pool(TidegatePool::new(&pool)));
            items.for_each(|_| {
                both.wait();
            });
        });
    }

    #[test]
    fn one_alone_processes_everything() {
        watched(|| {
            let pool = pool(1);
            let runner = || Runner::adaptive_with_pool(TidegatePool::new(&pool));
            let sum = || (0..1000).par().runner(runner()).sum::<usize>();
            assert_eq!(sum(), 499_500);
            assert_eq!(pool.install(sum), 499_500);
            let nested = (0..10).par().runner(runner()).map(|_| sum());
            assert_eq!(nested.sum::<usize>(), 4_995_000);
        });
    }
}

mod nesting {
    use super::*;

    fn sum(pool: TidegatePool<'_>, below: usize) -> usize {
        let runner = Runner::adaptive_with_pool(pool);
        (0..below).par().runner(runner).map(|n| n + 1).sum()
    }

    #[test]
    fn works_in_tasks_of_the_pool() {
        watched(|| {
            let pool = pool(2);
            let [named, current] = [TidegatePool::new(&pool), TidegatePool::current()];
            assert_eq!(
                pool.join(|| sum(named, 1000), || sum(current, 100)),
                (500_500, 5050)
            );
            let spawned = pool.spawn(|| sum(TidegatePool::current(), 100));
            assert_eq!(spawned.join(), 5050);
        });
    }

    #[test]
    fn works_in_closures_of_a_computation() {
        watched(|| {
            let pool = pool(2);
            let pool = TidegatePool::new(&pool);
            let outer = (0..200_usize)
                .par()
                .runner(Runner::adaptive_with_pool(pool));
            let sums: Vec<usize> = outer.map(|below| sum(pool, below)).collect();
            let expected = (0..200).map(|below| below * (below + 1) / 2);
            assert_eq!(sums, expected.collect::<Vec<_>>());
        });
    }

    #[test]
    fn meets_no_unrelated_task_under_a_lock() {
        watched(|| {
            let pool = pool(2);
            let pool = TidegatePool::new(&pool);
            let total = Mutex::new(0);
            let outer = (0..200).par().runner(Runner::adaptive_with_pool(pool));
            outer.for_each(|_| *total.lock().unwrap() += sum(pool, 100));
            assert_eq!(total.into_inner().unwrap(), 200 * 5050);
        });
    }

    /// While an item is made, the other tasks spin. The worker that makes it must not run them.
    #[test]
    fn works_in_the_iterator_itself() {
        watched(|| {
            let pool = pool(2);
            let pool = TidegatePool::new(&pool);
            let items = (0..200).map(move |below| sum(pool, below));
            let items = items
                .iter_into_par()
                .runner(Runner::adaptive_with_pool(pool));
            assert_eq!(items.sum::<usize>(), 1_333_300);
        });
    }
}

/// The pool has two tasks and one slot. While the iterator gives its slot up, the other task spins
/// and keeps its own.
mod iterators_that_give_up_their_slot {
    use super::*;

    fn check(give_up: fn()) {
        watched(move || {
            let pool = pool(2);
            let both = Barrier::new(2);
            let items = (0..10_usize).inspect(|item| {
                if *item == 2 {
                    pool.set_workers(1).unwrap();
                }
                if *item >= 2 {
                    give_up();
                }
            });
            let items = items.iter_into_par().chunk_size(1);
            let items = items.runner(Runner::fixed_with_pool(TidegatePool::new(&pool)));
            let sum = items.map(|item| {
                if item < 2 {
                    both.wait();
                }
                item
            });
            assert_eq!(sum.sum::<usize>(), 45);
            // The iterator's worker has continued without a slot, after a grace period.
            assert!(pool.stats().counters.overcommitted > 0);
        });
    }

    #[test]
    fn by_a_fork_continue() {
        check(|| _ = tidegate::join(|| (), || ()));
    }

    #[test]
    fn by_a_blocking_call_continue() {
        check(|| tidegate::blocking(|| ()));
    }

    #[test]
    fn at_a_yield_point_continue() {
        check(tidegate::yield_point);
    }
}

mod context {
    use super::*;
    use tidegate::{CancelToken, Cancelled, TaskLocal, check_cancelled};

    static LOCAL: TaskLocal<u32> = TaskLocal::new();

    /// The two tasks meet, so one of them runs on another thread than the caller.
    #[test]
    fn follows_all_tasks() {
        watched(|| {
            let pool = pool(2);
            let seen = |pool| {
                let both = Barrier::new(2);
                let items = (0..2).par().chunk_size(1);
                let items = items.runner(Runner::fixed_with_pool(pool)).map(|_| {
                    both.wait();
                    LOCAL.get()
                });
                items.collect::<Vec<_>>()
            };
            let named = || seen(TidegatePool::new(&pool));
            let current = || pool.install(|| seen(TidegatePool::current()));
            LOCAL.scope(7, || assert_eq!([named(), current()], [[Some(7); 2]; 2]));
            assert_eq!([named(), current()], [[None; 2]; 2]);
        });
    }

    #[test]
    fn stops_a_fallible_computation() {
        watched(|| {
            let pool = pool(2);
            let token = CancelToken::new();
            let calls = AtomicUsize::new(0);
            let call = |n: usize| {
                check_cancelled()?;
                calls.fetch_add(1, Relaxed);
                token.cancel();
                Ok::<_, Cancelled>(n)
            };
            let runner = Runner::fixed_with_pool(TidegatePool::new(&pool));
            let items = (0..1000).par().runner(runner).map(call);
            let sum = token.run(|| items.into_fallible().sum::<usize>());
            assert_eq!(sum, Err(Cancelled));
            // Each task may pass the check once before the other one cancels the token.
            assert!((1..=2).contains(&calls.into_inner()));
        });
    }
}

mod panics {
    use super::*;

    /// The task that takes the first item panics, and the other tasks take all the others.
    #[test]
    fn resume_after_all_other_tasks() {
        watched(|| {
            for (workers, others) in [(1, 0), (2, 99), (3, 99)] {
                let pool = pool(workers);
                let runner = || Runner::fixed_with_pool(TidegatePool::new(&pool));
                let seen = AtomicUsize::new(0);
                let computation = || {
                    let items = (0..100).par().chunk_size(1).runner(runner());
                    items.for_each(|item| {
                        assert_ne!(item, 0, "low tide");
                        seen.fetch_add(1, Relaxed);
                    });
                };
                let payload = catch_unwind(AssertUnwindSafe(computation)).unwrap_err();
                let message = payload.downcast_ref::<String>().unwrap();
                assert!(message.contains("low tide"), "{message}");
                assert_eq!(seen.into_inner(), others);
                // The pool stays usable.
                assert_eq!((0..100).par().runner(runner()).sum::<usize>(), 4950);
            }
        });
    }

    #[test]
    fn of_a_nested_computation_pass_through_the_outer_one() {
        watched(|| {
            let pool = pool(2);
            let runner = || Runner::adaptive_with_pool(TidegatePool::new(&pool));
            let inner = |n| {
                (0..n)
                    .par()
                    .runner(runner())
                    .for_each(|n| assert_ne!(n, 40))
            };
            let outer = || (0..50).par().runner(runner()).for_each(inner);
            assert!(catch_unwind(AssertUnwindSafe(outer)).is_err());
        });
    }
}

#[test]
fn tasks_without_an_iterator_borrow_and_run() {
    let pool = pool(2);
    let numbers = [4, 8, 15, 16, 23, 42];
    for pool in [TidegatePool::new(&pool), TidegatePool::current()] {
        let [mut sum, mut greatest] = [0, 0];
        let tasks = Tasks::new()
            .push(|| sum = numbers.iter().sum())
            .push(|| greatest = *numbers.iter().max().unwrap());
        pool.run_all(tasks);
        assert_eq!((sum, greatest), (108, 42));
    }
}
