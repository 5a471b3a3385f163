//! `sort_unstable` sorts any slice as the standard library does, and loses no item if a comparison
//! panics.

use crate::support::{Gate, built, pool, watched};
use std::cmp::Ordering;
use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use tidegate::policy::SharePolicy;
use tidegate::{Pool, sort_unstable, sort_unstable_by};

/// Several times the length of a piece, which the standard library sorts.
const LENGTH: usize = if cfg!(miri) { 300 } else { 30_000 };

const WORKERS: &[usize] = if cfg!(miri) { &[2] } else { &[1, 3] };

fn random(length: usize, below: u64) -> Vec<u64> {
    let mut random = fastrand::Rng::with_seed(7);
    (0..length).map(|_| random.u64(..below)).collect()
}

/// Sorts the items outside of all pools and on workers.
fn check<T: Ord + Clone + Send + Sync + Debug>(items: &[T]) {
    let mut expected = items.to_vec();
    expected.sort();
    let sorted = || {
        let mut items = items.to_vec();
        sort_unstable(&mut items);
        items
    };
    // Miri isolates programs from the machine, whose description the global pool reads.
    if !cfg!(miri) {
        assert_eq!(sorted(), expected);
    }
    for workers in WORKERS {
        assert_eq!(pool(*workers).install(sorted), expected);
    }
}

mod sorting {
    use super::*;

    #[test]
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
    fn orders_few_different_items() {
        watched(|| {
            for values in [1, 2, 3, 20] {
                check(&random(LENGTH, values));
            }
            check(&[(); LENGTH]);
        });
    }

    #[test]
    fn orders_patterns() {
        watched(|| {
            let up = || 0..LENGTH as u64;
            let cases: [Vec<u64>; 6] = [
                up().collect(),
                up().rev().collect(),
                up().map(|n| n / 9).rev().collect(),
                up().chain(0..9).collect(),
                up().chain(up().rev()).collect(),
                up().flat_map(|n| [n, 5]).collect(),
            ];
            cases.iter().for_each(|case| check(case));
        });
    }

    #[test]
    fn takes_a_comparison() {
        watched(|| {
            let mut floats: Vec<f64> = random(LENGTH, 1 << 50).iter().map(|n| *n as f64).collect();
            let descending = |a: &f64, b: &f64| b.total_cmp(a);
            pool(2).install(|| sort_unstable_by(&mut floats, descending));
            assert!(floats.is_sorted_by(|a, b| a >= b));
        });
    }

    /// Serial and parallel runs make the same comparisons.
    #[test]
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
    fn happens_in_the_ascending_check() {
        watched(|| check((0..LENGTH as u64).collect()));
    }

    #[test]
    fn happens_in_the_descending_check() {
        watched(|| check((0..LENGTH as u64).rev().collect()));
    }
}

mod panics {
    use super::*;

    #[test]
    fn keep_all_items() {
        watched(|| {
            for at in [1, 5, LENGTH, 5 * LENGTH] {
                let marker = Arc::new(());
                let keys = random(LENGTH, u64::MAX).into_iter();
                let mut items: Vec<_> = keys.map(|key| (key, marker.clone())).collect();
                let comparisons = AtomicUsize::new(0);
                let compare = |a: &(u64, Arc<()>), b: &(u64, Arc<()>)| {
                    if comparisons.fetch_add(1, Relaxed) == at {
                        resume_unwind(Box::new(at));
                    }
                    a.0.cmp(&b.0)
                };
                let sort = || pool(2).install(|| sort_unstable_by(&mut items, compare));
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
        });
    }

    /// Such a comparison may panic or give any order, but loses no item.
    #[test]
    fn of_inconsistent_comparisons_keep_all_items() {
        watched(|| {
            let mut items = random(LENGTH, u64::MAX);
            let calls = AtomicUsize::new(0);
            let compare = |_: &u64, _: &u64| match calls.fetch_add(1, Relaxed) * 7 % 3 {
                0 => Ordering::Less,
                1 => Ordering::Equal,
                _ => Ordering::Greater,
            };
            let sort = || pool(2).install(|| sort_unstable_by(&mut items, compare));
            let _ = catch_unwind(AssertUnwindSafe(sort));
            let mut expected = random(LENGTH, u64::MAX);
            items.sort();
            expected.sort();
            assert_eq!(items, expected);
        });
    }
}
