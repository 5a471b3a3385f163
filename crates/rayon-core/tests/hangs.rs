//! Programs that hang or overflow their stack where a task that waits runs whatever there is.

mod support;

use rayon::prelude::*;
use rayon_core::{Scope, ThreadPoolBuilder};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use support::{pool, watched};

/// A parallel computation that is worth stealing from.
fn work() -> usize {
    (0..1_000_usize).into_par_iter().map(|i| i % 7).sum()
}

const WORK: usize = 2_997;

#[test]
fn a_lock_may_be_held_over_a_parallel_loop_inside_of_another() {
    watched(|| {
        for threads in [1, 2, 4] {
            pool(threads).install(|| {
                let sum = Mutex::new(0);
                (0..300).into_par_iter().for_each(|_| {
                    let mut sum = sum.lock().unwrap();
                    *sum += work();
                });
                assert_eq!(sum.into_inner().unwrap(), 300 * WORK);
            });
        }
    });
}

#[test]
fn a_value_may_be_made_once_by_a_parallel_computation_that_many_tasks_ask_for() {
    watched(|| {
        for threads in [1, 2, 4] {
            for _ in 0..50 {
                let once = OnceLock::new();
                pool(threads).install(|| {
                    let ask = |_| assert_eq!(*once.get_or_init(work), WORK);
                    (0..100).into_par_iter().for_each(ask);
                });
            }
        }
    });
}

#[test]
fn tasks_may_be_spawned_under_a_lock_that_they_take() {
    // More than a deque holds: what comes after that waits in a queue.
    const TASKS: usize = 200_000;
    watched(|| {
        for threads in [1, 2] {
            let (lock, ran) = (Mutex::new(()), AtomicUsize::new(0));
            let task = || {
                drop(lock.lock().unwrap());
                ran.fetch_add(1, Ordering::Relaxed);
            };
            pool(threads).scope(|s| {
                let held = lock.lock().unwrap();
                for _ in 0..TASKS {
                    s.spawn(|_| task());
                }
                drop(held);
            });
            assert_eq!(ran.load(Ordering::Relaxed), TASKS);
        }
    });
}

fn scopes(levels: usize) -> usize {
    if levels == 0 {
        return 0;
    }
    let mut below = 0;
    rayon_core::scope(|s| s.spawn(|_| below = scopes(levels - 1)));
    below + 1
}

#[test]
fn scopes_may_be_nested_a_hundred_thousand_deep() {
    const LEVELS: usize = 100_000;
    watched(|| {
        for threads in [1, 2] {
            let builder = ThreadPoolBuilder::new()
                .num_threads(threads)
                .stack_size(1 << 31);
            let pool = builder.build().unwrap();
            assert_eq!(pool.install(|| scopes(LEVELS)), LEVELS);
        }
    });
}

/// A task of each scope waits while others that have nothing to do with it lie about: none of them may come on top.
#[test]
fn many_waiting_tasks_do_not_pile_up_on_one_stack() {
    fn tree<'s>(s: &Scope<'s>, deepest: &'s AtomicUsize, depth: usize) {
        let here = std::ptr::from_ref(&depth).addr();
        deepest.fetch_min(here, Ordering::Relaxed);
        if depth > 0 {
            for _ in 0..3 {
                s.spawn(move |_| rayon_core::scope(|s| tree(s, deepest, depth - 1)));
            }
        }
    }
    watched(|| {
        let pool = pool(1);
        let used = |depth| {
            let (top, deepest) = (0, AtomicUsize::new(usize::MAX));
            let top = std::ptr::from_ref(&top).addr();
            rayon_core::scope(|s| tree(s, &deepest, depth));
            top - deepest.into_inner()
        };
        pool.install(|| {
            let (four, eight) = (used(4), used(8));
            assert!(
                eight < 3 * four,
                "{four} bytes for four levels, {eight} for eight"
            );
        });
    });
}

#[test]
fn two_halves_that_wait_for_each_other_both_run() {
    watched(|| {
        let (barrier, pool) = (std::sync::Barrier::new(2), pool(2));
        for _ in 0..100 {
            pool.join(|| barrier.wait(), || barrier.wait());
        }
    });
}
