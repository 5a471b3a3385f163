//! `sort` and `sort_unstable` sort any slice as the standard library does, and lose no item if a
//! comparison panics.

use crate::support::{Gate, built, pool, watched};
use std::cmp::Ordering;
use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use tidegate::policy::SharePolicy;
use tidegate::{
    Pool, sort, sort_by, sort_by_cached_key, sort_by_key, sort_unstable, sort_unstable_by,
    sort_unstable_by_key,
};

/// Several times the length of a piece, which the standard library sorts.
const LENGTH: usize = if cfg!(miri) { 300 } else { 30_000 };

/// Under Miri, only some cases are tested.
const STEP: usize = if cfg!(miri) { 17 } else { 1 };

const WORKERS: &[usize] = if cfg!(miri) { &[2] } else { &[1, 3] };

fn random(length: usize, below: u64) -> Vec<u64> {
    let mut random = fastrand::Rng::with_seed(7);
    (0..length).map(|_| random.u64(..below)).collect()
}

/// Sorts the items outside of all pools and on workers.
fn check<T: Ord + Clone + Send + Sync + Debug>(items: &[T]) {
    let mut expected = items.to_vec();
    expected.sort();
    for sort in [sort, sort_unstable] {
        let sorted = || {
            let mut items = items.to_vec();
            sort(&mut items);
            items
        };
        assert_eq!(sorted(), expected);
        for workers in WORKERS {
            assert_eq!(pool(*workers).install(sorted), expected);
        }
    }
}

type Marked = (u64, Arc<()>);

mod sorting {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "Miri checks the merges, which are unsafe code")]
    fn orders_random_items() {
        watched(|| {
            let lengths = [0, 1, 2, 127, 128, 129, 2047, 2048, 2049, LENGTH];
            for length in lengths.into_iter().filter(|length| *length <= LENGTH) {
                check(&random(length, u64::MAX));
            }
            let texts = random(LENGTH, u64::MAX).into_iter().map(|n| n.to_string());
            check(&texts.collect::<Vec<_>>());
        });
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri checks the merges, which are unsafe code")]
    fn orders_few_different_items() {
        watched(|| {
            for values in [1, 2, 3, 20] {
                check(&random(LENGTH, values));
            }
            check(&[(); LENGTH]);
        });
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri checks the merges, which are unsafe code")]
    fn orders_patterns() {
        watched(|| {
            let up = || 0..LENGTH as u64;
            let cases: [Vec<u64>; 7] = [
                up().collect(),
                up().rev().collect(),
                up().map(|n| n / 9).rev().collect(),
                up().chain(0..9).collect(),
                up().chain(up().rev()).collect(),
                up().flat_map(|n| [n, 5]).collect(),
                up().flat_map(|n| [n / 2, n]).collect(),
            ];
            cases
                .iter()
                .step_by(STEP.min(3))
                .for_each(|case| check(case));
        });
    }

    /// Only the last two items are in the wrong order.
    #[test]
    #[cfg_attr(miri, ignore = "Miri checks the merges, which are unsafe code")]
    fn notices_the_last_items() {
        watched(|| {
            let pool = pool(2);
            for length in LENGTH - 70..LENGTH {
                let mut items: Vec<_> = (0..length).collect();
                items.swap(length - 2, length - 1);
                pool.install(|| sort_unstable(&mut items));
                assert!(items.is_sorted(), "{length}");
            }
        });
    }

    #[test]
    fn keeps_order_of_equal_items() {
        watched(|| {
            for values in [20, 1, 2, u64::MAX].into_iter().step_by(STEP) {
                let items: Vec<_> = random(LENGTH, values).into_iter().enumerate().collect();
                let mut expected = items.clone();
                expected.sort_by_key(|item| item.1);
                for workers in WORKERS {
                    let sorted = |sort: fn(&mut [(usize, u64)])| {
                        let mut items = items.clone();
                        pool(*workers).install(|| sort(&mut items));
                        items
                    };
                    assert_eq!(sorted(|items| sort_by_key(items, |item| item.1)), expected);
                    assert_eq!(
                        sorted(|items| sort_by_cached_key(items, |item| item.1)),
                        expected
                    );
                    let descending = sorted(|items| sort_by(items, |a, b| b.1.cmp(&a.1)));
                    let is_right =
                        |a: &(usize, u64), b: &(usize, u64)| a.1 > b.1 || (a.1 == b.1 && a.0 < b.0);
                    assert!(descending.is_sorted_by(is_right));
                }
            }
        });
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri checks the merges, which are unsafe code")]
    fn takes_a_comparison() {
        watched(|| {
            let mut floats: Vec<f64> = random(LENGTH, 1 << 50).iter().map(|n| *n as f64).collect();
            let descending = |a: &f64, b: &f64| b.total_cmp(a);
            pool(2).install(|| sort_unstable_by(&mut floats, descending));
            assert!(floats.is_sorted_by(|a, b| a >= b));
            pool(2).install(|| sort_unstable_by_key(&mut floats, |float| *float as u64));
            assert!(floats.is_sorted());
        });
    }

    /// Serial and parallel runs make the same comparisons.
    #[test]
    #[cfg_attr(miri, ignore = "Miri checks the merges, which are unsafe code")]
    fn depends_only_on_the_items() {
        watched(|| {
            let sorted = |workers: usize| {
                let keys = random(LENGTH, 50).into_iter();
                let mut items: Vec<_> = keys.enumerate().collect();
                let by_key = |a: &(usize, u64), b: &(usize, u64)| a.1.cmp(&b.1);
                pool(workers).install(|| sort_unstable_by(&mut items, by_key));
                items
            };
            assert_eq!(sorted(1), sorted(3));
        });
    }

    /// If each pivot were the smallest item, the sort would take quadratic time.
    #[test]
    #[cfg_attr(miri, ignore = "Miri checks the merges, which are unsafe code")]
    fn needs_few_comparisons() {
        watched(|| {
            let comparisons = AtomicUsize::new(0);
            let compare = |a: &u64, b: &u64| {
                comparisons.fetch_add(1, Relaxed);
                a.cmp(b)
            };
            let length = LENGTH as u64;
            let mountain: Vec<u64> = (0..length).chain((0..length).rev()).collect();
            for mut items in [random(LENGTH, 2), random(LENGTH, u64::MAX), mountain] {
                let most = 4 * items.len() * items.len().ilog2() as usize;
                pool(2).install(|| sort_unstable_by(&mut items, compare));
                assert!(comparisons.swap(0, Relaxed) < most);
            }
        });
    }
}

mod polling {
    use super::*;

    /// The pool loses one of its two slots during the check whether `items` are sorted. The other
    /// slot is in use, so a worker that polls then continues without a slot.
    fn check(mut items: Vec<u64>) {
        let pool = built(Pool::builder().workers(2).share(SharePolicy::Off));
        let (begun, ended, comparisons) = (Gate::new(), Gate::new(), AtomicUsize::new(0));
        let compare = |a: &u64, b: &u64| {
            // Not the first comparison, which is the only one of the ascending check if the items
            // descend.
            if comparisons.fetch_add(1, Relaxed) == 1 {
                pool.set_workers(1).unwrap();
            }
            a.cmp(b)
        };
        let overcommitted = || pool.stats().counters.overcommitted;
        let sort = || {
            begun.wait();
            sort_unstable_by(&mut items, compare);
            let polled = overcommitted();
            ended.open();
            polled
        };
        let occupy = || {
            begun.open();
            ended.wait();
        };
        assert_eq!(pool.join(sort, occupy), (1, ()));
        assert!(items.is_sorted());
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri checks the merges, which are unsafe code")]
    fn happens_in_the_ascending_check() {
        watched(|| check((0..LENGTH as u64).collect()));
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri checks the merges, which are unsafe code")]
    fn happens_in_the_descending_check() {
        watched(|| check((0..LENGTH as u64).rev().collect()));
    }
}

mod panics {
    use super::*;

    /// Sorts with `sort` until the comparison with this number panics.
    fn check(
        at: usize,
        sort: impl Fn(&mut [Marked], &(dyn Fn(&Marked, &Marked) -> Ordering + Sync)) + Sync,
    ) {
        let marker = Arc::new(());
        let keys = random(LENGTH, u64::MAX).into_iter();
        let mut items: Vec<_> = keys.map(|key| (key, marker.clone())).collect();
        let comparisons = AtomicUsize::new(0);
        let compare = |a: &Marked, b: &Marked| {
            if comparisons.fetch_add(1, Relaxed) == at {
                resume_unwind(Box::new(at));
            }
            a.0.cmp(&b.0)
        };
        let sort = || pool(2).install(|| sort(&mut items, &compare));
        let payload = catch_unwind(AssertUnwindSafe(sort)).unwrap_err();
        assert_eq!(payload.downcast_ref(), Some(&at));

        let (mut keys, mut expected) = (Vec::new(), random(LENGTH, u64::MAX));
        keys.extend(items.iter().map(|item| item.0));
        keys.sort();
        expected.sort();
        assert_eq!(keys, expected);
        drop(items);
        assert_eq!(Arc::strong_count(&marker), 1);
    }

    #[test]
    fn keep_all_items() {
        watched(|| {
            // The merges of `sort` begin after the tenth comparison for each item or so.
            for at in [5, 1, LENGTH, 5 * LENGTH].into_iter().step_by(STEP) {
                check(at, |items, compare| sort_unstable_by(items, compare));
            }
            let last = LENGTH * LENGTH.ilog2() as usize - 2 * LENGTH;
            for at in [1, 5, LENGTH, 5 * LENGTH]
                .into_iter()
                .chain((last / 2..last).step_by(LENGTH))
            {
                check(at, |items, compare| sort_by(items, compare));
            }
        });
    }

    /// Such a comparison may panic or give any order, but loses no item.
    #[test]
    fn of_inconsistent_comparisons_keep_all_items() {
        watched(|| {
            let calls = AtomicUsize::new(0);
            let compare = |_: &u64, _: &u64| match calls.fetch_add(1, Relaxed) * 7 % 3 {
                0 => Ordering::Less,
                1 => Ordering::Equal,
                _ => Ordering::Greater,
            };
            let mut expected = random(LENGTH, u64::MAX);
            expected.sort();
            for is_stable in [false, true] {
                let mut items = random(LENGTH, u64::MAX);
                let sort = || {
                    if is_stable {
                        sort_by(&mut items, compare);
                    } else {
                        sort_unstable_by(&mut items, compare);
                    }
                };
                let _ = catch_unwind(AssertUnwindSafe(|| pool(2).install(sort)));
                items.sort();
                assert_eq!(items, expected);
            }
        });
    }
}
