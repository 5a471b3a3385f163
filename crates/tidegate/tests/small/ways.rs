//! Every way to fork, once, on two workers, and values that must be moved and dropped on the way.
//! The tests are small enough for Miri, which also detects uses of a stack frame after its end.

use crate::support::book::{Book, Tracked};
use crate::support::futures::Signal;
use crate::support::streams::{counted, late_first};
use crate::support::{Gate, Tally, bare_pool, fib, pool, watched};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Barrier;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::thread::{current, scope as threads, spawn as start_thread};
use tidegate::TaskLocal;

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
        assert!(payload.expect("a panic").is::<Tracked>());
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

/// Closures and results keep their alignment wherever the runtime stores them. The blocks that
/// workers reuse have a smaller one.
#[test]
fn aligned_values_stay_aligned() {
    #[repr(align(32))]
    struct Wide(usize);

    impl Wide {
        fn get(&self) -> usize {
            assert_eq!(std::ptr::from_ref(self).addr() % 32, 0);
            self.0
        }
    }

    watched(|| {
        let (pool, stolen, wide) = (bare_pool(2), Gate::new(), Wide(1));
        let second = || {
            stolen.open();
            Wide(wide.get() + 1)
        };
        let second = pool.install(|| tidegate::join(|| stolen.wait(), second)).1;
        let task = pool.spawn(move || Wide(second.get() + 1)).join();
        let future = pool.spawn_future(async move { Wide(task.get() + 1) });
        assert_eq!(future.join().get(), 4);
        let sum = AtomicUsize::new(0);
        pool.scope(|scope| {
            for n in 0..LENGTH {
                let (wide, sum) = (Wide(n), &sum);
                scope.spawn(move |_| _ = sum.fetch_add(wide.get(), Ordering::Relaxed));
            }
        });
        assert_eq!(sum.into_inner(), LENGTH * (LENGTH - 1) / 2);
        let results = pool.par_map(0..LENGTH, Wide);
        assert!(results.iter().map(Wide::get).eq(0..LENGTH));
    });
}

/// One result is taken. When the stream is dropped, one item may be running.
#[test]
fn half_consumed_stream_drops_everything_once() {
    watched(|| {
        let (pool, book, go) = (bare_pool(2), Book::new(), std::sync::Arc::new(Gate::new()));
        let (reads, source) = counted(LENGTH);
        let (first, opened) = (late_first(reads, 3), go.clone());
        let (made, own) = (book.clone(), book.value());
        let results = pool.stream(source.map(|n| (n, book.value()))).window(4);
        let results = results.map(move |(n, captured)| {
            let _own = &own;
            if n == 2 {
                opened.wait();
            }
            drop(captured);
            (first(n), made.value())
        });
        let mut results = results.ordered();
        assert_eq!(results.next().map(|(n, _)| n), Some(0));
        drop(results);
        go.open();
        drop(pool);
        book.check();
    });
}

/// Like the last test, but the items run in a scope, and the function and the items borrow.
#[test]
fn half_consumed_scoped_stream_drops_everything_once() {
    watched(|| {
        let (book, go, (reads, source)) = (Book::new(), Gate::new(), counted(LENGTH));
        let (first, numbers) = (late_first(reads, 3), Vec::from_iter(0..LENGTH));
        let source = source.map(|n| (&numbers[n], book.value()));
        bare_pool(2).scope(|scope| {
            let own = book.value();
            let (first, go, book) = (&first, &go, &book);
            let results = tidegate::stream(source).in_scope(scope).window(4);
            let results = results.map(move |(n, captured)| {
                let _own = &own;
                if *n == 2 {
                    go.wait();
                }
                drop(captured);
                (n, first(*n), book.value())
            });
            let mut results = results.ordered();
            threads(|threads| {
                threads.spawn(|| {
                    assert_eq!(results.next().map(|(_, n, _)| n), Some(0));
                    drop(results);
                    go.open();
                });
            });
        });
        book.check();
    });
}

#[test]
fn other_thread_wakes_futures() {
    watched(|| {
        let (pool, book, signal) = (bare_pool(2), Book::new(), Signal::default());
        let futures = [(); 3].map(|()| {
            let (signal, captured, book) = (signal.clone(), book.value(), book.clone());
            pool.spawn_future(async move {
                let task = tidegate::spawn(move || book.value());
                signal.await;
                (captured, task.await)
            })
        });
        let other = start_thread(move || signal.give());
        let [joined, dropped, aborted] = futures;
        drop(dropped);
        drop(aborted.abort_on_drop());
        drop(joined.join());
        other.join().unwrap();
        drop(pool);
        book.check();
    });
}

#[test]
fn task_local_value_is_dropped_once() {
    static VALUE: TaskLocal<Tracked> = TaskLocal::new();
    let is_visible = || VALUE.with(|value| value.is_some());
    watched(move || {
        let (pool, book, stolen) = (bare_pool(2), Book::new(), Gate::new());
        let detached = VALUE.scope(book.value(), || {
            let second = || {
                stolen.open();
                is_visible()
            };
            let first = || {
                stolen.wait();
                VALUE.scope(book.value(), is_visible)
            };
            assert_eq!(pool.join(first, second), (true, true));
            pool.spawn(is_visible)
        });
        assert!(detached.join());
        drop(pool);
        book.check();
    });
}
