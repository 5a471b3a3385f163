//! Programs with two or more pools.

use crate::support::{pool, watched};
use rayon::prelude::*;
use rayon_core::{ThreadPool, ThreadPoolBuilder};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

fn sum(pool: &ThreadPool, to: u64) -> u64 {
    pool.install(|| (0..to).into_par_iter().sum())
}

#[test]
fn pools_may_call_each_other() {
    watched(|| {
        for threads in [1, 2, 3] {
            let (a, b) = (pool(threads), pool(threads));
            for _ in 0..100 {
                let sum = a.install(|| b.install(|| a.install(|| sum(&b, 1_000))));
                assert_eq!(sum, 499_500);
            }
        }
    });
}

/// The items run on the other pool, and each item calls back into the first pool.
#[test]
fn loop_items_may_call_another_pool() {
    watched(|| {
        let (a, b) = (pool(2), pool(2));
        let item = |i: u64| b.install(|| a.install(|| i));
        let sum: u64 = a.install(|| (0..500).into_par_iter().map(item).sum());
        assert_eq!(sum, 124_750);
    });
}

/// One thread of the pool is blocked until a task that was passed to the pool from outside has run.
/// The pool's other thread waits for another pool, and must run that task meanwhile.
#[test]
fn cross_pool_waiter_runs_injected_tasks() {
    watched(|| {
        let (a, b) = (pool(2), pool(1));
        let (sender, receiver) = std::sync::mpsc::channel();
        let blocked = std::sync::Barrier::new(2);
        a.scope(|s| {
            s.spawn(|_| {
                blocked.wait();
                b.install(|| a.install(|| sender.send(1).unwrap()));
            });
            s.spawn(|_| {
                let receiver = receiver;
                blocked.wait();
                assert_eq!(receiver.recv(), Ok(1));
            });
        });
    });
}

#[test]
fn cross_pool_waiter_runs_own_spawns() {
    watched(|| {
        let (a, b) = (pool(1), pool(1));
        let (sender, receiver) = std::sync::mpsc::channel();
        a.install(move || {
            rayon_core::spawn(move || sender.send(1).unwrap());
            assert_eq!(b.install(move || receiver.recv()), Ok(1));
        });
    });
}

#[test]
fn hundred_outside_threads_share_a_pool() {
    watched(|| {
        let pool = pool(2);
        std::thread::scope(|scope| {
            for to in 0..100 {
                let pool = &pool;
                scope.spawn(move || {
                    for _ in 0..20 {
                        assert_eq!(sum(pool, to), (0..to).sum());
                        let mut count = 0;
                        pool.in_place_scope(|s| s.spawn(|_| count += 1));
                        assert_eq!(count, 1);
                    }
                });
            }
        });
    });
}

/// Returns the numbers of this process's threads and resident pages.
#[cfg(target_os = "linux")]
fn threads_and_pages() -> (usize, usize) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let threads = status
        .lines()
        .find_map(|line| line.strip_prefix("Threads:"));
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages = pages.split_whitespace().nth(1).unwrap();
    (
        threads.unwrap().trim().parse().unwrap(),
        pages.parse().unwrap(),
    )
}

/// Builds, uses and drops pools one after another. Returns after all their threads have ended and
/// their memory is free.
fn make_and_drop(pools: usize) {
    let ended = Arc::new(AtomicUsize::new(0));
    for _ in 0..pools {
        let count = ended.clone();
        let builder = ThreadPoolBuilder::new().num_threads(2);
        let builder = builder.exit_handler(move |_| {
            count.fetch_add(1, Ordering::Relaxed);
        });
        let pool = builder.build().unwrap();
        assert_eq!(sum(&pool, 100), 4950);
        pool.spawn(|| ());
    }
    // Each pool holds a reference to `ended` until the pool's memory is freed.
    while Arc::strong_count(&ended) > 1 {
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(ended.load(Ordering::Relaxed), 2 * pools);
}

/// The test also checks that dropped pools leak no memory.
#[test]
fn dropped_pools_leak_no_threads() {
    watched(|| {
        make_and_drop(100);
        #[cfg(target_os = "linux")]
        let (threads, pages) = threads_and_pages();
        make_and_drop(1_000);
        #[cfg(target_os = "linux")]
        {
            let (threads_after, pages_after) = threads_and_pages();
            // Other tests run concurrently, and each of them has a few pools.
            assert!(
                threads_after < threads + 200,
                "{threads} threads before, {threads_after} after"
            );
            assert!(
                pages_after < pages + 8_192,
                "{pages} pages before, {pages_after} after"
            );
        }
    });
}
