//! Programs that would hang or overflow the stack if a waiting thread ran any task that it finds.

use crate::support::{pool, watched};
use rayon::prelude::*;
use rayon_core::{Scope, ThreadPoolBuilder};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

/// Spins until another thread sets `done`. Acquire pairs with that thread's Release store.
fn until(done: &AtomicBool) {
    while !done.load(Ordering::Acquire) {
        std::hint::spin_loop();
    }
}

/// Runs a parallel loop with two parts on two threads. While the first thread waits for the second
/// part, `unrelated` is pending in `outer`. If waiting threads ran any task, the first thread would
/// have enough time to run it.
fn loop_beside<'s>(outer: &Scope<'s>, unrelated: impl FnOnce() + Send + 's) {
    let (begun, waits) = (AtomicBool::new(false), AtomicBool::new(false));
    let first = || {
        until(&begun);
        waits.store(true, Ordering::Release);
    };
    let unrelated = Mutex::new(Some(unrelated));
    let second = || {
        begun.store(true, Ordering::Release);
        until(&waits);
        let unrelated = unrelated.lock().unwrap().take().unwrap();
        outer.spawn(|_| unrelated());
        std::thread::sleep(Duration::from_millis(30));
    };
    let parts: [&(dyn Fn() + Sync); 2] = [&first, &second];
    let parts = parts.into_par_iter().with_max_len(1);
    parts.for_each(|part| part());
}

/// While a task runs a parallel loop under a lock, other tasks wait for the lock.
#[test]
fn loop_may_run_under_contended_lock() {
    watched(|| {
        let (lock, ran) = (Mutex::new(()), AtomicUsize::new(0));
        pool(2).scope(|s| {
            for round in 1..=5 {
                let held = lock.lock().unwrap();
                loop_beside(s, || {
                    drop(lock.lock().unwrap());
                    ran.fetch_add(1, Ordering::Relaxed);
                });
                drop(held);
                while ran.load(Ordering::Relaxed) < round {
                    std::hint::spin_loop();
                }
            }
        });
    });
}

/// While a task computes a value with a parallel loop, other tasks wait for the value.
#[test]
fn loop_may_initialize_a_contended_value() {
    watched(|| {
        let (values, asked) = ([const { OnceLock::new() }; 5], AtomicUsize::new(0));
        pool(2).scope(|s| {
            for value in &values {
                let ask = || {
                    assert_eq!(value.get_or_init(|| 0), &7, "made by the loop");
                    asked.fetch_add(1, Ordering::Relaxed);
                };
                value.get_or_init(|| {
                    loop_beside(s, ask);
                    7
                });
            }
        });
        assert_eq!(asked.into_inner(), 5);
    });
}

#[test]
fn tasks_may_need_their_spawners_lock() {
    // More tasks than a deque holds, so that some of them go to a queue.
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
fn scopes_may_nest_very_deeply() {
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

/// Tasks wait for another pool while their thread's deque holds many other tasks.
#[test]
fn waiting_tasks_do_not_stack_up() {
    const TASKS: usize = 2_000;
    watched(|| {
        let (here, other) = (pool(1), pool(1));
        let deepest = AtomicUsize::new(usize::MAX);
        let highest = AtomicUsize::new(0);
        let task = || {
            let place = 0;
            let place = std::ptr::from_ref(&place).addr();
            deepest.fetch_min(place, Ordering::Relaxed);
            highest.fetch_max(place, Ordering::Relaxed);
            other.install(|| std::thread::sleep(Duration::from_micros(20)));
        };
        here.scope(|s| (0..TASKS).for_each(|_| s.spawn(|_| task())));
        let used = highest.into_inner() - deepest.into_inner();
        assert!(used < 10_000, "{used} bytes of stack");
    });
}

#[test]
fn interdependent_join_halves_both_run() {
    watched(|| {
        let (barrier, pool) = (std::sync::Barrier::new(2), pool(2));
        for _ in 0..100 {
            pool.join(|| barrier.wait(), || barrier.wait());
        }
    });
}
