//! `par_map` returns one result per item, in order, and drops what it made if a call panics.

use crate::support::book::{Book, Tracked};
use crate::support::{Gate, built, watched};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use tidegate::policy::SharePolicy;
use tidegate::{ParallelItems, Pool, par_map};

const LENGTH: usize = if cfg!(miri) { 20 } else { 5_000 };

const WORKERS: &[usize] = if cfg!(miri) { &[2] } else { &[1, 3] };

/// Creates a pool that does not share the machine, so its workers always have slots.
fn pool(workers: usize) -> Pool {
    built(Pool::builder().workers(workers).share(SharePolicy::Off))
}

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
        drop(par_map(0..u64::MAX, |n| n));
    }

    /// No vector has room for this many results, even if they have no size.
    #[test]
    #[should_panic(expected = "at most usize::MAX items")]
    fn must_be_countable() {
        let begin = |_| -> () { panic!("the map begins") };
        drop(par_map(0..=u64::MAX, begin));
    }

    #[test]
    #[should_panic(expected = "at most usize::MAX items")]
    fn of_a_named_pool_must_be_countable() {
        let begin = |_| -> () { panic!("the map begins") };
        drop(pool(1).par_map(i64::MIN..=i64::MAX, begin));
    }
}

mod panics {
    use super::*;

    /// Makes a result, or panics at the item `at`.
    fn make_unless(book: &Book, at: usize, item: usize) -> Tracked {
        if item == at {
            resume_unwind(Box::new(item));
        }
        book.value()
    }

    #[test]
    fn drop_results_and_items_once() {
        watched(|| {
            for at in [0, 1, LENGTH / 2, LENGTH - 1] {
                let marker = Arc::new(());
                let items = || (0..LENGTH).map(|i| (i, marker.clone())).collect::<Vec<_>>();
                let caught = |run: &dyn Fn(&Book)| {
                    let book = Book::new();
                    let run = || run(&book);
                    let payload = catch_unwind(AssertUnwindSafe(run)).unwrap_err();
                    assert_eq!(payload.downcast_ref(), Some(&at));
                    assert!(book.made() < LENGTH);
                    book.check();
                    assert_eq!(Arc::strong_count(&marker), 1);
                };
                if !cfg!(miri) {
                    caught(&|book| drop(par_map(items(), |(i, _)| make_unless(book, at, i))));
                }
                for workers in [1, 2] {
                    let pool = pool(workers);
                    caught(&|book| drop(pool.par_map(items(), |(i, _)| make_unless(book, at, i))));
                }
            }
        });
    }

    /// A thief makes the far results before the panic.
    #[test]
    fn drop_results_of_thieves() {
        watched(|| {
            let (book, far) = (Book::new(), Gate::new());
            let f = |i| {
                if i == 0 {
                    far.wait();
                    resume_unwind(Box::new(()));
                }
                let result = book.value();
                if i == LENGTH - 1 {
                    far.open();
                }
                result
            };
            let run = || drop(pool(2).par_map(0..LENGTH, f));
            assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
            assert!((1..LENGTH).contains(&book.made()));
            book.check();
        });
    }

    #[test]
    fn leave_no_result_without_a_panic() {
        watched(|| {
            let book = Book::new();
            let made = pool(2).par_map(0..LENGTH, |_| book.value());
            assert_eq!((book.made(), book.live()), (LENGTH, LENGTH));
            drop(made);
            book.check();
        });
    }
}
