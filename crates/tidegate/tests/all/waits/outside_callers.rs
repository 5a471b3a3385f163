//! Callers that are not workers of the pool: threads outside all pools (more of them than the pool
//! has slots), and workers of other pools.

use crate::support::{Tally, bare_pool, built, fib, pool, watched};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use tidegate::Pool;

/// Uses all free functions.
fn use_all_free_functions() {
    assert_eq!(tidegate::join(|| fib(9), || fib(10)), (34, 55));
    let ran = Tally::new();
    tidegate::scope(|s| {
        for _ in 0..10 {
            s.spawn(|s| s.spawn(|_| ran.come()));
        }
    });
    assert_eq!(ran.get(), 10);
    let visits: Vec<_> = (0..3_000).map(|_| AtomicUsize::new(0)).collect();
    tidegate::for_each(&visits[..], |visit| {
        visit.fetch_add(1, Ordering::Relaxed);
    });
    assert!(visits.iter().all(|v| v.load(Ordering::Relaxed) == 1));
    let sum = tidegate::map_reduce(0..3_000, |i| i, |a, b| a + b);
    assert_eq!(sum, Some(3_000 * 2_999 / 2));
    assert_eq!(tidegate::spawn(|| fib(8)).join(), 21);
    let numbers = tidegate::broadcast(|number| number);
    assert!(numbers.iter().copied().eq(0..numbers.len()));
    assert_eq!(tidegate::blocking(|| 5), 5);
    tidegate::yield_point();
}

/// Like `use_all_free_functions`, but through the methods of a pool.
fn use_all_methods(pool: &Pool) {
    assert_eq!(pool.join(|| fib(9), || fib(10)), (34, 55));
    let ran = Tally::new();
    pool.scope(|s| {
        for _ in 0..10 {
            s.spawn(|s| s.spawn(|_| ran.come()));
        }
    });
    assert_eq!(ran.get(), 10);
    pool.install(use_all_free_functions);
    assert_eq!(pool.spawn(|| fib(8)).join(), 21);
    let numbers = pool.broadcast(|number| number);
    assert!(numbers.iter().copied().eq(0..numbers.len()));
}

/// Outside all pools, the statistics are those of the global pool.
#[test]
fn stats_belong_to_task_pool() {
    watched(|| {
        let global = tidegate::stats().workers;
        let other = built(Pool::builder().workers(global + 1));
        assert_eq!(other.install(tidegate::stats).workers, global + 1);
        let on_global = tidegate::broadcast(|_| tidegate::stats().workers);
        assert!(on_global.iter().all(|workers| *workers == global));
        let before = tidegate::stats().counters.dispatched;
        // The joiner may run the task itself, and then the task is not counted.
        while tidegate::stats().counters.dispatched == before {
            tidegate::spawn(|| ()).join();
        }
    });
}

#[test]
fn outside_thread_may_call_everything() {
    watched(|| {
        for _ in 0..50 {
            use_all_free_functions();
        }
        for pool in [pool(1), pool(2), bare_pool(1), bare_pool(2)] {
            for _ in 0..20 {
                use_all_methods(&pool);
            }
        }
    });
}

#[test]
fn outside_callers_may_outnumber_slots() {
    watched(|| {
        for pool in [pool(1), pool(2), bare_pool(1), bare_pool(2)] {
            let together = Barrier::new(8);
            std::thread::scope(|s| {
                for _ in 0..8 {
                    s.spawn(|| {
                        together.wait();
                        for _ in 0..10 {
                            use_all_methods(&pool);
                            use_all_free_functions();
                        }
                    });
                }
            });
        }
    });
}

#[test]
fn two_pools_may_call_each_other() {
    watched(|| {
        for (a, b) in [
            (pool(2), pool(2)),
            (bare_pool(1), bare_pool(1)),
            (pool(1), bare_pool(2)),
        ] {
            std::thread::scope(|s| {
                s.spawn(|| {
                    for _ in 0..10 {
                        a.install(|| use_all_methods(&b));
                    }
                });
                for _ in 0..10 {
                    b.install(|| use_all_methods(&a));
                }
            });
        }
    });
}

#[test]
fn outside_join_runs_halves_concurrently() {
    watched(|| {
        for pool in [pool(2), bare_pool(2)] {
            for _ in 0..100 {
                let meeting = Barrier::new(2);
                pool.join(|| meeting.wait(), || meeting.wait());
            }
        }
    });
}

#[test]
fn nested_install_stays_on_thread() {
    watched(|| {
        let pool = built(Pool::builder().workers(1).max_threads(1).name("inner"));
        let here = || std::thread::current().id();
        let (outside, inside) = (here(), pool.install(here));
        assert_ne!(outside, inside);
        assert_eq!(pool.install(|| pool.install(here)), inside);
        let other = bare_pool(1);
        assert_eq!(other.install(|| pool.install(here)), inside);
    });
}

/// The caller runs the scope on its own stack if a slot is free.
#[test]
fn outside_caller_runs_on_own_stack() {
    watched(|| {
        let pool = pool(2);
        let here = || std::thread::current().id();
        // A slot is free for a guest only after idle threads have given their slots back.
        crate::support::until(|| pool.join(here, || ()).0 == here());
        crate::support::until(|| pool.scope(|_| here()) == here());
    });
}

#[test]
fn another_thread_may_join_handle() {
    watched(|| {
        for pool in [pool(2), bare_pool(1)] {
            for _ in 0..100 {
                let handle = pool.spawn(|| fib(7));
                assert_eq!(std::thread::spawn(|| handle.join()).join().unwrap(), 13);
                let handle = pool.spawn(|| fib(7));
                assert_eq!(pool.install(|| handle.join()), 13);
                let handle = pool.install(|| tidegate::spawn(|| fib(7)));
                assert_eq!(handle.join(), 13);
            }
        }
    });
}

#[test]
fn departed_guest_task_still_runs() {
    watched(|| {
        for pool in [pool(1), pool(2)] {
            for _ in 0..100 {
                // The task is detached while the caller is a guest, so it lies in the guest's own
                // deque.
                let handle = pool.scope(|_| tidegate::spawn(|| fib(5)));
                assert_eq!(handle.join(), 5);
                let ran = Arc::new(Tally::new());
                let other = ran.clone();
                pool.scope(|_| drop(tidegate::spawn(move || other.come())));
                ran.wait_for(1);
            }
        }
    });
}

/// Calls a closure when its thread ends.
struct AtEnd(Box<dyn Fn()>);

impl Drop for AtEnd {
    fn drop(&mut self) {
        (self.0)();
    }
}

thread_local! {
    static BEFORE: std::cell::RefCell<Option<AtEnd>> = const { std::cell::RefCell::new(None) };
    static BEHIND: std::cell::RefCell<Option<AtEnd>> = const { std::cell::RefCell::new(None) };
}

/// Calls `f` twice while the calling thread's local values are destroyed: before and after the
/// destruction of the values that `used` has created.
fn at_end(used: impl Fn(), f: impl Fn() + Clone + 'static) {
    BEFORE.set(Some(AtEnd(Box::new(f.clone()))));
    used();
    BEHIND.set(Some(AtEnd(Box::new(f))));
}

/// A thread uses pools while its local values are being destroyed.
#[test]
#[cfg_attr(windows, ignore = "no thread starts there while a destructor waits")]
fn ending_thread_may_call_everything() {
    watched(|| {
        for in_life in [true, false] {
            for _ in 0..20 {
                let (ended, pool) = (Arc::new(Tally::new()), Arc::new(pool(2)));
                let count = ended.clone();
                let call = move || {
                    use_all_free_functions();
                    // Blocks on another thread, so it uses a thread-local of the calling thread,
                    // which may already be destroyed here.
                    use_all_methods(&pool);
                };
                let used = call.clone();
                let f = move || {
                    call();
                    count.come();
                };
                let thread = std::thread::spawn(move || {
                    at_end(
                        || {
                            if in_life {
                                used();
                            }
                        },
                        f,
                    )
                });
                thread.join().unwrap();
                assert_eq!(ended.get(), 2);
            }
        }
    });
}

/// A pool's thread uses the global pool while its local values are being destroyed.
#[test]
#[cfg_attr(windows, ignore = "no thread starts there while a destructor waits")]
fn ending_pool_thread_may_call_everything() {
    watched(|| {
        for pool in [pool(2), bare_pool(1)] {
            let ended = Arc::new(Tally::new());
            let threads = pool.broadcast(|_| {
                let count = ended.clone();
                at_end(
                    || assert_eq!(fib(5), 5),
                    move || {
                        use_all_free_functions();
                        count.come();
                    },
                );
            });
            drop(pool);
            assert_eq!(ended.get(), 2 * threads.len());
        }
    });
}

#[test]
#[cfg_attr(windows, ignore = "no thread starts there while a destructor waits")]
fn thread_destructors_may_drop_a_pool() {
    watched(|| {
        for _ in 0..20 {
            let (pool, ran) = (
                Arc::new(std::sync::Mutex::new(Some(pool(2)))),
                Arc::new(Tally::new()),
            );
            let other = ran.clone();
            let f = move || {
                let Some(pool) = pool.lock().unwrap().take() else {
                    return;
                };
                let other = other.clone();
                drop(pool.spawn(move || other.come()));
                drop(pool);
            };
            std::thread::spawn(move || at_end(|| (), f)).join().unwrap();
            assert_eq!(ran.get(), 1);
        }
    });
}
