//! A child made by `fork` has a copy of the memory of its parent's pools, but none of their
//! threads.
//!
//! Each test forks, lets the child do something and checks how the child ended. `frames.rs`
//! tests what happens to tasks that were running during the fork.

use crate::support::forks::{WELL, end_of, finish, fork, in_child};
use crate::support::{Gate, fib, pool};
use std::cell::OnceCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;
use tidegate::{Pool, current_worker};

/// Uses the global pool through the free functions, and returns whether all results are right.
fn global_pool_works() -> bool {
    let sum = std::sync::atomic::AtomicUsize::new(0);
    tidegate::scope(|scope| {
        for i in 0..100 {
            let sum = &sum;
            scope.spawn(move |_| {
                sum.fetch_add(i, Ordering::Relaxed);
            });
        }
    });
    let handle = tidegate::spawn(|| fib(10));
    let threads = tidegate::broadcast(|number| number);
    fib(15) == 610 && handle.join() == 55 && sum.into_inner() == 4950 && threads[0] == 0
}

#[test]
fn free_functions_work_in_the_child() {
    assert!(global_pool_works());
    assert_eq!(in_child(global_pool_works), WELL);
}

#[test]
fn inherited_pool_starts_its_own_threads() {
    let pool = pool(2);
    assert_eq!(pool.install(|| fib(15)), 610);
    let parents = pool.install(current_worker);
    let check = || {
        let met = Barrier::new(2);
        let meet = |_| met.wait().is_leader();
        let leaders = pool.broadcast(meet).into_iter().filter(|it| *it).count();
        pool.install(|| fib(15)) == 610
            && leaders == 1
            && pool.install(current_worker) != parents
            && pool.spawn(|| 7).join() == 7
    };
    assert_eq!(in_child(check), WELL);
    assert_eq!(
        pool.install(|| fib(15)),
        610,
        "the parent's pool still works"
    );
}

/// If a child drops a pool, the drop waits for none of the parent's threads.
#[test]
fn drop_in_child_ignores_the_parent() {
    let (unused, used) = (pool(2), pool(2));
    assert_eq!(used.install(|| 1), 1);
    let ended = in_child(move || {
        drop(unused);
        let works = used.install(|| fib(10)) == 55;
        used.shutdown();
        works
    });
    assert_eq!(ended, WELL);
}

#[test]
fn grandchildren_have_their_own_pools() {
    let pool = pool(2);
    assert_eq!(pool.install(|| fib(10)), 55);
    let ended = in_child(|| {
        let works = || pool.install(|| fib(10)) == 55 && fib(10) == 55;
        works() && in_child(|| works() && in_child(works) == WELL) == WELL && works()
    });
    assert_eq!(ended, WELL);
}

#[test]
fn child_of_task_is_outside_pools() {
    let pool = Arc::new(pool(2));
    let used = pool.clone();
    let ended = pool.install(move || {
        assert!(current_worker().is_some());
        in_child(|| {
            current_worker().is_none() && global_pool_works() && used.install(|| fib(10)) == 55
        })
    });
    assert_eq!(ended, WELL);
    assert_eq!(pool.install(|| fib(10)), 55);
}

/// The pool is busy, and the fork may happen at any moment.
#[test]
fn fork_leaves_no_lock_held() {
    let pool = pool(2);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                pool.install(|| fib(8));
                pool.join(|| fib(5), || fib(6));
            }
        });
        let check = || pool.install(|| fib(8)) == 21 && fib(8) == 21;
        let ends = catch_unwind(AssertUnwindSafe(|| {
            (0..50).map(|_| in_child(check)).all(|end| end == WELL)
        }));
        stop.store(true, Ordering::Relaxed);
        assert!(ends.expect("no child hangs"));
    });
}

#[test]
fn joining_running_parent_task_panics() {
    let pool = pool(2);
    let gates = Arc::new((Barrier::new(2), Barrier::new(2)));
    let task = {
        let gates = gates.clone();
        pool.spawn(move || {
            gates.0.wait();
            gates.1.wait();
        })
    };
    gates.0.wait();
    let join = || task.join();
    let child = fork();
    if child.is_none() {
        finish(|| catch_unwind(AssertUnwindSafe(join)).is_err());
    }
    gates.1.wait();
    join();
    assert_eq!(child.map(end_of), Some(WELL));
}

#[test]
fn joining_unstarted_task_runs_it() {
    let pool = Pool::builder()
        .workers(1)
        .spare_threads(0)
        .build()
        .expect("a pool");
    let gates = Arc::new((Barrier::new(2), Barrier::new(2)));
    let blocker = {
        let gates = gates.clone();
        pool.spawn(move || {
            gates.0.wait();
            gates.1.wait();
        })
    };
    gates.0.wait();
    let task = pool.spawn(|| 7);
    let child = fork();
    if child.is_none() {
        finish(|| task.join() == 7);
    }
    gates.1.wait();
    blocker.join();
    assert_eq!(task.join(), 7);
    assert_eq!(child.map(end_of), Some(WELL));
}

/// The closure belongs to the parent: its destructor must not run in the child.
#[test]
fn aborting_unstarted_task_drops_nothing() {
    struct Opens(Arc<Gate>);
    impl Drop for Opens {
        fn drop(&mut self) {
            self.0.open();
        }
    }

    let pool = Pool::builder().workers(1).spare_threads(0);
    let pool = pool.build().expect("a pool");
    let dropped = Arc::new(Gate::new());
    let opens = Opens(dropped.clone());
    let child = pool.install(|| {
        let task = pool.spawn(move || drop(opens)).abort_on_drop();
        let child = fork();
        drop(task);
        if child.is_none() {
            finish(|| !dropped.is_open());
        }
        child
    });
    // The worker drops the closure at its next dispatch.
    dropped.wait();
    assert_eq!(child.map(end_of), Some(WELL));
}

/// The child's consumer runs all items, although the child's pool has threads that could run some
/// while the source sleeps.
#[test]
fn inherited_stream_runs_on_its_consumer() {
    let pool = pool(2);
    pool.install(|| ());
    let source = (0..20).inspect(|_| thread::sleep(Duration::from_millis(1)));
    let runner = |_| thread::current().id();
    let mut results = pool.stream(source).map(runner).ordered();
    let check = || {
        pool.install(|| ());
        results.all(|id| id == thread::current().id())
    };
    assert_eq!(in_child(check), WELL);
}

/// The endless source forks while a worker of the parent runs the oldest item.
#[test]
fn waiting_for_running_parent_item_panics() {
    let pool = pool(2);
    let (begun, forked) = (Arc::new(Gate::new()), Arc::new(Gate::new()));
    let child = OnceCell::new();
    let f = {
        let (begun, forked) = (begun.clone(), forked.clone());
        move |n| {
            begun.open();
            forked.wait();
            n
        }
    };
    let source = (0..).inspect(|n| {
        if *n == 1 {
            begun.wait();
            child.set(fork()).expect("forked once");
            forked.open();
        }
    });
    let stream = pool.stream(source).window(usize::MAX);
    let mut results = stream.map(f).ordered();
    let next = catch_unwind(AssertUnwindSafe(|| results.next()));
    let child = child.get().copied().flatten();
    if child.is_none() {
        finish(|| next.is_err());
    }
    assert_eq!(next.ok(), Some(Some(0)));
    assert_eq!(child.map(end_of), Some(WELL));
}
