//! Every closure and every result is dropped once, no matter which thread runs the closure, and
//! even if none does.

use crate::support::aborts::{Bomb, reporting_pool, running, running_then};
use crate::support::book::{Book, Tracked};
use crate::support::{AMOUNTS, Gate, bare_pool, built, pool, until, watched};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use tidegate::Pool;
use tidegate::policy::Choose;

#[test]
fn reclaimed_half_drops_everything_once() {
    watched(|| {
        let (pool, book) = (bare_pool(1), Book::new());
        pool.install(|| {
            let (a, b) = (book.value(), book.value());
            let results = tidegate::join(
                || {
                    drop(a);
                    book.value()
                },
                || {
                    drop(b);
                    book.value()
                },
            );
            assert_eq!(book.live(), 2);
            drop(results);
        });
        assert_eq!(book.made(), 4);
        book.check();
    });
}

#[test]
fn stolen_half_drops_everything_once() {
    watched(|| {
        let (pool, book) = (pool(2), Book::new());
        for _ in 0..100 {
            let (a, b, stolen) = (book.value(), book.value(), Gate::new());
            let results = pool.join(
                || {
                    stolen.wait();
                    drop(a);
                    book.value()
                },
                || {
                    stolen.open();
                    drop(b);
                    book.value()
                },
            );
            assert_eq!(book.live(), 2);
            drop(results);
        }
        book.check();
    });
}

#[test]
fn panicking_join_tree_drops_everything_once() {
    watched(|| {
        fn tree(depth: usize, path: usize, book: &Book) -> Tracked {
            if depth == 0 {
                if path % 7 == 3 {
                    resume_unwind(Box::new(book.value()));
                }
                return book.value();
            }
            let (a, b) = (book.value(), book.value());
            let fork = || {
                tidegate::join(
                    move || {
                        drop(a);
                        tree(depth - 1, 2 * path, book)
                    },
                    move || {
                        drop(b);
                        tree(depth - 1, 2 * path + 1, book)
                    },
                )
            };
            match catch_unwind(AssertUnwindSafe(fork)) {
                Ok((left, _)) => left,
                Err(_) => book.value(),
            }
        }
        for amount in AMOUNTS {
            let builder = Pool::builder().workers(2).steal(amount);
            let (pool, book) = (built(builder.on_panic(|_| ())), Book::new());
            drop(pool.install(|| tree(9, 0, &book)));
            drop(pool);
            book.check();
        }
    });
}

#[test]
fn a_scope_drops_every_closure_once() {
    watched(|| {
        for amount in AMOUNTS {
            for workers in [1, 2] {
                let pool = built(Pool::builder().workers(workers).steal(amount));
                let book = Book::new();
                for _ in 0..20 {
                    pool.scope(|s| {
                        for _ in 0..20 {
                            let outer = book.value();
                            let book = &book;
                            s.spawn(move |s| {
                                let inner = book.value();
                                s.spawn(move |_| drop(inner));
                                drop(outer);
                            });
                        }
                    });
                    assert_eq!(book.live(), 0, "the scope ended before its closures");
                }
                book.check();
            }
        }
    });
}

/// The scope has more tasks than fit into the ring.
#[test]
fn overflowing_scope_drops_closures_once() {
    watched(|| {
        for workers in [1, 2] {
            let (pool, count) = (pool(workers), Arc::new(()));
            pool.install(|| {
                tidegate::scope(|s| {
                    for _ in 0..250_000 {
                        let count = count.clone();
                        s.spawn(move |_| drop(count));
                    }
                });
            });
            assert_eq!(Arc::strong_count(&count), 1);
        }
    });
}

#[test]
fn joined_handle_drops_everything_once() {
    watched(|| {
        let (pool, book) = (pool(2), Book::new());
        for _ in 0..100 {
            let (handle, go) = running(&pool, &book);
            go.open();
            drop(handle.join());
            assert_eq!(book.live(), 0);
        }
        drop(pool);
        book.check();
    });
}

/// The test drops the handle before the task starts.
#[test]
fn unstarted_task_drops_everything_once() {
    watched(|| {
        let (pool, book) = (bare_pool(1), Book::new());
        // The test occupies the only worker, so the task has not started.
        pool.install(|| {
            let (captured, made) = (book.value(), book.clone());
            drop(pool.spawn(move || (captured, made.value())));
            assert_eq!(book.live(), 1);
        });
        drop(pool);
        assert_eq!(book.made(), 2);
        book.check();
    });
}

/// The test drops the handle while the task runs.
#[test]
fn running_task_drops_everything_once() {
    watched(|| {
        let (pool, book) = (bare_pool(1), Book::new());
        let (handle, go) = running(&pool, &book);
        drop(handle);
        go.open();
        drop(pool);
        assert_eq!(book.made(), 2);
        book.check();
    });
}

/// The test drops the handle after the task has ended.
#[test]
fn ended_task_drops_everything_once() {
    watched(|| {
        let (pool, book) = (bare_pool(1), Book::new());
        let (handle, go) = running(&pool, &book);
        go.open();
        // The only worker is busy until the task has ended completely.
        until(|| book.made() == 2);
        pool.install(|| ());
        assert_eq!(book.live(), 1, "the result waits in the handle");
        drop(handle);
        book.check();
    });
}

#[test]
fn unwanted_result_drop_panic_is_reported() {
    watched(|| {
        let (pool, reported) = reporting_pool();
        let (handle, go) = running_then(pool.task(), || Bomb(17));
        drop(handle);
        go.open();
        drop(pool);
        assert_eq!(*reported.lock().unwrap(), [17]);
    });
}

#[test]
fn mutable_slice_loop_keeps_items_whole() {
    watched(|| {
        for workers in [1, 2, 4] {
            let (pool, book) = (pool(workers), Book::new());
            let mut items: Vec<_> = (0..2_000).map(|_| book.value()).collect();
            // Replaces each item once: the old value is dropped, and the new value stays.
            pool.install(|| tidegate::for_each(&mut items[..], |item| *item = book.value()));
            assert_eq!((book.made(), book.live()), (4_000, 2_000));
            drop(items);
            book.check();
        }
    });
}

#[test]
fn a_reduction_drops_every_value_once() {
    watched(|| {
        for workers in [1, 2, 4] {
            let (pool, book) = (pool(workers), Book::new());
            let last = pool.install(|| {
                tidegate::map_reduce(
                    0..3_000,
                    |_| book.value(),
                    |a, b| {
                        drop(a);
                        b
                    },
                )
            });
            assert_eq!((book.made(), book.live()), (3_000, 1));
            drop(last);
            book.check();
        }
    });
}
