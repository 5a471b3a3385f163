//! Guarantees of rayon's interface that rayon's own tests do not check.

use crate::support::{pool, watched};
use rayon::prelude::*;
use rayon_core::{ThreadPoolBuilder, Yield};
use std::collections::HashSet;
use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;

#[test]
fn thread_index_is_stable_and_bounded() {
    watched(|| {
        let pool = pool(3);
        let seen = Mutex::new(HashSet::new());
        let number = || {
            let index = rayon_core::current_thread_index().unwrap();
            assert_eq!(rayon_core::current_num_threads(), 3);
            seen.lock()
                .unwrap()
                .insert((index, std::thread::current().id()));
        };
        for _ in 0..20 {
            pool.install(|| {
                (0..100).into_par_iter().for_each(|_| {
                    number();
                    rayon_core::join(number, number);
                });
            });
            pool.broadcast(|_| number());
        }
        let mut seen: Vec<_> = seen.into_inner().unwrap().into_iter().collect();
        seen.sort_by_key(|(index, _)| *index);
        let indices = seen.iter().map(|(index, _)| *index);
        assert!(indices.eq(0..3), "one thread for each number: {seen:?}");
        assert_eq!(rayon_core::current_thread_index(), None);
    });
}

#[test]
fn excessive_thread_count_is_reduced() {
    let most = rayon_core::max_num_threads();
    let refused = |thread: rayon_core::ThreadBuilder| {
        assert!(thread.index() < 1, "no further one is tried");
        Err(std::io::Error::other(thread.index().to_string()))
    };
    let builder = ThreadPoolBuilder::new().num_threads(most + 1);
    let error = builder.spawn_handler(refused).build().unwrap_err();
    assert_eq!(error.to_string(), "0");
    assert!(error.source().is_some());
}

#[test]
fn oversized_stack_is_a_clear_error() {
    let builder = ThreadPoolBuilder::new().num_threads(1);
    let error = builder.stack_size(usize::MAX).build().unwrap_err();
    let error = error.to_string();
    assert!(
        error.contains(" for Builder::stack_size: expected "),
        "{error}"
    );
}

#[test]
fn too_small_stack_is_raised() {
    let builder = ThreadPoolBuilder::new().num_threads(1).stack_size(1);
    assert_eq!(builder.build().unwrap().install(|| 7), 7);
}

#[test]
fn dropped_thread_builder_is_not_missed() {
    watched(|| {
        let builder = ThreadPoolBuilder::new().num_threads(3);
        let some = |thread: rayon_core::ThreadBuilder| {
            if thread.index() != 1 {
                std::thread::spawn(|| thread.run());
            }
            Ok(())
        };
        let pool = builder.spawn_handler(some).build().unwrap();
        let sum: u64 = pool.install(|| (0..1_000).into_par_iter().sum());
        assert_eq!(sum, 499_500);
        assert_eq!(
            pool.broadcast(|_| rayon_core::current_thread_index()).len(),
            2
        );
    });
}

#[test]
fn broadcast_part_follows_deque_tasks() {
    watched(|| {
        let pool = pool(1);
        let (part, order) = channel();
        let task = part.clone();
        pool.spawn(move || {
            rayon_core::spawn(move || task.send("task").unwrap());
            rayon_core::spawn_broadcast(move |_| part.send("part").unwrap());
        });
        assert!(order.iter().eq(["task", "part"]));
    });
}

#[test]
fn task_may_yield_to_its_sibling() {
    watched(|| {
        for threads in [1, 2] {
            for yields in [rayon_core::yield_now, rayon_core::yield_local] {
                let done = AtomicBool::new(false);
                let first = || {
                    while !done.load(Ordering::Acquire) {
                        assert!(yields().is_some());
                    }
                };
                pool(threads).join(first, || done.store(true, Ordering::Release));
            }
        }
        assert_eq!(rayon_core::yield_now(), None);
        assert_eq!(rayon_core::yield_local(), None);
    });
}

#[test]
fn a_yield_runs_one_task() {
    watched(|| {
        let pool = pool(1);
        let (sender, receiver) = channel();
        pool.install(move || {
            for i in 0..2 {
                let sender = sender.clone();
                rayon_core::spawn(move || sender.send(i).unwrap());
            }
            assert_eq!(rayon_core::current_thread_has_pending_tasks(), Some(true));
            assert_eq!(rayon_core::yield_local(), Some(Yield::Executed));
            assert_eq!(receiver.try_iter().count(), 1);
            assert_eq!(rayon_core::yield_now(), Some(Yield::Executed));
            assert_eq!(receiver.try_iter().count(), 1);
            assert_eq!(rayon_core::yield_now(), Some(Yield::Idle));
            assert_eq!(rayon_core::current_thread_has_pending_tasks(), Some(false));
        });
        assert_eq!(pool.yield_now(), None);
    });
}

#[test]
#[expect(deprecated, reason = "it is part of the interface")]
fn breadth_first_starts_with_oldest_spawn() {
    watched(|| {
        let builder = ThreadPoolBuilder::new().num_threads(1).breadth_first();
        let pool = builder.build().unwrap();
        let order = Mutex::new(Vec::new());
        pool.scope(|s| {
            for i in 0..10 {
                let order = &order;
                s.spawn(move |_| order.lock().unwrap().push(i));
            }
        });
        assert!(order.into_inner().unwrap().into_iter().eq(0..10));
        let (sender, receiver) = channel();
        pool.install(move || {
            for i in 0..10 {
                let sender = sender.clone();
                rayon_core::spawn(move || sender.send(i).unwrap());
            }
        });
        assert!(receiver.iter().eq(0..10));
    });
}

#[test]
fn second_panic_aborts_nothing() {
    watched(|| {
        let pool = pool(2);
        let barrier = std::sync::Barrier::new(2);
        let both = || {
            let a = || {
                barrier.wait();
                panic!("first half");
            };
            let b = || {
                barrier.wait();
                panic!("second half");
            };
            pool.join(a, b)
        };
        let payload = catch_unwind(AssertUnwindSafe(both)).unwrap_err();
        assert_eq!(payload.downcast_ref::<&str>(), Some(&"first half"));
        let tasks = || pool.scope(|s| (0..3).for_each(|_| s.spawn(|_| panic!("a task"))));
        let payload = catch_unwind(AssertUnwindSafe(tasks)).unwrap_err();
        assert_eq!(payload.downcast_ref::<&str>(), Some(&"a task"));
    });
}
