//! Workers' names, and values for each worker.

use crate::support::pool;
use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use tidegate::{Pool, WorkerId, WorkerLocal, current_worker};

/// Creates a pool without spare threads, which callers cannot join as guests.
fn without_guests(workers: usize) -> Pool {
    let builder = Pool::builder().workers(workers).max_threads(workers);
    builder.build().expect("a pool")
}

#[test]
fn threads_keep_their_own_names() {
    let pool = without_guests(2);
    let names = || pool.broadcast(|_| current_worker().expect("a worker"));
    let first = names();
    assert_eq!(first.iter().collect::<HashSet<_>>().len(), 2);
    assert_eq!(names(), first);
    let shown = format!("{:?}", first[0]);
    assert!(shown.starts_with("WorkerId(0, pool "), "{shown}");
}

#[test]
fn pools_use_distinct_worker_names() {
    let (a, b) = (pool(2), pool(2));
    let mut all: Vec<WorkerId> = Vec::new();
    for pool in [&a, &b] {
        all.extend(pool.broadcast(|_| current_worker().expect("a worker")));
    }
    assert_eq!(all.iter().collect::<HashSet<_>>().len(), 4);
    let inside = |pool: &Pool| pool.install(current_worker);
    assert_ne!(a.install(|| inside(&b)), inside(&a));
}

#[test]
#[cfg_attr(miri, ignore = "the global pool reads the machine")]
fn outside_thread_is_temporarily_a_worker() {
    assert_eq!(current_worker(), None);
    let (inside, _) = tidegate::join(current_worker, || ());
    assert!(inside.is_some());
    assert_eq!(current_worker(), None);
}

#[test]
#[cfg_attr(miri, ignore = "the global pool reads the machine")]
fn per_worker_sums_add_up() {
    const SPAWNS: usize = if cfg!(miri) { 20 } else { 1_000 };
    let mut count = WorkerLocal::new(|| Cell::new(0));
    let add = || count.with(|own| own.set(own.get() + 1));
    let pool = pool(2);
    pool.scope(|scope| {
        for _ in 0..SPAWNS {
            scope.spawn(|_| add());
        }
    });
    pool.install(|| tidegate::for_each(0..SPAWNS, |_| add()));
    tidegate::for_each(0..SPAWNS, |_| add());
    // By now, the pool may have started a spare thread.
    let threads = pool.broadcast(|_| add()).len();
    add();
    let sum = 3 * SPAWNS + threads + 1;
    assert_eq!(count.iter_mut().map(|own| own.get()).sum::<usize>(), sum);
    let values: Vec<usize> = count.into_values().map(Cell::into_inner).collect();
    assert_eq!(values.iter().sum::<usize>(), sum);
}

/// A task on top of a waiting task uses the value of its own worker.
#[test]
fn nested_task_uses_its_worker_value() {
    let pool = without_guests(2);
    let log = WorkerLocal::new(|| RefCell::new(Vec::new()));
    pool.install(|| {
        log.with(|own| {
            own.borrow_mut().push("below");
            // The caller's part runs on top of this frame, and the other part on another thread.
            pool.broadcast(|_| log.with(|again| again.borrow_mut().push("on top")));
            assert_eq!(*own.borrow(), ["below", "on top"]);
        });
    });
    let mut lengths: Vec<usize> = log
        .into_values()
        .map(|log| log.into_inner().len())
        .collect();
    lengths.sort_unstable();
    assert_eq!(lengths, [1, 2]);
}

#[test]
fn guest_keeps_value_outside_pools() {
    let local = WorkerLocal::new(|| Cell::new(0));
    local.with(|own| own.set(1));
    let caller = std::thread::current().id();
    let pool = pool(2);
    let inside = loop {
        let (here, value) =
            pool.scope(|_| (std::thread::current().id() == caller, local.with(Cell::get)));
        if here {
            break value;
        }
    };
    assert_eq!(inside, 1);
}

#[test]
fn successive_pools_may_share_one() {
    const POOLS: usize = if cfg!(miri) { 2 } else { 20 };
    let made = AtomicUsize::new(0);
    let mut count = WorkerLocal::new(|| {
        made.fetch_add(1, Ordering::Relaxed);
        Cell::new(0)
    });
    for _ in 0..POOLS {
        without_guests(2).broadcast(|_| count.with(|own| own.set(own.get() + 1)));
    }
    assert_eq!(
        count.iter_mut().map(|own| own.get()).sum::<usize>(),
        2 * POOLS
    );
    // Threads that have ended pass their values on to later threads.
    assert!(made.load(Ordering::Relaxed) < 2 * POOLS);
}
