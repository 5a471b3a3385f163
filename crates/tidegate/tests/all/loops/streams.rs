//! `stream`: the order of its results, its window, and the pools that run it.

use crate::support::streams::{counted, late_first};
use crate::support::{Gate, Tally, bare_pool, pool, watched};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tidegate::policy::Priority;
use tidegate::{Pool, stream};

type Results = Box<dyn Iterator<Item = String> + Send>;

mod order {
    use super::*;

    #[test]
    fn survives_a_late_first_item() {
        watched(|| {
            let second = Arc::new(Gate::new());
            let gate = second.clone();
            let f = move |n: usize| {
                if n == 1 {
                    gate.open();
                }
                gate.wait();
                n
            };
            let results = pool(2).stream(0..100).map(f).ordered().collect::<Vec<_>>();
            assert_eq!(results, (0..100).collect::<Vec<_>>());
            assert!(second.is_open());
        });
    }

    #[test]
    fn holds_for_any_window_and_pool() {
        watched(|| {
            for workers in 1..4 {
                let pool = pool(workers);
                for window in [1, 2, 3, 1000] {
                    let results = pool.stream(0..300).window(window).map(|n| 2 * n).ordered();
                    assert!(results.eq((0..300).map(|n| 2 * n)), "{workers} {window}");
                }
            }
        });
    }

    #[test]
    fn holds_for_the_global_pool() {
        watched(|| {
            let lengths = stream(["a", "bb", "ccc"]).map(str::len).ordered();
            assert_eq!(lengths.collect::<Vec<_>>(), [1, 2, 3]);
        });
    }

    #[test]
    fn an_empty_source_ends_at_once() {
        watched(|| {
            let pool = pool(2);
            let mut results = pool.stream(0..0).map(|n| n).ordered();
            assert_eq!((results.next(), results.next()), (None, None));
        });
    }

    #[test]
    fn size_hint_counts_items_ahead() {
        watched(|| {
            let pool = pool(2);
            let (reads, source) = counted(10);
            let f = late_first(reads, 4);
            let mut results = pool.stream(source).window(4).map(f).ordered();
            assert_eq!(results.size_hint(), (10, Some(10)));
            assert_eq!(results.next(), Some(0));
            assert_eq!(results.size_hint(), (9, Some(9)));
            assert_eq!(results.count(), 9);
        });
    }
}

mod window {
    use super::*;

    /// Counts its clones and itself.
    struct Live(Arc<AtomicUsize>);

    impl Live {
        fn new(count: &Arc<AtomicUsize>) -> Self {
            count.fetch_add(1, Ordering::AcqRel);
            Self(count.clone())
        }
    }

    impl Drop for Live {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::AcqRel);
        }
    }

    /// The source checks the bound at each read.
    #[test]
    fn bounds_items_and_results() {
        watched(|| {
            for window in [1, 3, 8] {
                let live = Arc::new(AtomicUsize::new(0));
                let source = (0..200).map(|_| {
                    assert!(live.load(Ordering::Acquire) < window);
                    Live::new(&live)
                });
                let pool = pool(2);
                let results = pool
                    .stream(source)
                    .window(window)
                    .map(|item| item)
                    .ordered();
                assert_eq!(results.map(drop).count(), 200);
            }
        });
    }

    #[test]
    fn fills_while_the_first_item_runs() {
        watched(|| {
            let pool = pool(1);
            let (reads, source) = counted(100);
            let f = late_first(reads.clone(), 6);
            let mut results = pool.stream(source).window(6).map(f).ordered();
            assert_eq!(results.next(), Some(0));
            assert_eq!(reads.get(), 6);
            assert!(results.eq(1..100));
        });
    }

    /// The window never fills, because reading ends when the first result is ready.
    #[test]
    fn ready_results_end_reading() {
        watched(|| {
            let source = (0_u64..).inspect(|_| std::thread::yield_now());
            let pool = pool(2);
            let mut results = pool.stream(source).window(usize::MAX).map(|n| n).ordered();
            assert_eq!(results.next(), Some(0));
        });
    }

    /// Only the consumer can run the first item, so reading must end without its result.
    #[test]
    fn lone_consumers_stop_reading() {
        watched(|| {
            for pool in [pool(1), bare_pool(1)] {
                let first = || {
                    stream(0_u64..)
                        .window(usize::MAX)
                        .map(|n| n)
                        .ordered()
                        .next()
                };
                assert_eq!(pool.install(first), Some(0));
            }
        });
    }

    /// No thread can run items until the gate opens. The source checks that the consumer has
    /// stopped by then.
    #[test]
    fn busy_pools_stop_the_source() {
        watched(|| {
            let pool = bare_pool(1);
            let (reads, gate) = (Arc::new(Tally::new()), Arc::new(Gate::new()));
            let (few, opens) = (reads.clone(), gate.clone());
            let blocks = gate.clone();
            let busy = pool.spawn(move || blocks.wait());
            let opener = std::thread::spawn(move || {
                few.wait_for(32);
                opens.open();
            });
            let source = (0..).inspect(|n| {
                assert!(*n < 32 || gate.is_open());
                reads.come();
            });
            let mut results = pool.stream(source).window(usize::MAX).map(|n| n).ordered();
            assert_eq!(results.next(), Some(0));
            drop(results);
            busy.join();
            opener.join().unwrap();
            assert_eq!(pool.stats().panics, 0);
        });
    }

    #[test]
    fn slow_consumer_stops_the_source() {
        watched(|| {
            let pool = pool(2);
            let (reads, source) = counted(100);
            let (done, first) = (Arc::new(Tally::new()), late_first(reads.clone(), 4));
            let ends = done.clone();
            let f = move |n| {
                let n = first(n);
                ends.come();
                n
            };
            let mut results = pool.stream(source).window(4).map(f).ordered();
            assert_eq!(results.next(), Some(0));
            done.wait_for(4);
            assert_eq!((reads.get(), done.get()), (4, 4));
            assert!(results.eq(1..100));
        });
    }

    #[test]
    #[should_panic(expected = "a stream's window must have at least one item")]
    fn zero_is_refused() {
        let _ = stream(0..10).window(0);
    }
}

mod pools {
    use super::*;

    #[test]
    fn one_worker_streams_inside_itself() {
        watched(|| {
            for pool in [pool(1), bare_pool(1)] {
                let sum = pool.install(|| stream(0..1000).map(|n| n).ordered().sum::<u64>());
                assert_eq!(sum, 499_500);
            }
        });
    }

    #[test]
    fn streams_nest_in_their_function() {
        watched(|| {
            for workers in [1, 2, 3] {
                for pool in [pool(workers), bare_pool(workers)] {
                    let inner = |n: u64| stream(0..n).map(|m| m + 1).ordered().sum::<u64>();
                    let middle = move |n: u64| stream(0..n).window(2).map(inner).ordered().sum();
                    let outer = pool.stream(0..12_u64).map(middle).ordered();
                    let sums = outer.collect::<Vec<u64>>();
                    let expected = (0..12).map(|n| (0..n).map(|m| m * (m + 1) / 2).sum());
                    assert!(sums.into_iter().eq(expected));
                }
            }
        });
    }

    #[test]
    fn items_run_in_the_chosen_pool() {
        watched(|| {
            let (pool, other) = (pool(3), pool(1));
            let workers = |_| tidegate::current_num_workers();
            let chosen = || pool.stream(0..50).map(workers).ordered().all(|n| n == 3);
            assert!(chosen());
            assert!(other.install(chosen));
            let inside = || stream(0..50).map(workers).ordered().all(|n| n == 3);
            assert!(pool.install(inside));
        });
    }

    /// The worker is busy until the source is read, so the consumer can be no guest.
    #[test]
    fn consumer_waits_for_a_busy_pool() {
        watched(|| {
            let pool = bare_pool(1);
            let (gate, started) = (Arc::new(Gate::new()), Arc::new(Gate::new()));
            let (opened, starts) = (gate.clone(), started.clone());
            let busy = pool.spawn(move || {
                starts.open();
                opened.wait();
            });
            started.wait();
            let source = (0..10).inspect(|n| {
                if *n == 9 {
                    gate.open();
                }
            });
            assert!(
                pool.stream(source)
                    .window(10)
                    .map(|n| n)
                    .ordered()
                    .eq(0..10)
            );
            busy.join();
        });
    }

    /// The only worker serves an endless stream, and yet begins the other task.
    #[test]
    fn other_tasks_get_their_turn() {
        watched(|| {
            let pool = bare_pool(1);
            let ran = Arc::new(Gate::new());
            let mut results = pool.stream(0_u64..).window(64).map(|n| n).ordered();
            assert_eq!(results.next(), Some(0));
            let opens = ran.clone();
            let other = pool.spawn(move || opens.open());
            while !ran.is_open() {
                assert!(results.next().is_some());
            }
            other.join();
        });
    }

    /// The items wait for each other, so each needs a thread of its own.
    #[test]
    fn all_workers_run_items() {
        watched(|| {
            let pool = bare_pool(4);
            let met = Arc::new(Tally::new());
            let f = move |_| {
                met.come();
                met.wait_for(4);
            };
            assert_eq!(pool.stream(0..4).window(4).map(f).ordered().count(), 4);
        });
    }

    /// Item 1 waits for itself, which would never end. Nor would reading.
    #[test]
    fn item_that_waits_for_itself_panics() {
        watched(|| {
            let pool: &'static Pool = Box::leak(Box::new(bare_pool(1)));
            let (reads, source) = counted(usize::MAX);
            let (first, gate) = (late_first(reads, 2), Arc::new(Gate::new()));
            let slot: Arc<Mutex<Option<Results>>> = Arc::default();
            let (moved, opened) = (slot.clone(), gate.clone());
            let back = Arc::new(Gate::new());
            let returned = back.clone();
            let f = move |n| {
                if first(n) != 1 {
                    return String::new();
                }
                opened.wait();
                let mut results = moved.lock().unwrap().take().unwrap();
                let next = catch_unwind(AssertUnwindSafe(|| results.next()));
                *moved.lock().unwrap() = Some(results);
                returned.open();
                next.unwrap_err().downcast::<&str>().unwrap().to_string()
            };
            let endless = pool.stream(source).window(usize::MAX);
            let mut results: Results = Box::new(endless.map(f).ordered());
            assert_eq!(results.next(), Some(String::new()));
            *slot.lock().unwrap() = Some(results);
            gate.open();
            back.wait();
            let mut results = slot.lock().unwrap().take().unwrap();
            let text = results.next().unwrap();
            assert!(text.contains("in a frame below"), "{text}");
        });
    }

    /// The worker is busy until the first item was queued, behind a normal task.
    #[test]
    fn runners_have_the_class_of_their_creator() {
        watched(|| {
            let pool: &'static Pool = Box::leak(Box::new(bare_pool(1)));
            let (reads, source) = counted(2);
            let log = Arc::new(Mutex::new(Vec::new()));
            let notes = |name| {
                let log = log.clone();
                move || log.lock().unwrap().push(name)
            };
            let item = notes("item");
            let create = move || pool.stream(source).map(move |_| item()).ordered();
            let mut results = pool.task().priority(Priority::Urgent).spawn(create).join();
            let started = Arc::new(Gate::new());
            let starts = started.clone();
            let busy = pool.spawn(move || {
                starts.open();
                reads.wait_for(2);
            });
            started.wait();
            let normal = pool.spawn(notes("normal"));
            assert_eq!(results.next(), Some(()));
            let timeout = normal.join_timeout(Duration::MAX);
            assert!(timeout.is_ok());
            busy.join();
            assert_eq!(log.lock().unwrap()[0], "item");
        });
    }

    #[test]
    fn streams_move_between_threads() {
        watched(|| {
            let mut results = stream(0..100).window(5).map(|n| n).ordered();
            assert!(results.by_ref().take(50).eq(0..50));
            let rest = std::thread::spawn(move || results.collect::<Vec<_>>());
            assert!(rest.join().unwrap().into_iter().eq(50..100));
        });
    }
}
