//! Classes of tasks in simulated pools, under many orders of the threads.

use crate::support::classes::spawn_here;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tidegate::policy::Priority::{self, Background, Normal, Urgent};
use tidegate::sync::mpsc::channel;
use tidegate::{Pool, testing};

const CLASSES: [Priority; 3] = [Background, Normal, Urgent];

/// Runs `test` in simulated pools of one, two and four workers, and checks that no run fails.
fn check(test: fn(&Pool)) {
    for workers in [1, 2, 4] {
        let failure = testing::search(200, move || Pool::builder().workers(workers), test);
        failure.inspect(|failure| panic!("{failure}"));
    }
}

/// Tasks of all classes spawn, await and join tasks of other classes; all end.
#[test]
fn mixed_waits_end() {
    check(|_| {
        let count = Arc::new(AtomicUsize::new(0));
        let spawn = |class| {
            let count = count.clone();
            spawn_here(class, move || {
                tidegate::yield_point();
                count.fetch_add(1, Ordering::Relaxed)
            })
        };
        let waiters = CLASSES.map(|class| {
            let [awaited, joined, timed, nested] =
                [Background, Normal, Urgent, Background].map(spawn);
            spawn_here(class, move || {
                let future = tidegate::spawn_future(async move {
                    nested.await;
                    awaited.await
                });
                joined.join();
                match timed.join_timeout(std::time::Duration::from_micros(3)) {
                    Ok(_) => future.join(),
                    Err(timed) => timed.join() + future.join(),
                };
            })
        });
        waiters.into_iter().for_each(tidegate::Handle::join);
        assert_eq!(count.load(Ordering::Relaxed), 12);
    });
}

/// A future is raised by a waiter, and by a second, more urgent one, while it is polled, queued or
/// waits.
#[test]
fn raised_futures_end() {
    check(|pool| {
        let (give, given) = channel();
        let inner = spawn_here(Background, move || given.recv().unwrap());
        let middle = tidegate::spawn_future(async move { inner.await + 1 });
        let outer = spawn_here(Background, || {
            tidegate::spawn_future(async move { middle.await + 1 })
        });
        let normal = pool.spawn_future(async move { outer.await.await + 1 });
        let urgent = spawn_here(Urgent, move || normal.join());
        give.send(0).unwrap();
        assert_eq!(urgent.join(), 3);
    });
}

/// Only the tasks that workers have begun or chosen come before an urgent one.
#[test]
fn urgent_task_passes_queued_ones() {
    check(|pool| {
        let begun = Arc::new(AtomicUsize::new(0));
        for _ in 0..20 {
            let begun = begun.clone();
            drop(spawn_here(Background, move || {
                begun.fetch_add(1, Ordering::Relaxed);
                tidegate::yield_point();
            }));
        }
        let most = begun.load(Ordering::Relaxed) + pool.workers();
        drop(spawn_here(Urgent, move || {
            let begun = begun.load(Ordering::Relaxed);
            assert!(begun <= most, "{begun} of {most}");
        }));
    });
}

/// Other threads may run after a worker has put a task into the queue of a class.
#[test]
fn each_push_is_a_step() {
    let pool = Pool::builder().workers(2).simulated(1).build().unwrap();
    let spawns = || {
        let steps = testing::steps(&pool);
        steps
            .iter()
            .filter(|step| step.contains("spawns a task"))
            .count()
    };
    pool.install(|| {
        let before = spawns();
        drop(spawn_here(Urgent, || ()));
        assert_eq!(spawns(), before + 1);
    });
}
