//! A child made by `fork` has a copy of the memory of its parent's pools, but none of their
//! threads.
//!
//! Each test forks, lets the child do something and checks how the child ended. `frames.rs`
//! tests what happens to tasks that were running during the fork.

use crate::support::forks::{
    BADLY, End, WELL, end_of, exit, finish, fork, in_child, is_told_alone,
};
use crate::support::{Gate, bare_pool, built, fib, pool, until};
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier};
use std::time::Duration;
use tidegate::{Handle, Pool, current_worker, memory};

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

/// Forks while the pool's only thread is busy with one task and another task is queued. The child
/// must be aborted in `wait`, which gets the handles of both and chooses one.
fn wait_aborts(wait: impl FnOnce(Handle<u32>, Handle<u32>)) {
    let pool = bare_pool(1);
    let gates = Arc::new((Gate::new(), Gate::new()));
    let theirs = gates.clone();
    let running = pool.spawn(move || {
        theirs.0.open();
        theirs.1.wait();
        7
    });
    gates.0.wait();
    let queued = pool.spawn(|| exit(BADLY));
    let Some(child) = fork() else {
        wait(running, queued);
        exit(BADLY);
    };
    drop(queued.abort_on_drop());
    gates.1.open();
    assert_eq!(running.join(), 7);
    assert_eq!(end_of(child), End::Signal(libc::SIGABRT));
}

#[test]
fn waiting_for_parent_task_aborts() {
    if is_told_alone("pools::waiting_for_parent_task_aborts") {
        return;
    }
    wait_aborts(|running, _| _ = running.join());
    wait_aborts(|_, queued| _ = queued.join());
    wait_aborts(|running, _| _ = running.join_timeout(Duration::MAX));
    wait_aborts(|_, queued| _ = queued.join_timeout(Duration::MAX));
    wait_aborts(|running, _| _ = tidegate::spawn_future(running).join());
}

#[test]
fn results_before_fork_are_kept() {
    let pool = pool(2);
    let (first, second) = (pool.spawn(|| 7), pool.spawn(|| 8));
    until(|| first.is_finished() && second.is_finished());
    let ended = in_child(|| first.join() == 7 && second.result_if_ready().ok() == Some(8));
    assert_eq!(ended, WELL);
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

    let pool = Pool::builder().workers(1).max_threads(1);
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

/// Reads the first item of a stream and returns the others.
fn begun_stream() -> impl Iterator<Item = u32> + Send {
    let mut results = tidegate::stream(0..20).map(|n: u32| n).ordered();
    assert_eq!(results.next(), Some(0));
    results
}

#[test]
fn streams_abort_the_child() {
    if is_told_alone("pools::streams_abort_the_child") {
        return;
    }
    let mut results = begun_stream();
    let Some(child) = fork() else {
        results.next();
        exit(BADLY);
    };
    assert_eq!(results.count(), 19);
    assert_eq!(end_of(child), End::Signal(libc::SIGABRT));

    // The child returns from the source into the stream.
    let child = Cell::new(None);
    let source = (0..20).inspect(|n| {
        if *n == 1 {
            child.set(fork());
        }
    });
    let results = tidegate::stream(source).map(|n: u32| n).ordered().count();
    let child = child.get().unwrap_or_else(|| exit(BADLY));
    assert_eq!((results, end_of(child)), (20, End::Signal(libc::SIGABRT)));
}

/// The scope's pool is the parent's, so the child aborts before it reads an item.
#[test]
fn scoped_streams_abort_the_child() {
    let parent = std::process::id();
    let child = pool(2).scope(|scope| {
        let source = (0..20).inspect(|_| {
            if std::process::id() != parent {
                exit(BADLY);
            }
        });
        let mut results = tidegate::stream(source)
            .in_scope(scope)
            .map(|n| n)
            .ordered();
        let child = fork();
        if child.is_none() {
            results.next();
            exit(BADLY);
        }
        assert_eq!(results.count(), 20);
        child
    });
    assert_eq!(child.map(end_of), Some(End::Signal(libc::SIGABRT)));
}

#[test]
fn unread_stream_runs_in_child() {
    let pool = pool(2);
    let results = pool.stream(0..20).map(|n: u32| n).ordered();
    assert_eq!(in_child(|| results.sum::<u32>() == 190), WELL);
}

/// The child is forked in a task. It ends by `exit`, which drops thread-local values.
#[test]
fn exit_drops_values_of_the_parent() {
    struct Kept {
        _handle: Handle<()>,
        _future: Handle<()>,
        _stream: Box<dyn Iterator<Item = u32> + Send>,
        _reservation: memory::Reservation,
        _pool: Pool,
    }

    thread_local!(static KEPT: RefCell<Option<Kept>> = const { RefCell::new(None) });

    let budget = "budget:64MiB,serial=8MiB".parse().expect("a policy");
    let pool = built(Pool::builder().workers(1).memory(budget));
    let other = bare_pool(1);
    let gate = Arc::new(Gate::new());
    let (first, second) = (gate.clone(), gate.clone());
    let kept = Kept {
        _handle: other.spawn(move || first.wait()).abort_on_drop(),
        _future: other
            .spawn_future(async move { second.wait() })
            .abort_on_drop(),
        _stream: Box::new(begun_stream()),
        _reservation: pool.install(|| memory::reserve(1).expect("within the budget")),
        _pool: other,
    };
    let child = pool.install(move || {
        KEPT.set(Some(kept));
        let child = fork();
        if child.is_none() {
            std::process::exit(0);
        }
        gate.open();
        KEPT.take();
        child
    });
    assert_eq!(child.map(end_of), Some(WELL));
}
