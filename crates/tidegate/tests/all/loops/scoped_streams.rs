//! `Stream::in_scope`: items, functions and results that borrow, and the end of their scope.

use crate::support::aborts::{Bomb, reporting_pool};
use crate::support::streams::{counted, late_first};
use crate::support::{Gate, Tally, bare_pool, pool, watched};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;
use tidegate::{CancelToken, Cancelled, check_cancelled, current_num_workers, stream};

/// Calls `f` on a thread outside the pool. Meanwhile the caller, a task, has no slot.
fn outside<R: Send>(f: impl FnOnce() -> R + Send) -> R {
    tidegate::blocking(|| thread::scope(|threads| threads.spawn(f).join().unwrap()))
}

mod borrowing {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn items_function_and_results_borrow() {
        watched(|| {
            let text: String = (0..300).map(|n| format!("{} ", n % 7)).collect();
            let dictionary: HashMap<String, String> =
                (0..7).map(|n| (n.to_string(), "x".repeat(n))).collect();
            let look_up = |word: &str| dictionary[word].as_str();
            for pool in [pool(1), pool(2), pool(3), bare_pool(1)] {
                let lengths: Vec<usize> = pool.scope(|scope| {
                    let results = stream(text.split_whitespace()).in_scope(scope).window(5);
                    results.map(look_up).ordered().map(str::len).collect()
                });
                assert!(lengths.into_iter().eq((0..300).map(|n| n % 7)));
            }
        });
    }

    #[test]
    fn results_outlive_the_scope() {
        watched(|| {
            let words = ["ebb".to_owned(), "flow".to_owned()];
            let borrowed: Vec<&str> = tidegate::scope(|scope| {
                let results = stream(&words).in_scope(scope);
                results.map(String::as_str).ordered().collect()
            });
            assert_eq!(borrowed, words);
        });
    }

    #[test]
    fn an_empty_source_ends_at_once() {
        watched(|| {
            let none: &[String] = &[];
            let count =
                pool(2).scope(|scope| stream(none).in_scope(scope).map(|_| 1).ordered().count());
            assert_eq!(count, 0);
        });
    }
}

mod pools {
    use super::*;

    #[test]
    fn tasks_of_the_scope_consume() {
        watched(|| {
            for workers in 1..=3 {
                for pool in [pool(workers), bare_pool(workers)] {
                    let (numbers, sum) = ([1, 2, 3, 4], AtomicUsize::new(0));
                    pool.scope(|scope| {
                        for &factor in &numbers {
                            let (numbers, sum) = (&numbers, &sum);
                            scope.spawn(move |scope| {
                                let results = stream(numbers).in_scope(scope).window(3);
                                let results = results.map(move |n| n * factor).ordered();
                                sum.fetch_add(results.sum(), Ordering::Relaxed);
                            });
                        }
                    });
                    assert_eq!(sum.into_inner(), 100);
                }
            }
        });
    }

    #[test]
    fn items_run_in_the_pool_of_the_scope() {
        watched(|| {
            let (pool, other) = (pool(3), pool(1));
            pool.scope(|scope| {
                let sizes = || stream(0..50).in_scope(scope).map(|_| current_num_workers());
                assert!(sizes().ordered().all(|n| n == 3));
                assert!(other.install(|| sizes().ordered().all(|n| n == 3)));
                let chosen = other.stream(0..50).in_scope(scope);
                assert!(
                    chosen
                        .map(|_| current_num_workers())
                        .ordered()
                        .all(|n| n == 3)
                );
            });
        });
    }

    #[test]
    fn streams_move_between_threads() {
        watched(|| {
            pool(2).scope(|scope| {
                let mut results = stream(0..100)
                    .in_scope(scope)
                    .window(5)
                    .map(|n| n)
                    .ordered();
                assert!(results.by_ref().take(50).eq(0..50));
                thread::scope(|threads| {
                    threads.spawn(|| assert!(results.eq(50..100)));
                });
            });
        });
    }

    /// The items wait for each other, so each needs a thread of its own.
    #[test]
    fn all_workers_run_items() {
        watched(|| {
            let met = Tally::new();
            let f = |_| {
                met.come();
                met.wait_for(4);
            };
            bare_pool(4).scope(|scope| {
                assert_eq!(stream(0..4).in_scope(scope).map(f).ordered().count(), 4);
            });
        });
    }

    /// The only worker serves an endless stream, and yet begins a task of a younger scope.
    #[test]
    fn younger_scopes_get_their_turn() {
        watched(|| {
            let (pool, ran) = (pool(1), Gate::new());
            let spawns = || {
                pool.scope(|younger| {
                    outside(|| {
                        younger.spawn(|_| ran.open());
                        ran.wait();
                    });
                });
            };
            let f = |n| {
                thread::sleep(Duration::from_micros(20));
                n
            };
            pool.scope(|scope| {
                outside(|| {
                    let mut results = stream(0_u64..).in_scope(scope).map(f).ordered();
                    assert_eq!(results.next(), Some(0));
                    thread::scope(|threads| {
                        threads.spawn(spawns);
                        while !ran.is_open() {
                            assert!(results.next().is_some());
                        }
                    });
                });
            });
        });
    }
}

mod ends {
    use super::*;

    /// Item 1 runs when the iterator is dropped, items 2 and 3 wait behind it.
    #[test]
    fn scopes_wait_for_running_items() {
        watched(|| {
            let (reads, source) = counted(100);
            let first = late_first(reads, 4);
            let (gate, begun, ended) = (Gate::new(), Tally::new(), Tally::new());
            let f = |n| {
                begun.come();
                if n == 1 {
                    gate.wait();
                }
                first(n);
                ended.come();
            };
            pool(1).scope(|scope| {
                let mut results = stream(source).in_scope(scope).window(4).map(f).ordered();
                outside(|| {
                    assert_eq!(results.next(), Some(()));
                    begun.wait_for(2);
                    drop(results);
                    gate.open();
                });
            });
            assert_eq!((begun.get(), ended.get()), (2, 2));
        });
    }

    /// Runners end when no item is left, so the scope ends. No thread drops the items' results.
    #[test]
    fn forgotten_iterators_are_harmless() {
        watched(|| {
            for pool in [pool(1), bare_pool(1), pool(3)] {
                for taken in [0, 1, 20] {
                    let ((reads, source), ran) = (counted(1000), Tally::new());
                    pool.scope(|scope| {
                        let f = |n| {
                            ran.come();
                            Box::new(n)
                        };
                        let mut results = stream(source).in_scope(scope).window(8).map(f).ordered();
                        assert_eq!(results.by_ref().take(taken).count(), taken);
                        std::mem::forget(results);
                    });
                    assert_eq!(ran.get(), reads.get());
                }
            }
        });
    }

    #[test]
    fn next_resumes_the_panic_of_an_item() {
        watched(|| {
            let text = String::from("item");
            pool(2).scope(|scope| {
                let f = |n| assert_ne!(n, 7, "{text}");
                let mut results = stream(0..20).in_scope(scope).map(f).ordered();
                assert_eq!(results.by_ref().take(7).count(), 7);
                assert!(catch_unwind(AssertUnwindSafe(|| results.next())).is_err());
                assert_eq!(results.count(), 12);
            });
        });
    }

    /// Item 1 panics after the drop, and its runner is the last owner of the function.
    #[test]
    fn late_panics_go_to_the_handler_and_the_scope() {
        watched(|| {
            let (pool, reported) = reporting_pool();
            let (reads, source) = counted(2);
            let first = late_first(reads, 2);
            let (gate, begun) = (Gate::new(), Tally::new());
            let ended = catch_unwind(AssertUnwindSafe(|| {
                pool.scope(|scope| {
                    let (gate, begun, captured) = (&gate, &begun, Bomb(2));
                    let f = move |n| {
                        let _own = &captured;
                        begun.come();
                        if n == 1 {
                            gate.wait();
                            resume_unwind(Box::new(1_usize));
                        }
                        first(n)
                    };
                    let mut results = stream(source).in_scope(scope).map(f).ordered();
                    outside(|| {
                        assert_eq!(results.next(), Some(0));
                        begun.wait_for(2);
                        drop(results);
                        gate.open();
                    });
                });
            }));
            assert_eq!(ended.unwrap_err().downcast_ref(), Some(&2_usize));
            assert_eq!(*reported.lock().unwrap(), [1]);
        });
    }

    /// A cancelled token skips no item.
    #[test]
    fn cancelled_scopes_run_all_items() {
        watched(|| {
            let (token, pool) = (CancelToken::new(), pool(2));
            token.cancel();
            let seen = pool.scope(|scope| {
                let results = || stream(0..100).in_scope(scope).map(|_| check_cancelled());
                token.run(|| results().ordered()).collect::<Vec<_>>()
            });
            assert_eq!(seen, [Err(Cancelled); 100]);
        });
    }
}
