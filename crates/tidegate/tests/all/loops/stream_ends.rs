//! How a `stream` ends: panics, errors, cancellation, early drops, and the end of the pool.

use crate::support::aborts::{Bomb, reporting_pool};
use crate::support::streams::{counted, late_first};
use crate::support::{Gate, Tally, bare_pool, built, pool, watched};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex};
use std::thread::{sleep, yield_now};
use std::time::Duration;
use tidegate::{CancelToken, Cancelled, Pool, check_cancelled, stream, try_scope};

mod failures {
    use super::*;

    #[test]
    fn panics_surface_in_place() {
        watched(|| {
            let pool = pool(2);
            let f = |n| {
                if n % 10 == 7 {
                    panic!("item {n}");
                }
                n
            };
            let mut results = pool.stream(0..30).map(f).ordered();
            for n in 0..30 {
                let next = catch_unwind(AssertUnwindSafe(|| results.next()));
                match next {
                    Ok(next) => assert_eq!(next, Some(n)),
                    Err(payload) => {
                        assert_eq!(n % 10, 7);
                        let message = payload.downcast_ref::<String>();
                        assert_eq!(message, Some(&format!("item {n}")));
                    }
                }
            }
            assert_eq!(results.next(), None);
            assert_eq!(pool.stats().panics, 0);
        });
    }

    #[test]
    fn errors_surface_in_place() {
        watched(|| {
            let pool = pool(2);
            let f = |text: &str| text.parse::<u8>().map_err(|_| text.len());
            let results = pool.stream(["1", "2", "x", "4", "yy"]).map(f).ordered();
            let found = results.collect::<Vec<_>>();
            assert_eq!(found, [Ok(1), Ok(2), Err(1), Ok(4), Err(2)]);
        });
    }

    /// All of the window is read before the first result is ready.
    #[test]
    fn source_panic_ends_the_stream_in_order() {
        watched(|| {
            let pool = pool(2);
            let (reads, source) = counted(10);
            let source = source.inspect(|n| assert_ne!(*n, 5));
            let f = late_first(reads.clone(), 6);
            let mut results = pool.stream(source).map(f).ordered();
            for n in 0..5 {
                assert_eq!(results.next(), Some(n));
            }
            assert!(catch_unwind(AssertUnwindSafe(|| results.next())).is_err());
            assert_eq!((results.next(), reads.get()), (None, 6));
            drop(results);
            assert_eq!(pool.stats().panics, 0);
        });
    }

    /// All of the window is read before the first result is ready. The source panics in its
    /// destructor, and perhaps before that.
    #[test]
    fn source_destructor_panic_comes_last() {
        watched(|| {
            for panics in [false, true] {
                let (pool, reported) = reporting_pool();
                let ((reads, items), bomb) = (counted(3), Bomb(9));
                let end = std::iter::from_fn(move || {
                    let _own = &bomb;
                    if panics {
                        resume_unwind(Box::new(8_usize));
                    }
                    None
                });
                let f = late_first(reads, 3);
                let mut results = pool.stream(items.chain(end)).map(f).ordered();
                for n in 0..3 {
                    assert_eq!(results.next(), Some(n));
                }
                let payload = catch_unwind(AssertUnwindSafe(|| results.next())).unwrap_err();
                let (first, second) = if panics {
                    (8_usize, vec![9])
                } else {
                    (9, vec![])
                };
                assert_eq!(payload.downcast_ref(), Some(&first));
                assert_eq!(*reported.lock().unwrap(), second);
                assert_eq!(results.next(), None);
            }
        });
    }
}

mod early_drop {
    use super::*;

    /// Item 1 runs when the iterator is dropped, items 2 and 3 wait behind it.
    #[test]
    fn unbegun_items_never_run() {
        watched(|| {
            let pool = bare_pool(1);
            let (reads, source) = counted(100);
            let (first, begun) = (late_first(reads.clone(), 4), Arc::new(Tally::new()));
            let gate = Arc::new(Gate::new());
            let (arrivals, opened) = (begun.clone(), gate.clone());
            let f = move |n| {
                arrivals.come();
                if n == 1 {
                    opened.wait();
                }
                first(n)
            };
            let mut results = pool.stream(source).window(4).map(f).ordered();
            assert_eq!(results.next(), Some(0));
            begun.wait_for(2);
            drop(results);
            gate.open();
            pool.shutdown();
            assert_eq!((reads.get(), begun.get()), (4, 2));
        });
    }

    #[test]
    fn items_and_function_are_dropped() {
        watched(|| {
            let (item, captured) = (Arc::new(()), Arc::new(()));
            let pool = pool(2);
            let (each, own) = (item.clone(), captured.clone());
            let f = move |item: Arc<()>| (item, own.clone());
            let source = std::iter::repeat_with(move || each.clone());
            let mut results = pool.stream(source).window(50).map(f).ordered();
            assert_eq!(results.by_ref().take(100).count(), 100);
            drop(results);
            pool.shutdown();
            assert_eq!(Arc::strong_count(&item), 1);
            assert_eq!(Arc::strong_count(&captured), 1);
        });
    }

    /// The only worker consumes the streams, so no runner begins.
    #[test]
    fn function_is_dropped_with_the_iterator() {
        watched(|| {
            let captured = Arc::new(());
            bare_pool(1).install(|| {
                for _ in 0..10 {
                    let own = captured.clone();
                    let f = move |_| Arc::strong_count(&own);
                    assert!(stream(0..3).map(f).ordered().all(|count| count == 2));
                    assert_eq!(Arc::strong_count(&captured), 1);
                }
            });
        });
    }

    /// All workers but the consumer are busy, so no runner begins.
    #[test]
    fn one_runner_is_queued_at_a_time() {
        watched(|| {
            let pool = bare_pool(3);
            let (gate, begun) = (Arc::new(Gate::new()), Arc::new(Tally::new()));
            for _ in 0..2 {
                let (blocks, begins) = (gate.clone(), begun.clone());
                drop(pool.spawn(move || {
                    begins.come();
                    blocks.wait();
                }));
            }
            begun.wait_for(2);
            let queued = pool.install(|| {
                for _ in 0..10 {
                    assert!(stream(0..20).map(|n| n).ordered().eq(0..20));
                }
                pool.stats().queued
            });
            gate.open();
            assert_eq!(queued, 10);
        });
    }

    /// A pool with one worker, and for each panic that its handler has got, the line of the stream.
    fn notes_panics() -> (Pool, Arc<Mutex<Vec<u32>>>) {
        let seen = Arc::<Mutex<Vec<u32>>>::default();
        let lines = seen.clone();
        let handler = move |panic: tidegate::PanicReport| {
            let origin = panic.origin.expect("a stream has an origin");
            lines.lock().unwrap().push(origin.location().line());
        };
        let builder = Pool::builder().workers(1).max_threads(1);
        (built(builder.on_panic(handler)), seen)
    }

    #[test]
    fn unseen_panics_go_to_the_handler() {
        watched(|| {
            let (pool, seen) = notes_panics();
            let ((reads, source), begun) = (counted(2), Arc::new(Tally::new()));
            let (first, arrivals) = (late_first(reads, 2), begun.clone());
            let f = move |n| {
                arrivals.come();
                assert_eq!(n, 0);
                first(n)
            };
            let mut results = pool.stream(source).map(f).ordered();
            let line = line!() - 1;
            assert_eq!(results.next(), Some(0));
            begun.wait_for(2);
            // The worker begins this task after it has stored the panic.
            let stored = Arc::new(Gate::new());
            let opens = stored.clone();
            drop(pool.spawn(move || opens.open()));
            stored.wait();
            assert!(seen.lock().unwrap().is_empty());
            drop(results);
            assert_eq!(*seen.lock().unwrap(), [line]);
        });
    }

    /// The item panics while the pool ends.
    #[test]
    fn late_panics_go_to_the_handler() {
        watched(|| {
            let (pool, seen) = notes_panics();
            let ((reads, source), begun) = (counted(2), Arc::new(Tally::new()));
            let (first, arrivals) = (late_first(reads, 2), begun.clone());
            let gate = Arc::new(Gate::new());
            let opened = gate.clone();
            let f = move |n| {
                arrivals.come();
                if n == 1 {
                    opened.wait();
                    panic!("late");
                }
                first(n)
            };
            let mut results = pool.stream(source).map(f).ordered();
            let line = line!() - 1;
            assert_eq!(results.next(), Some(0));
            begun.wait_for(2);
            drop(results);
            assert!(seen.lock().unwrap().is_empty());
            gate.open();
            pool.shutdown();
            assert_eq!(*seen.lock().unwrap(), [line]);
        });
    }

    /// The runner is the last owner of the function.
    #[test]
    fn function_is_dropped_after_the_panic_of_an_item() {
        watched(|| {
            let (pool, reported) = reporting_pool();
            let ((reads, source), begun) = (counted(2), Arc::new(Tally::new()));
            let (first, arrivals) = (late_first(reads, 2), begun.clone());
            let (gate, captured) = (Arc::new(Gate::new()), Bomb(2));
            let opened = gate.clone();
            let f = move |n| {
                let _own = &captured;
                arrivals.come();
                if n == 1 {
                    opened.wait();
                    resume_unwind(Box::new(1_usize));
                }
                first(n)
            };
            let mut results = pool.stream(source).map(f).ordered();
            assert_eq!(results.next(), Some(0));
            begun.wait_for(2);
            drop(results);
            gate.open();
            pool.shutdown();
            assert_eq!(*reported.lock().unwrap(), [1, 2]);
        });
    }

    #[test]
    fn source_panic_goes_to_the_handler() {
        watched(|| {
            let pool = pool(1);
            let (reads, source) = counted(2);
            let source = source.inspect(|n| assert_eq!(*n, 0));
            let f = late_first(reads, 2);
            let mut results = pool.stream(source).map(f).ordered();
            assert_eq!(results.next(), Some(0));
            drop(results);
            assert_eq!(pool.stats().panics, 1);
        });
    }

    /// The iterator moves out of the pool before it is dropped.
    #[test]
    fn panics_go_to_the_pool_of_the_items() {
        watched(|| {
            let pool = pool(2);
            let (reads, source) = counted(2);
            let source = source.inspect(|n| assert_eq!(*n, 0));
            let f = late_first(reads, 2);
            let results = pool.install(move || {
                let mut results = stream(source).map(f).ordered();
                assert_eq!(results.next(), Some(0));
                results
            });
            drop(results);
            assert_eq!(pool.stats().panics, 1);
        });
    }

    #[test]
    fn unused_streams_read_nothing() {
        let (reads, source) = counted(10);
        drop(stream(source).map(|n| n).ordered());
        assert_eq!(reads.get(), 0);
    }
}

mod cancellation {
    use super::*;

    fn cancelled() -> CancelToken {
        let token = CancelToken::new();
        token.cancel();
        token
    }

    #[test]
    fn reaches_items_but_not_the_stream() {
        watched(|| {
            for pool in [bare_pool(1), pool(2)] {
                let results = || {
                    pool.stream(0..100)
                        .map(|n| (n, check_cancelled()))
                        .ordered()
                };
                let inside = cancelled().run(results);
                assert!(inside.eq((0..100).map(|n| (n, Err(Cancelled)))));
                let outside = results();
                let expected = (0..100).map(|n| (n, Ok(())));
                assert!(cancelled().run(|| pool.install(|| outside.eq(expected))));
            }
        });
    }

    /// Item 0 cancels the token after all of the window was read. The items behind it see that.
    #[test]
    fn items_behind_fail_in_order() {
        watched(|| {
            let pool = bare_pool(1);
            let (reads, source) = counted(4);
            let (token, first) = (CancelToken::new(), late_first(reads, 4));
            let cancels = token.clone();
            let f = move |n| {
                check_cancelled()?;
                if first(n) == 0 {
                    cancels.cancel();
                }
                Ok(n)
            };
            let results = token.run(|| pool.stream(source).map(f).ordered());
            let stopped = [Err(Cancelled); 3];
            assert!(results.eq([Ok(0)].into_iter().chain(stopped)));
        });
    }

    /// The drop does not stop the running item, but its token does. The pool waits for it.
    #[test]
    fn stops_an_item_after_the_drop() {
        watched(|| {
            let pool = bare_pool(1);
            let (reads, source) = counted(3);
            let (begun, ended) = (Arc::new(Tally::new()), Arc::new(Tally::new()));
            let (first, token) = (late_first(reads, 3), CancelToken::new());
            let (arrivals, ends) = (begun.clone(), ended.clone());
            let f = move |n| {
                arrivals.come();
                while first(n) > 0 && check_cancelled().is_ok() {
                    yield_now();
                }
                ends.come();
            };
            let mut results = token.run(|| pool.stream(source).map(f).ordered());
            assert_eq!(results.next(), Some(()));
            begun.wait_for(2);
            drop(results);
            assert_eq!(ended.get(), 1);
            token.cancel();
            pool.shutdown();
            assert_eq!((begun.get(), ended.get()), (2, 2));
        });
    }

    /// `next` resumes the panic in the scope's body.
    #[test]
    fn panicking_item_cancels_its_consumers_scope() {
        watched(|| {
            let pool = pool(2);
            let f = |n: u32| assert_ne!(n, 3, "{:?}", check_cancelled());
            let mut of_scope = None;
            let ended = catch_unwind(AssertUnwindSafe(|| {
                try_scope(|scope| {
                    of_scope = Some(scope.token().clone());
                    Ok::<_, Cancelled>(pool.stream(0..10).map(f).ordered().count())
                })
            }));
            let text = *ended.unwrap_err().downcast::<String>().unwrap();
            assert!(text.contains("Ok(())"), "{text}");
            assert!(of_scope.unwrap().is_cancelled());
        });
    }
}

mod shutdown {
    use super::*;

    /// The pool ends after its runners have run all items that were read. Item 0 waits until item 1
    /// has begun on another thread, and item 1 waits until the window is full.
    /// Later items run in the global pool.
    #[test]
    fn stream_outlives_its_pool() {
        watched(|| {
            for pool in [bare_pool(3), pool(2)] {
                let (reads, source) = counted(20);
                let (begun, ended) = (Arc::new(Gate::new()), Arc::new(Tally::new()));
                let (second, ends, read) = (begun.clone(), ended.clone(), reads.clone());
                let f = move |n| {
                    match n {
                        0 => second.wait(),
                        1 => {
                            second.open();
                            read.wait_for(8);
                        }
                        _ => sleep(Duration::from_micros(100)),
                    }
                    ends.come();
                    n
                };
                let results = pool.install(move || {
                    let mut results = stream(source).window(8).map(f).ordered();
                    assert!(results.by_ref().take(2).eq(0..2));
                    results
                });
                pool.shutdown();
                assert!(ended.get() >= 8);
                assert_eq!(ended.get(), reads.get());
                assert!(results.eq(2..20));
            }
        });
    }
}
