//! Every way to fork, once, on two workers. The tests are small enough for Miri, which also detects
//! uses of a stack frame after its end.

mod support;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Barrier;
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread::{current, scope as threads};
use support::book::Book;
use support::{Gate, Tally, bare_pool, fib, pool, watched};

const LENGTH: usize = 40;

#[test]
fn stolen_half_returns_its_result() {
    watched(|| {
        let pool = bare_pool(2);
        let stolen = Gate::new();
        let first = || {
            stolen.wait();
            current().id()
        };
        let second = || {
            let result = (current().id(), vec![7; 3]);
            stolen.open();
            result
        };
        let (here, (there, list)) = pool.install(|| tidegate::join(first, second));
        assert_ne!(here, there);
        assert_eq!(list, [7; 3]);
    });
}

#[test]
fn halves_meet_at_every_depth() {
    watched(|| {
        let pool = bare_pool(2);
        let meet = |barrier: &Barrier| {
            tidegate::join(|| barrier.wait(), || barrier.wait());
        };
        pool.install(|| {
            meet(&Barrier::new(2));
            tidegate::join(|| meet(&Barrier::new(2)), || fib(3));
        });
    });
}

#[test]
fn nested_joins_add_up_correctly() {
    watched(|| {
        assert_eq!(bare_pool(2).install(|| fib(7)), 13);
        let (a, b) = pool(2).join(|| fib(6), || fib(5));
        assert_eq!((a, b), (8, 5));
    });
}

#[test]
fn scope_awaits_nested_spawns() {
    watched(|| {
        let pool = bare_pool(2);
        let (stolen, ended) = (Gate::new(), Tally::new());
        pool.scope(|scope| {
            scope.spawn(|scope| {
                stolen.open();
                for _ in 0..3 {
                    scope.spawn(|_| ended.come());
                }
            });
            stolen.wait();
            scope.spawn(|_| ended.come());
        });
        assert_eq!(ended.get(), 4);
    });
}

#[test]
fn handle_returns_result_on_any_thread() {
    watched(|| {
        let pool = bare_pool(2);
        let outside = pool.spawn(|| vec![1; 2]);
        let inside = pool.install(|| tidegate::spawn(|| vec![2; 2]).join());
        assert_eq!([outside.join(), inside], [[1; 2], [2; 2]]);
    });
}

#[test]
fn dropped_pool_finishes_detached_tasks() {
    watched(|| {
        let book = Book::new();
        let pool = bare_pool(2);
        for _ in 0..4 {
            let (value, book) = (book.value(), book.clone());
            drop(pool.spawn(move || (value, book.value())));
        }
        drop(pool);
        assert_eq!(book.made(), 8);
        book.check();
    });
}

/// Loops visit each item once, and reductions keep the order.
#[test]
fn loops_and_reductions_visit_everything() {
    watched(|| {
        let pool = bare_pool(2);
        let marks: Vec<AtomicU8> = (0..LENGTH).map(|_| AtomicU8::new(0)).collect();
        let visit = |mark: &AtomicU8| {
            mark.fetch_add(1, Ordering::Relaxed);
        };
        pool.install(|| tidegate::for_each(&marks[..], visit));
        assert!(marks.iter().all(|mark| mark.load(Ordering::Relaxed) == 1));
        let append = |mut a: Vec<usize>, b: Vec<usize>| {
            a.extend(b);
            a
        };
        let list = pool.install(|| tidegate::map_reduce(0..LENGTH, |i| vec![i], append));
        assert_eq!(list, Some((0..LENGTH).collect()));
    });
}

#[test]
fn pool_survives_stolen_half_panic() {
    watched(|| {
        let pool = bare_pool(2);
        let book = Book::new();
        let stolen = Gate::new();
        let first = || {
            stolen.wait();
            book.value()
        };
        let second = || -> () {
            stolen.open();
            resume_unwind(Box::new(book.value()))
        };
        let join = || pool.install(|| tidegate::join(first, second));
        let payload = catch_unwind(AssertUnwindSafe(join)).err();
        assert!(payload.expect("a panic").is::<support::book::Tracked>());
        assert_eq!(book.made(), 2);
        book.check();
        assert_eq!(pool.install(|| fib(4)), 3);
    });
}

#[test]
fn two_outside_calls_are_installed() {
    watched(|| {
        let pool = bare_pool(2);
        let barrier = Barrier::new(2);
        let call = || {
            pool.install(|| {
                barrier.wait();
                fib(4)
            })
        };
        threads(|scope| {
            let other = scope.spawn(call);
            assert_eq!((call(), other.join().unwrap()), (3, 3));
        });
    });
}

#[test]
fn broadcast_calls_meet_on_every_thread() {
    watched(|| {
        let pool = bare_pool(2);
        let barrier = Barrier::new(2);
        let meet = |number| {
            barrier.wait();
            number
        };
        assert_eq!(pool.broadcast(meet), [0, 1]);
        assert_eq!(pool.install(|| tidegate::broadcast(meet)), [0, 1]);
    });
}
