//! Runs the main parts of Tidegate and of rayon on Tidegate, and fails if a result is wrong. Where
//! the system has no threads, the calling thread runs everything. `run.mjs` runs it in Node, and
//! `wasi.mjs` with threads.

use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tidegate::{for_each, join, map_reduce, scope, spawn};

fn fib(n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let (a, b) = join(|| fib(n - 1), || fib(n - 2));
    a + b
}

fn main() {
    assert_eq!(fib(20), 6765);

    let sum = AtomicU64::new(0);
    let add = |n| _ = sum.fetch_add(n, Ordering::Relaxed);
    scope(|scope| (1..=100).for_each(|n| scope.spawn(move |_| add(n))));
    for_each(1..=100, add);
    rayon::scope(|scope| (1..=100).for_each(|n| scope.spawn(move |_| add(n))));
    assert_eq!(sum.load(Ordering::Relaxed), 3 * 5050);
    assert_eq!(map_reduce(1..=100, |n: u64| n, |a, b| a + b), Some(5050));

    let handles: Vec<_> = (1..=10).map(|n| spawn(move || fib(n))).collect();
    let fibs: u64 = handles.into_iter().map(|handle| handle.join()).sum();
    assert_eq!(fibs, 143);
    let waited = spawn(|| fib(5)).join_timeout(Duration::from_millis(1));
    assert_eq!(waited.unwrap_or_else(|handle| handle.join()), 5);

    // Without threads, the caller runs the first task while it waits for the second.
    let pool = tidegate::Pool::builder().workers(2).build();
    let later = pool.expect("a pool").install(|| {
        let handle = spawn(|| fib(5));
        tidegate::spawn_future(async { handle.await + 1 }).join()
    });
    assert_eq!(later, 6);

    let squares = tidegate::stream(1..=10).map(|n: u64| n * n);
    assert_eq!(squares.ordered().sum::<u64>(), 385);

    let mut numbers: Vec<u64> = (1..=10_000).rev().collect();
    numbers.par_sort();
    assert!(numbers.is_sorted());
    assert_eq!(numbers.par_iter().sum::<u64>(), 50_005_000);
    assert_eq!(rayon::join(|| 1, || 2), (1, 2));

    let threads = rayon::current_num_threads();
    println!("everything is right, with {threads} threads of rayon");
}
