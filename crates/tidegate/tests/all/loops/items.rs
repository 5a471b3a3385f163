//! What loops and reductions accept: items of each kind are visited once, and owned items are
//! dropped once.

use crate::support::{pool, watched};
use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tidegate::{ParallelItems, Pool};

const LENGTH: usize = if cfg!(miri) { 50 } else { 5_000 };

/// Returns the items that a loop has visited, sorted, and the items that a reduction has visited,
/// in order.
fn visited<I: ParallelItems, T: Ord + Send>(
    (pool, items): (&Pool, impl Fn() -> I),
    map: impl Fn(I::Item) -> T + Sync,
) -> (Vec<T>, Vec<T>) {
    let seen = Mutex::new(Vec::new());
    pool.for_each(items(), |item| seen.lock().unwrap().push(map(item)));
    let mut seen = seen.into_inner().unwrap();
    seen.sort();
    let append = |mut left: Vec<T>, right| {
        left.extend(right);
        left
    };
    let reduced = pool.map_reduce(items(), |item| vec![map(item)], append);
    (seen, reduced.unwrap_or_default())
}

mod ranges {
    use super::*;

    fn check<N: Ord + Send + Debug + Clone>(
        range: impl ParallelItems<Item = N> + Iterator<Item = N> + Clone,
    ) {
        for workers in [1, 2] {
            let all: Vec<N> = range.clone().collect();
            let seen = visited((&pool(workers), || range.clone()), |n| n);
            assert_eq!(seen, (all.clone(), all));
        }
    }

    #[test]
    fn of_every_number_are_visited() {
        watched(|| {
            let half = LENGTH as i32 / 2;
            check(-half..half);
            check(i64::MIN..i64::MIN + i64::from(half));
            check(i32::MAX - half..i32::MAX);
            check(u32::MAX - half as u32..u32::MAX);
            check(u64::MAX - half as u64..u64::MAX);
            check(0..LENGTH);
            check(5_u64..5);
        });
    }

    #[test]
    fn with_their_end_are_visited() {
        watched(|| {
            let half = LENGTH as i32 / 2;
            check(-half..=half);
            check(i64::MIN..=i64::MIN + i64::from(half));
            check(i32::MAX - half..=i32::MAX);
            check(u32::MAX - half as u32..=u32::MAX);
            check(u64::MAX - half as u64..=u64::MAX);
            check(usize::MAX..=usize::MAX);
            check(0..=LENGTH);
        });
    }

    #[test]
    fn with_their_end_may_be_empty() {
        watched(|| {
            #[expect(clippy::reversed_empty_ranges, reason = "that is what is tested")]
            check(5..=4);
            let mut used = 0..=LENGTH;
            assert_eq!((used.next(), used.next_back()), (Some(0), Some(LENGTH)));
            check(used.clone());
            assert_eq!(used.by_ref().count(), LENGTH - 1);
            check(used);
            let mut last = u64::MAX..=u64::MAX;
            assert_eq!(last.nth(1), None);
            check(last);
        });
    }

    /// A loop over all numbers of a type would never end, so these ranges panic instead.
    #[test]
    fn of_all_numbers_are_not_empty() {
        watched(|| {
            let pool = pool(2);
            let visits = AtomicUsize::new(0);
            let stop = |_| {
                visits.fetch_add(1, Ordering::Relaxed);
                std::panic::resume_unwind(Box::new(()));
            };
            let run = || pool.for_each(0..=u64::MAX, stop);
            assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
            let run = || pool.map_reduce(i64::MIN..=i64::MAX, |_| stop(0), |(), ()| ());
            assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
            assert!(visits.into_inner() >= 2);
        });
    }

    #[test]
    fn need_no_type_to_index() {
        let values = [1, 2, 3];
        tidegate::for_each(0..3, |i| assert_eq!(values[i], i + 1));
        assert_eq!(
            tidegate::map_reduce(0..3, |i| values[i], |a, b| a + b),
            Some(6)
        );
    }
}

mod slices {
    use super::*;

    #[test]
    fn are_reduced_in_order() {
        watched(|| {
            let numbers: Vec<usize> = (0..LENGTH).collect();
            let seen = visited((&pool(2), || &numbers[..]), |n| *n);
            assert_eq!(seen, (numbers.clone(), numbers));
        });
    }

    #[test]
    fn are_changed_by_reductions() {
        watched(|| {
            let mut numbers: Vec<usize> = (0..LENGTH).collect();
            let replace = |n: &mut usize| std::mem::replace(n, 1);
            let sum = pool(2).map_reduce(&mut numbers[..], replace, |a, b| a + b);
            assert_eq!(sum, Some(LENGTH * (LENGTH - 1) / 2));
            assert!(numbers.iter().all(|n| *n == 1));
        });
    }

    #[test]
    fn may_be_borrowed_vectors() {
        watched(|| {
            let pool = pool(2);
            let mut numbers: Vec<usize> = (0..LENGTH).collect();
            let seen = visited((&pool, || &numbers), |n| *n);
            assert_eq!(seen, (numbers.clone(), numbers.clone()));
            pool.for_each(&mut numbers, |n| *n += 1);
            assert!(numbers.into_iter().eq(1..=LENGTH));
            pool.for_each(&mut Vec::<u8>::new(), |_| panic!("visited"));
        });
    }

    #[test]
    fn may_be_borrowed_arrays() {
        watched(|| {
            let pool = pool(2);
            let mut numbers: [usize; 500] = std::array::from_fn(|i| i);
            let seen = visited((&pool, || &numbers), |n| *n);
            assert_eq!(seen, (numbers.to_vec(), numbers.to_vec()));
            pool.for_each(&mut numbers, |n| *n += 1);
            assert!(numbers.into_iter().eq(1..=500));
            pool.for_each(&[0_u8; 0], |_| panic!("visited"));
        });
    }
}

mod chunks {
    use super::*;

    #[test]
    fn are_those_of_a_slice() {
        watched(|| {
            let numbers: Vec<usize> = (0..LENGTH).collect();
            for size in [1, 3, LENGTH - 1, LENGTH, usize::MAX] {
                let plain: Vec<_> = numbers.chunks(size).collect();
                let seen = visited((&pool(2), || tidegate::chunks(&numbers, size)), |it| it);
                assert_eq!(seen, (plain.clone(), plain));
            }
        });
    }

    #[test]
    fn are_changed_in_place() {
        watched(|| {
            let mut numbers = vec![0; LENGTH];
            pool(2).for_each(tidegate::chunks_mut(&mut numbers, 7), |chunk| {
                let length = chunk.len();
                chunk.iter_mut().for_each(|n| *n += length);
            });
            let last = LENGTH % 7;
            let expected = |i| if i < LENGTH - last { 7 } else { last };
            assert!(numbers.iter().enumerate().all(|(i, n)| *n == expected(i)));
        });
    }

    #[test]
    fn of_nothing_are_none() {
        tidegate::for_each(tidegate::chunks::<u8>(&[], 3), |_| panic!("visited"));
    }

    #[test]
    #[should_panic(expected = "chunks must have at least one item")]
    fn of_no_items_are_refused() {
        let _ = tidegate::chunks(&[1, 2], 0);
    }
}

mod vectors {
    use super::*;

    fn markers(marker: &Arc<()>) -> Vec<(usize, Arc<()>)> {
        (0..LENGTH).map(|i| (i, marker.clone())).collect()
    }

    #[test]
    fn give_their_items_away() {
        watched(|| {
            for workers in [1, 2] {
                let marker = Arc::new(());
                let all: Vec<usize> = (0..LENGTH).collect();
                let seen = visited((&pool(workers), || markers(&marker)), |(i, _)| i);
                assert_eq!(seen, (all.clone(), all));
                assert_eq!(Arc::strong_count(&marker), 1);
            }
        });
    }

    #[test]
    fn drop_items_once_if_call_panics() {
        watched(|| {
            for at in [0, LENGTH / 2, LENGTH - 1] {
                let marker = Arc::new(());
                let own = pool(2);
                let stop = |(i, _): (usize, Arc<()>)| {
                    if i == at {
                        std::panic::resume_unwind(Box::new(i));
                    }
                };
                let run = || own.for_each(markers(&marker), stop);
                let payload = catch_unwind(AssertUnwindSafe(run)).unwrap_err();
                assert_eq!(payload.downcast_ref(), Some(&at));
                assert_eq!(Arc::strong_count(&marker), 1);

                let run = || own.map_reduce(markers(&marker), stop, |(), ()| ());
                assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
                assert_eq!(Arc::strong_count(&marker), 1);
            }
        });
    }

    #[test]
    fn drop_items_once_if_reduction_panics() {
        watched(|| {
            let marker = Arc::new(());
            let calls = AtomicUsize::new(0);
            let reduce = |left, _| {
                if calls.fetch_add(1, Ordering::Relaxed) == LENGTH / 3 {
                    std::panic::resume_unwind(Box::new(()));
                }
                left
            };
            let run = || tidegate::map_reduce(markers(&marker), |item| item, reduce);
            assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
            assert_eq!(Arc::strong_count(&marker), 1);
        });
    }

    #[test]
    fn work_with_free_functions() {
        watched(|| {
            let marker = Arc::new(());
            tidegate::for_each(markers(&marker), drop);
            let last = tidegate::map_reduce(markers(&marker), |(i, _)| i, usize::max);
            assert_eq!(last, Some(LENGTH - 1));
            tidegate::for_each(Vec::<u8>::new(), |_| panic!("visited"));
            assert_eq!(Arc::strong_count(&marker), 1);
        });
    }
}

mod arrays {
    use super::*;

    const LENGTH: usize = 500;

    /// Counts how often each item is dropped.
    struct Counted<'a>(usize, &'a [AtomicUsize]);

    impl Drop for Counted<'_> {
        fn drop(&mut self) {
            self.1[self.0].fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Calls `f` with an array that `f` must consume, and checks that each item is dropped once.
    fn check(f: impl FnOnce([Counted<'_>; LENGTH])) {
        let drops: [AtomicUsize; LENGTH] = std::array::from_fn(|_| AtomicUsize::new(0));
        f(std::array::from_fn(|i| Counted(i, &drops)));
        assert_eq!(drops.map(AtomicUsize::into_inner), [1; LENGTH]);
    }

    #[test]
    fn give_their_items_away() {
        watched(|| {
            let pool = pool(2);
            check(|array| pool.for_each(array, drop));
            check(|array| {
                let order = pool.map_reduce(array, |item| vec![item.0], |a, b| [a, b].concat());
                assert!(order.unwrap().into_iter().eq(0..LENGTH));
            });
            check(|array| tidegate::for_each(array, drop));
        });
    }

    #[test]
    fn drop_items_once_if_call_panics() {
        watched(|| {
            for at in [0, LENGTH / 2, LENGTH - 1] {
                let pool = pool(2);
                let stop = |item: Counted<'_>| {
                    if item.0 == at {
                        std::panic::resume_unwind(Box::new(at));
                    }
                };
                check(|array| {
                    let run = || pool.for_each(array, stop);
                    let payload = catch_unwind(AssertUnwindSafe(run)).unwrap_err();
                    assert_eq!(payload.downcast_ref(), Some(&at));
                });
                check(|array| {
                    let run = || pool.map_reduce(array, stop, |(), ()| ());
                    assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
                });
            }
        });
    }

    #[test]
    fn may_hold_nothing() {
        tidegate::for_each([0_u8; 0], |_| panic!("visited"));
        assert_eq!(
            tidegate::map_reduce([(); LENGTH], |()| 1, |a, b| a + b),
            Some(LENGTH)
        );
    }
}

mod pools {
    use super::*;
    use tidegate::current_num_workers;

    #[test]
    fn run_their_loops_themselves() {
        watched(|| {
            let (own, other) = (pool(3), pool(2));
            let check = || {
                own.for_each(0..10, |_| assert_eq!(current_num_workers(), 3));
                own.map_reduce(0..10, |_| current_num_workers(), |a, b| a.max(b))
            };
            assert_eq!(check(), Some(3));
            assert_eq!(other.install(check), Some(3));
            assert_eq!(own.install(check), Some(3));
        });
    }

    #[test]
    fn have_the_workers_that_were_set() {
        let pool = pool(3);
        assert_eq!(pool.workers(), 3);
        pool.set_workers(2).unwrap();
        assert_eq!((pool.workers(), pool.install(current_num_workers)), (2, 2));
    }
}
