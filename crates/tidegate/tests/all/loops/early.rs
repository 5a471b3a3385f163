//! Loops that end early: they find what the standard library finds, and stop the other workers.

use super::everywhere;
use crate::support::{pool, watched};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tidegate::{
    CancelToken, TryError, all, any, enumerate, find_any, position_any, try_map_reduce, try_par_map,
};

#[test]
fn only_match_is_found() {
    everywhere(|length| {
        for wanted in [0, length / 2, length.saturating_sub(1), length] {
            let found = (wanted < length).then_some(wanted);
            assert_eq!(find_any(0..length, |n| *n == wanted), found);
            assert_eq!(position_any(1..=length, |n| n == wanted + 1), found);
            assert_eq!(any(0..length, |n| n == wanted), found.is_some());
            assert_eq!(all(0..length, |n| n != wanted), found.is_none());
        }
    });
}

#[test]
fn one_of_several_matches_is_found() {
    everywhere(|length| {
        let found = find_any(0..length, |n| n % 3 == 1);
        assert_eq!(found.is_some(), length > 1);
        assert!(found.is_none_or(|n| n % 3 == 1));
    });
}

/// Each item takes long enough to form a block of its own.
fn slowly() {
    std::thread::sleep(Duration::from_micros(50));
}

#[test]
fn other_workers_stop_after_a_match() {
    watched(|| {
        let visits = AtomicUsize::new(0);
        let is_first = |n: &usize| {
            visits.fetch_add(1, Ordering::Relaxed);
            slowly();
            *n == 0
        };
        assert_eq!(pool(2).install(|| find_any(0..5_000, is_first)), Some(0));
        assert!(visits.into_inner() < 5_000);
    });
}

/// Items and values are dropped once, whether or not a loop ends early.
#[test]
fn owned_items_are_dropped() {
    watched(|| {
        let marker = Arc::new(());
        let items = || vec![marker.clone(); 1_000];
        let found = pool(2).install(|| find_any(items(), |_| true));
        assert_eq!(Arc::strong_count(&marker), 2);
        drop(found);
        let keep = |(n, item)| if n == 500 { Err(n) } else { Ok(item) };
        let failed = pool(2).install(|| try_par_map(enumerate(items()), keep));
        assert_eq!(failed, Err(TryError::Failed(500)));
        assert_eq!(Arc::strong_count(&marker), 1);
    });
}

#[test]
fn fallible_loops_return_all_values() {
    everywhere(|length| {
        let ok = |n: usize| Ok::<_, &str>(n.to_string());
        let texts: Vec<String> = (0..length).map(|n| n.to_string()).collect();
        let joined = (length > 0).then(|| texts.concat());
        assert_eq!(try_par_map(0..length, ok), Ok(texts));
        assert_eq!(try_map_reduce(0..length, ok, |a, b| a + &b), Ok(joined));
    });
}

#[test]
fn fallible_loops_stop_at_an_error() {
    watched(|| {
        for workers in 1..=3 {
            let visits = AtomicUsize::new(0);
            let fail = |n: usize| {
                visits.fetch_add(1, Ordering::Relaxed);
                slowly();
                if n == 3 { Err("three") } else { Ok(n) }
            };
            let pool = pool(workers);
            let mapped = pool.install(|| try_par_map(0..5_000, fail));
            assert_eq!(mapped, Err(TryError::Failed("three")));
            assert!(visits.load(Ordering::Relaxed) < 5_000);
            let reduced = pool.install(|| try_map_reduce(0..5_000, fail, |a, b| a + b));
            assert_eq!(reduced, Err(TryError::Failed("three")));
            assert!(visits.into_inner() < 10_000);
        }
    });
}

#[test]
fn fallible_loops_see_their_callers_token() {
    watched(|| {
        let token = CancelToken::new();
        token.cancel();
        let ok = Ok::<usize, &str>;
        token.run(|| {
            assert_eq!(try_par_map(0..10, ok), Err(TryError::Cancelled));
            let reduced = try_map_reduce(0..10, ok, |a, b| a + b);
            assert_eq!(reduced, Err(TryError::Cancelled));
        });
    });
}

/// The first reduction panics, so no further item is mapped by the same worker.
#[test]
fn panic_of_a_reduction_stops_a_fallible_loop() {
    watched(|| {
        let maps = AtomicUsize::new(0);
        let map = |_| Ok::<_, ()>(_ = maps.fetch_add(1, Ordering::Relaxed));
        let run = || pool(1).install(|| try_map_reduce(0..1_024, map, |(), ()| panic!("ebb")));
        assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
        assert!(maps.into_inner() < 1_024);
    });
}

/// The pool starts no thread if the caller finds the item at once.
#[test]
fn match_of_a_slow_first_item_ends_a_loop_outside() {
    watched(|| {
        let visits = AtomicUsize::new(0);
        let is_first = |n: usize| {
            visits.fetch_add(1, Ordering::Relaxed);
            slowly();
            n == 0
        };
        assert!(any(0..1_000, is_first));
        assert_eq!(visits.into_inner(), 1);
    });
}
