//! Folds, sums, extremes, filters, and what they loop over: each gives the result of the same
//! iterator of the standard library.

use super::everywhere;
use crate::support::{Gate, pool, watched};
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tidegate::{
    chunks, chunks_mut, current_worker, enumerate, filter_map, fold_reduce, for_each, map_reduce,
    max_by, min_by, par_map, sum, windows, zip,
};

/// Numbers in no order, some of them equal.
fn numbers(length: usize) -> Vec<u64> {
    (0..length as u64).map(|n| n * 7_919 % 1_009).collect()
}

#[test]
fn fold_keeps_the_order_of_the_items() {
    everywhere(|length| {
        let add = |mut text: String, n: usize| {
            text += &n.to_string();
            text
        };
        let folded = fold_reduce(0..length, String::new, add, |a, b| a + &b);
        assert_eq!(folded, (0..length).fold(String::new(), add));
    });
}

#[test]
fn fold_of_many_items_has_32_accumulators() {
    everywhere(|length| {
        let one = |_, _| 1;
        let accumulators = fold_reduce(0..length, || 0, one, |a, b| a + b);
        let size = length.div_ceil(32).max(1);
        assert_eq!(accumulators, length.div_ceil(size));
    });
}

#[test]
fn sums_of_floats_repeat() {
    watched(|| {
        let inverse = |n: &u64| 1.0 / (*n as f64 + 0.1);
        let numbers = numbers(5_000);
        let total = || sum(&numbers, inverse).to_bits();
        let outside = total();
        for workers in 1..=3 {
            assert_eq!(pool(workers).install(total), outside);
        }
    });
}

#[test]
fn sums_and_extremes_are_right() {
    everywhere(|length| {
        let numbers = numbers(length);
        assert_eq!(sum(&numbers, |n| *n), numbers.iter().sum::<u64>());
        // Equal numbers differ in their position.
        let by_number = |a: &(usize, &u64), b: &(usize, &u64)| a.1.cmp(b.1);
        let all = || numbers.iter().enumerate();
        assert_eq!(
            min_by(enumerate(&numbers), by_number),
            all().min_by(by_number)
        );
        assert_eq!(
            max_by(enumerate(&numbers), by_number),
            all().max_by(by_number)
        );
    });
}

#[test]
fn filter_keeps_the_order_of_the_items() {
    everywhere(|length| {
        let odd = |n: u64| (n % 2 == 1).then(|| n.to_string());
        let kept: Vec<String> = numbers(length).into_iter().filter_map(odd).collect();
        assert_eq!(filter_map(numbers(length), odd), kept);
    });
}

#[test]
fn panic_of_a_filter_drops_all_items() {
    watched(|| {
        let marker = Arc::new(());
        let items = vec![marker.clone(); 5_000];
        let keep = |(n, item)| {
            assert_ne!(n, 4_000, "ebb");
            (n % 2 == 0).then_some(item)
        };
        let run = || pool(2).install(|| filter_map(enumerate(items), keep));
        assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
        assert_eq!(Arc::strong_count(&marker), 1);
    });
}

#[test]
fn numbered_chunks_know_their_place() {
    everywhere(|length| {
        let mut rows = vec![0; length];
        for_each(enumerate(chunks_mut(&mut rows, 7)), |(y, row)| row.fill(y));
        let expected: Vec<usize> = (0..length).map(|i| i / 7).collect();
        assert_eq!(rows, expected);
        let firsts = par_map(enumerate(chunks(&rows, 7)), |(y, row)| {
            (y, row[0], row.len())
        });
        let all = rows
            .chunks(7)
            .enumerate()
            .map(|(y, row)| (y, row[0], row.len()));
        assert_eq!(firsts, all.collect::<Vec<_>>());
    });
}

#[test]
fn pairs_end_with_the_shorter_side() {
    everywhere(|length| {
        let mut left = numbers(length);
        for_each(zip(&mut left, 1..=u64::MAX), |(n, i)| *n = i);
        assert_eq!(left, (1..=length as u64).collect::<Vec<_>>());
        let owned: Vec<String> = left.iter().map(u64::to_string).collect();
        let half = &left[..length / 2];
        let texts = par_map(zip(owned, zip(half, 0_u8..=255)), |(text, (n, _))| {
            format!("{text}{n}")
        });
        let expected = half.iter().take(256).map(|n| format!("{n}{n}"));
        assert_eq!(texts, expected.collect::<Vec<_>>());
    });
}

#[test]
fn windows_overlap() {
    everywhere(|length| {
        let numbers = numbers(length);
        for size in [1, 2, 64, 5_001] {
            let sums = par_map(windows(&numbers, size), |window| window.iter().sum::<u64>());
            let expected = numbers.windows(size).map(|window| window.iter().sum());
            assert_eq!(sums, expected.collect::<Vec<u64>>());
        }
    });
}

#[test]
fn every_integer_type_has_ranges() {
    watched(|| {
        assert_eq!(
            par_map(250_u8..=255, u64::from),
            [250, 251, 252, 253, 254, 255]
        );
        assert_eq!(sum(i8::MIN..=i8::MAX, i64::from), -128);
        assert_eq!(sum(0_u16..1_000, u64::from), 499_500);
        assert_eq!(sum(-5_i16..5, i64::from), -5);
        assert_eq!(sum(-5_isize..5, |n| n), -5);
    });
}

/// Cheap items come first, so the worker that reduces them does not expect to fork. The items that
/// follow are slow until another worker has got some of them.
#[test]
fn slow_items_after_cheap_ones_are_shared() {
    const ITEMS: usize = 128;
    watched(|| {
        let (workers, gate) = (Mutex::new(HashSet::new()), Gate::new());
        let map = |n: usize| {
            if n > ITEMS / 2 {
                gate.open();
                let mut workers = workers.lock().unwrap();
                workers.insert(current_worker());
                let is_shared = workers.len() > 1;
                drop(workers);
                if !is_shared {
                    std::thread::sleep(Duration::from_millis(50));
                }
            }
            1
        };
        let total = pool(2).install(|| {
            let reduce = || map_reduce(0..ITEMS, map, |a, b| a + b);
            // The other worker is busy until the slow items begin.
            tidegate::join(reduce, || gate.wait()).0
        });
        assert_eq!(total, Some(ITEMS));
        assert!(workers.into_inner().unwrap().len() > 1);
    });
}
