//! Loops visit each item once. The shape of a reduction does not depend on the number of workers.

use crate::support::{AMOUNTS, Gate, bare_pool, built, fib, pool, watched};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;
use tidegate::Pool;
use tidegate::policy::Choose;

const LENGTHS: [usize; 5] = [0, 1, 2, 1_000, 100_000];
/// The documented number of blocks into which a reduction divides a long range.
const BLOCKS: usize = 1024;

/// Calls `f` outside all pools, where the caller itself runs items as well, and in pools of several
/// sizes.
fn everywhere(f: impl Fn() + Send + Sync) {
    f();
    for workers in [1, 2, 4] {
        for pool in [pool(workers), bare_pool(workers)] {
            pool.install(&f);
        }
    }
}

fn unvisited(length: usize) -> Vec<AtomicU8> {
    (0..length).map(|_| AtomicU8::new(0)).collect()
}

fn visit(mark: &AtomicU8) {
    let before = mark.fetch_add(1, Ordering::Relaxed);
    assert_eq!(before, 0, "visited twice");
}

#[track_caller]
fn all_visited(marks: &[AtomicU8]) {
    let missed = marks.iter().position(|m| m.load(Ordering::Relaxed) != 1);
    assert_eq!(missed, None, "of {}", marks.len());
}

#[test]
fn range_loop_visits_numbers_once() {
    watched(|| {
        everywhere(|| {
            for length in LENGTHS {
                let marks = unvisited(length);
                tidegate::for_each(0..length, |i| visit(&marks[i]));
                all_visited(&marks);
            }
            let marks = unvisited(100);
            tidegate::for_each(50..100, |i| visit(&marks[i]));
            all_visited(&marks[50..]);
            assert!(marks[..50].iter().all(|m| m.load(Ordering::Relaxed) == 0));
        });
    });
}

#[test]
fn range_at_maximum_is_visited_whole() {
    watched(|| {
        everywhere(|| {
            let marks = unvisited(1_000);
            tidegate::for_each(usize::MAX - 1_000..usize::MAX, |i| {
                visit(&marks[i - (usize::MAX - 1_000)]);
            });
            all_visited(&marks);
            let last = tidegate::map_reduce(usize::MAX - 3_000..usize::MAX, |i| i, usize::max);
            assert_eq!(last, Some(usize::MAX - 1));
        });
    });
}

#[test]
fn empty_range_visits_nothing() {
    watched(|| {
        everywhere(|| {
            #[expect(clippy::reversed_empty_ranges, reason = "that is what is tested")]
            let backwards = 7..3;
            tidegate::for_each(backwards.clone(), |_| panic!("visited"));
            assert_eq!(tidegate::map_reduce(backwards, |i| i, |a, _| a), None);
        });
    });
}

#[test]
fn slice_loop_visits_items_once() {
    watched(|| {
        everywhere(|| {
            for length in LENGTHS {
                let marks = unvisited(length);
                tidegate::for_each(&marks[..], visit);
                all_visited(&marks);
            }
        });
    });
}

#[test]
fn mutable_slice_loop_visits_items_once() {
    watched(|| {
        everywhere(|| {
            for length in LENGTHS {
                let mut items: Vec<_> = (0..length).collect();
                tidegate::for_each(&mut items[..], |item| *item = 2 * *item + 1);
                let wrong = items
                    .iter()
                    .enumerate()
                    .find(|(i, item)| **item != 2 * i + 1);
                assert_eq!(wrong, None);
            }
        });
    });
}

#[test]
fn items_of_nothing_are_visited_too() {
    watched(|| {
        everywhere(|| {
            let count = std::sync::atomic::AtomicUsize::new(0);
            tidegate::for_each(&mut vec![(); 10_000][..], |()| {
                count.fetch_add(1, Ordering::Relaxed);
            });
            assert_eq!(count.into_inner(), 10_000);
        });
    });
}

#[test]
fn uneven_items_are_visited_once() {
    watched(|| {
        everywhere(|| {
            let marks = unvisited(600);
            tidegate::for_each(&marks[..], |mark| {
                let i = std::ptr::from_ref(mark) as usize / size_of::<AtomicU8>() % 97;
                if i == 0 {
                    assert_eq!(fib(13), 233);
                }
                visit(mark);
            });
            all_visited(&marks);
        });
    });
}

#[test]
fn nested_loops_visit_items_once() {
    watched(|| {
        for amount in AMOUNTS {
            let pool = built(Pool::builder().workers(2).steal(amount));
            let marks = unvisited(60 * 60 * 7);
            pool.install(|| {
                tidegate::for_each(0..60, |i| {
                    tidegate::for_each(0..60, |j| {
                        tidegate::for_each(0..7, |k| visit(&marks[(i * 60 + j) * 7 + k]));
                    });
                });
            });
            all_visited(&marks);
        }
    });
}

#[test]
fn long_item_leaves_rest_to_thieves() {
    watched(|| {
        let pool = pool(2);
        for _ in 0..100 {
            let other = Gate::new();
            pool.install(|| {
                tidegate::for_each(0..2, |i| match i {
                    // This item ends only if a thief takes the other item from a worker that never
                    // polls.
                    0 => other.wait(),
                    _ => other.open(),
                });
            });
        }
    });
}

#[test]
fn reduction_is_bitwise_deterministic() {
    watched(|| {
        for length in [1, 2, 3, 1_000, 1_024, 1_025, 2_049, 100_000] {
            let sum = || {
                let term = |i: usize| 1.0 / (i as f64 + 0.1);
                tidegate::map_reduce(0..length, term, |a, b| a + b).map(f64::to_bits)
            };
            let one = bare_pool(1).install(sum);
            assert!(one.is_some());
            assert_eq!(sum(), one, "outside, length {length}");
            for workers in [2, 3, 4] {
                for pool in [pool(workers), bare_pool(workers)] {
                    for _ in 0..3 {
                        assert_eq!(pool.install(sum), one, "{workers} workers, length {length}");
                    }
                }
            }
        }
    });
}

#[test]
fn reduction_keeps_value_order() {
    watched(|| {
        everywhere(|| {
            for length in [0, 1, 2, 1_000, 5_000] {
                let all = tidegate::map_reduce(
                    0..length,
                    |i| vec![i],
                    |mut a, b| {
                        a.extend(b);
                        a
                    },
                );
                let plain = (length > 0).then(|| (0..length).collect::<Vec<_>>());
                assert_eq!(all, plain);
            }
        });
    });
}

/// Combines two values so that the result shows the order and the nesting of all combined values.
fn combine(left: usize, right: usize) -> usize {
    left.wrapping_mul(31) ^ right.rotate_left(7)
}

/// Combines the items of blocks from left to right, and the blocks in a balanced tree.
fn documented(length: usize) -> usize {
    fn tree(blocks: &[usize]) -> usize {
        match blocks {
            [one] => *one,
            _ => {
                let (left, right) = blocks.split_at(blocks.len() / 2);
                combine(tree(left), tree(right))
            }
        }
    }
    let items: Vec<_> = (0..length).collect();
    let most = length.div_ceil(512).clamp(BLOCKS / 4, BLOCKS);
    let blocks = items.chunks(length.div_ceil(most));
    let values = blocks.map(|block| block.iter().copied().reduce(combine).expect("an item"));
    tree(&values.collect::<Vec<_>>())
}

#[test]
fn reduction_has_the_documented_shape() {
    watched(|| {
        for length in [1, 7, 256, 257, 20_000, 131_072, 131_073, 524_288, 600_000] {
            let expected = Some(documented(length));
            everywhere(|| {
                let result = tidegate::map_reduce(0..length, |i| i, combine);
                assert_eq!(result, expected);
            });
        }
        // A caller outside leaves the rest to the pool before or after the late item.
        for late in [0, 1, 2, 5, 11, 30, 60, 120, 250, 499] {
            let map = |i| {
                std::thread::sleep(Duration::from_micros(20 * u64::from(i == late)));
                i
            };
            let result = tidegate::map_reduce(0..500, map, combine);
            assert_eq!(result, Some(documented(500)));
        }
        // All later items are slow, so the caller must not take them for as cheap as the first.
        for cheap in [1, 2, 4] {
            let in_pool = |i| {
                if i >= cheap {
                    std::thread::sleep(Duration::from_micros(20));
                }
                tidegate::current_worker().is_some()
            };
            let last = tidegate::map_reduce(0..8, in_pool, |_, last| last);
            assert_eq!(last, Some(true), "after {cheap} cheap items");
        }
    });
}

#[test]
fn item_panic_leaves_no_call_running() {
    watched(|| {
        everywhere(|| {
            let inside = Mutex::new(0);
            let loop_over = || {
                tidegate::for_each(0..10_000_usize, |i| {
                    *inside.lock().unwrap() += 1;
                    if i == 5_000 {
                        *inside.lock().unwrap() -= 1;
                        std::panic::resume_unwind(Box::new(i));
                    }
                    *inside.lock().unwrap() -= 1;
                });
            };
            let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(loop_over));
            assert_eq!(*inside.lock().unwrap(), 0, "a call was still running");
            assert_eq!(caught.unwrap_err().downcast_ref(), Some(&5_000_usize));
        });
    });
}
