//! `par_map` returns one result per item, in order, and drops what it made if a call panics.

mod support;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use support::{Gate, pool, watched};
use tidegate::{ParallelItems, par_map};

const LENGTH: usize = if cfg!(miri) { 20 } else { 5_000 };

const WORKERS: &[usize] = if cfg!(miri) { &[2] } else { &[1, 3] };

/// Maps the items outside of all pools, as a guest, and on workers.
fn check<I: ParallelItems, R: PartialEq + Send + Sync + std::fmt::Debug>(
    items: impl Fn() -> I + Sync,
    f: impl Fn(I::Item) -> R + Sync,
    expected: &[R],
) {
    // Miri isolates programs from the machine, whose description the global pool reads.
    if !cfg!(miri) {
        assert_eq!(par_map(items(), &f), expected);
    }
    for workers in WORKERS {
        let pool = pool(*workers);
        assert_eq!(pool.par_map(items(), &f), expected);
        pool.install(|| assert_eq!(par_map(items(), &f), expected));
    }
}

mod results {
    use super::*;

    #[test]
    fn have_the_order_of_the_items() {
        watched(|| {
            let numbers: Vec<usize> = (0..LENGTH).collect();
            let texts: Vec<String> = numbers.iter().map(usize::to_string).collect();
            check(|| 0..LENGTH, |n| n.to_string(), &texts);
            check(|| 0..=LENGTH - 1, |n| n.to_string(), &texts);
            check(|| &numbers, usize::to_string, &texts);
            check(|| numbers.clone(), |n| n.to_string(), &texts);
            check(|| texts.clone(), |text| text.parse().unwrap(), &numbers);
            check(|| [3_u8; LENGTH], u64::from, &[3; LENGTH]);
        });
    }

    #[test]
    fn may_come_from_chunks() {
        watched(|| {
            let numbers: Vec<usize> = (0..LENGTH).collect();
            let sums: Vec<usize> = numbers.chunks(7).map(|chunk| chunk.iter().sum()).collect();
            let chunks = || tidegate::chunks(&numbers, 7);
            check(chunks, |chunk| chunk.iter().sum(), &sums);
        });
    }

    #[test]
    fn may_borrow_the_items() {
        watched(|| {
            let mut numbers: Vec<usize> = (0..LENGTH).collect();
            let borrowed = pool(2).par_map(&mut numbers, |n| n);
            borrowed.into_iter().for_each(|n| *n += 1);
            assert!(numbers.into_iter().eq(1..=LENGTH));
        });
    }

    #[test]
    fn may_be_none_or_without_size() {
        watched(|| {
            check(|| 5..5, |_| String::new(), &[]);
            check(|| [0_u8; 0], |_| (), &[]);
            check(|| 0..LENGTH, |_| (), &[(); LENGTH]);
        });
    }

    #[test]
    fn may_come_from_nested_maps() {
        const COUNT: usize = if cfg!(miri) { 5 } else { 30 };
        watched(|| {
            let square = |n: usize| par_map(0..n, |i| i * n);
            let expected: Vec<_> = (0..COUNT)
                .map(|n| (0..n).map(|i| i * n).collect())
                .collect();
            check(|| 0..COUNT, square, &expected);
        });
    }

    #[test]
    fn may_come_from_several_workers() {
        watched(|| {
            let (first, last) = (Gate::default(), Gate::default());
            // Each end waits until the other one has begun.
            let meet = |i: usize| {
                if i == 0 {
                    first.open();
                    last.wait();
                } else if i == LENGTH - 1 {
                    last.open();
                    first.wait();
                }
                i
            };
            assert!(pool(2).par_map(0..LENGTH, meet).into_iter().eq(0..LENGTH));
        });
    }

    #[test]
    #[should_panic(expected = "capacity overflow")]
    fn must_fit_into_memory() {
        par_map(0..u64::MAX, |n| n);
    }
}

mod panics {
    use super::*;

    /// For each item, how often its result was made or dropped.
    struct Results(Vec<AtomicUsize>);

    impl Results {
        fn new() -> Self {
            Self((0..LENGTH).map(|_| AtomicUsize::new(0)).collect())
        }

        fn make(&self, item: usize) -> Counted<'_> {
            self.0[item].fetch_add(1, Relaxed);
            Counted(&self.0[item])
        }

        /// Panics at the item `at`.
        fn make_unless(&self, at: usize, item: usize) -> Counted<'_> {
            if item == at {
                resume_unwind(Box::new(item));
            }
            self.make(item)
        }

        /// Returns the number of results that were made. Each must have been dropped once.
        fn all_dropped(&self) -> usize {
            let counts = self.0.iter().map(|count| count.load(Relaxed));
            let made = counts.filter(|count| *count != 0);
            made.inspect(|count| assert_eq!(*count, 2)).count()
        }
    }

    struct Counted<'a>(&'a AtomicUsize);

    impl Drop for Counted<'_> {
        fn drop(&mut self) {
            self.0.fetch_add(1, Relaxed);
        }
    }

    #[test]
    fn drop_results_and_items_once() {
        watched(|| {
            for at in [0, 1, LENGTH / 2, LENGTH - 1] {
                let marker = Arc::new(());
                let items = || (0..LENGTH).map(|i| (i, marker.clone())).collect::<Vec<_>>();
                let caught = |run: &dyn Fn(&Results)| {
                    let results = Results::new();
                    let run = || run(&results);
                    let payload = catch_unwind(AssertUnwindSafe(run)).unwrap_err();
                    assert_eq!(payload.downcast_ref(), Some(&at));
                    assert!(results.all_dropped() < LENGTH);
                    assert_eq!(Arc::strong_count(&marker), 1);
                };
                if !cfg!(miri) {
                    caught(&|results| drop(par_map(items(), |(i, _)| results.make_unless(at, i))));
                }
                for workers in [1, 2] {
                    let pool = pool(workers);
                    caught(&|results| {
                        drop(pool.par_map(items(), |(i, _)| results.make_unless(at, i)))
                    });
                }
            }
        });
    }

    /// A thief makes the far results before the panic.
    #[test]
    fn drop_results_of_thieves() {
        watched(|| {
            let results = Results::new();
            let far = Gate::default();
            let f = |i| {
                if i == 0 {
                    far.wait();
                    resume_unwind(Box::new(()));
                }
                let result = results.make(i);
                if i == LENGTH - 1 {
                    far.open();
                }
                result
            };
            let run = || drop(pool(2).par_map(0..LENGTH, f));
            assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
            assert!((1..LENGTH).contains(&results.all_dropped()));
        });
    }

    #[test]
    fn leave_no_result_without_a_panic() {
        watched(|| {
            let results = Results::new();
            let made = pool(2).par_map(0..LENGTH, |i| results.make(i));
            assert!(results.0.iter().all(|count| count.load(Relaxed) == 1));
            drop(made);
            assert_eq!(results.all_dropped(), LENGTH);
        });
    }
}
