//! A child made by `fork` has the memory of its parent's pools and none of their threads.
//!
//! Each test forks, lets the child do something and looks at how it ended. A child that hangs is killed after a while; no
//! time decides anything else. Children end by `_exit`, so that nothing of the test harness runs twice.

// ThreadSanitizer ends a child that starts threads.
#![cfg(all(unix, not(any(miri, tidegate_tsan))))]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};
use tidegate::{Pool, Scope, current_worker};

/// How long a child may take before it counts as hanging.
const PATIENCE: Duration = Duration::from_secs(30);

/// How a child ended.
#[derive(Debug, PartialEq)]
enum End {
    /// With this exit code.
    Exit(i32),
    /// By this signal.
    Signal(i32),
}

const WELL: End = End::Exit(0);
const BADLY: i32 = 1;
const PANICKED: i32 = 2;

/// Whether this is the child, and its number if not.
fn fork() -> Option<libc::pid_t> {
    // SAFETY: the child goes on in Rust code that allocates and starts threads, which the C library makes possible after
    // a fork from a process with threads; it takes no lock of the test harness, which other threads could have held.
    match unsafe { libc::fork() } {
        0 => None,
        child => {
            assert!(child > 0, "fork: {}", std::io::Error::last_os_error());
            Some(child)
        }
    }
}

/// Ends the child.
fn exit(code: i32) -> ! {
    // SAFETY: ends the process at once, no matter what the parent's threads were doing.
    unsafe { libc::_exit(code) }
}

/// Ends the child, well if `check` holds.
fn finish(check: impl FnOnce() -> bool) -> ! {
    match catch_unwind(AssertUnwindSafe(check)) {
        Ok(true) => exit(0),
        Ok(false) => exit(BADLY),
        Err(_) => exit(PANICKED),
    }
}

/// Waits for a child.
fn end_of(child: libc::pid_t) -> End {
    let begin = Instant::now();
    loop {
        let mut status = 0;
        // SAFETY: `status` is live and writable.
        let ended = unsafe { libc::waitpid(child, &mut status, libc::WNOHANG) };
        assert!(ended >= 0, "waitpid: {}", std::io::Error::last_os_error());
        if ended == child && libc::WIFSIGNALED(status) {
            return End::Signal(libc::WTERMSIG(status));
        }
        if ended == child {
            return End::Exit(libc::WEXITSTATUS(status));
        }
        if begin.elapsed() > PATIENCE {
            // SAFETY: a child of ours that has not been waited for yet.
            unsafe { libc::kill(child, libc::SIGKILL) };
            panic!("the child hangs");
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Forks a child that does `check`, and waits for it.
fn in_child(check: impl FnOnce() -> bool) -> End {
    match fork() {
        None => finish(check),
        Some(child) => end_of(child),
    }
}

fn fib(n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let (a, b) = tidegate::join(|| fib(n - 1), || fib(n - 2));
    a + b
}

/// Uses the free functions in every way.
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

fn two_workers() -> Pool {
    Pool::builder().workers(2).build().expect("a pool")
}

#[test]
fn free_functions_work_in_the_child_of_a_process_whose_global_pool_runs() {
    assert!(global_pool_works());
    assert_eq!(in_child(global_pool_works), WELL);
}

#[test]
fn a_pool_made_before_the_fork_makes_threads_of_its_own_in_the_child() {
    let pool = two_workers();
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

#[test]
fn dropping_a_pool_in_the_child_waits_for_nobody_of_the_parent() {
    let (unused, used) = (two_workers(), two_workers());
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
fn children_of_children_have_pools_of_their_own() {
    let pool = two_workers();
    assert_eq!(pool.install(|| fib(10)), 55);
    let ended = in_child(|| {
        let works = || pool.install(|| fib(10)) == 55 && fib(10) == 55;
        works() && in_child(|| works() && in_child(works) == WELL) == WELL && works()
    });
    assert_eq!(ended, WELL);
}

#[test]
fn a_child_forked_inside_a_task_is_outside_of_all_pools() {
    let pool = two_workers();
    let ended = pool.install(|| {
        assert!(current_worker().is_some());
        in_child(|| {
            current_worker().is_none() && global_pool_works() && pool.install(|| fib(10)) == 55
        })
    });
    assert_eq!(ended, WELL);
    assert_eq!(pool.install(|| fib(10)), 55);
}

#[test]
fn forks_at_any_moment_of_a_busy_pool_leave_no_lock_shut_in_the_child() {
    let pool = two_workers();
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
fn a_scope_that_a_guest_has_forked_in_ends_in_the_child_if_nothing_is_missing() {
    let pool = two_workers();
    let caller = std::thread::current().id();
    // Until the caller is a guest: while both workers look for work no slot is free, and it is served by one of them.
    let forked = loop {
        let here = || std::thread::current().id() == caller;
        if let Some(forked) = pool.scope(|_| here().then(fork)) {
            break forked;
        }
        std::thread::yield_now();
    };
    // The child has come back from the parent's pool.
    match forked {
        None => finish(|| current_worker().is_none() && pool.install(|| fib(10)) == 55),
        Some(child) => assert_eq!(end_of(child), WELL),
    }
}

#[test]
fn a_spawn_in_the_child_into_a_scope_of_the_parent_panics() {
    let pool = two_workers();
    let ended = pool.scope(|scope| {
        in_child(|| catch_unwind(AssertUnwindSafe(|| scope.spawn(|_| ()))).is_err())
    });
    assert_eq!(ended, WELL);
}

/// Spawns another one like itself, again and again.
fn go_on<'scope>(scope: &Scope<'scope>, over: &'scope AtomicBool) {
    if !over.load(Ordering::Relaxed) {
        scope.spawn_with_priority(0, move |scope| go_on(scope, over));
    }
}

#[test]
fn spawning_with_a_priority_in_the_child_panics_whoever_had_the_lock_of_the_scope() {
    let pool = two_workers();
    for _ in 0..20 {
        let over = AtomicBool::new(false);
        let child = pool.scope(|scope| {
            go_on(scope, &over);
            let child = fork();
            if child.is_none() {
                let spawn = || scope.spawn_with_priority(1, |_| ());
                finish(|| catch_unwind(AssertUnwindSafe(spawn)).is_err());
            }
            over.store(true, Ordering::Relaxed);
            child
        });
        assert_eq!(child.map(end_of), Some(WELL));
    }
}

#[test]
fn a_scope_with_priorities_ends_in_the_child_if_all_of_its_tasks_are_there() {
    let ran = AtomicUsize::new(0);
    let pool = Pool::builder().workers(1).build().expect("a pool");
    let child = pool.install(|| {
        tidegate::scope(|scope| {
            for priority in 0..3 {
                let ran = &ran;
                scope.spawn_with_priority(priority, move |_| {
                    ran.fetch_add(1, Ordering::Relaxed);
                });
            }
            fork()
        })
        .map_or_else(|| finish(|| ran.load(Ordering::Relaxed) == 3), end_of)
    });
    assert_eq!(child, WELL);
}

/// Forks while another thread takes turns at the lock of a scope; how the child ends that goes back into it.
fn fork_beside_turns(pool: &Pool) -> End {
    let (over, begun) = (AtomicBool::new(false), AtomicBool::new(false));
    let forked = pool.install(|| {
        tidegate::scope(|scope| {
            scope.spawn_with_priority(0, |scope| {
                begun.store(true, Ordering::Relaxed);
                go_on(scope, &over);
            });
            // Nobody but the other worker can begin it meanwhile.
            while !begun.load(Ordering::Relaxed) {
                tidegate::join(|| (), || ());
            }
            for _ in 0..9 {
                scope.spawn_with_priority(1, |_| ());
            }
            let forked = fork();
            over.store(true, Ordering::Relaxed);
            forked
        })
    });
    forked.map_or_else(|| exit(BADLY), end_of)
}

#[test]
fn a_child_that_goes_back_into_a_scope_with_priorities_ends_whoever_had_its_lock() {
    let test = "a_child_that_goes_back_into_a_scope_with_priorities_ends_whoever_had_its_lock";
    if is_told_alone(test) {
        return;
    }
    let pool = two_workers();
    for _ in 0..100 {
        let ended = fork_beside_turns(&pool);
        assert_eq!(ended, End::Signal(libc::SIGABRT));
    }
}

#[test]
fn joining_in_the_child_a_task_that_the_parent_runs_panics() {
    let pool = two_workers();
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
fn joining_in_the_child_a_task_that_nobody_has_begun_runs_it() {
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

/// Runs the calling test once more, alone in a process of its own; what that wrote to standard error, and how it
/// ended. In that process: `None`.
fn alone(test: &str) -> Option<(String, Option<i32>)> {
    const MARK: &str = "TIDEGATE_TEST_ALONE";
    if std::env::var_os(MARK).is_some() {
        return None;
    }
    let output = Command::new(std::env::current_exe().expect("this program"))
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .env(MARK, "1")
        .stdout(Stdio::null())
        .output()
        .expect("it starts");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    Some((told, output.status.code()))
}

/// What the child says before it aborts.
const NEEDED: &str =
    "a task that called fork() went on in the child until it needed the pool's threads";

/// Runs the calling test alone, where it is to end well and its child to say why that ended. Not in that process: there it is `false`.
fn is_told_alone(test: &str) -> bool {
    let Some((told, code)) = alone(test) else {
        return false;
    };
    assert_eq!(code, Some(0), "{told}");
    assert!(told.contains(NEEDED), "{told}");
    true
}

#[test]
fn a_task_that_returns_in_the_child_ends_it_with_a_line_that_says_why() {
    if is_told_alone("a_task_that_returns_in_the_child_ends_it_with_a_line_that_says_why") {
        return;
    }
    let pool = two_workers();
    if let Some(child) = pool.install(fork) {
        assert_eq!(end_of(child), End::Signal(libc::SIGABRT));
    }
}

#[test]
fn a_join_in_the_child_whose_half_the_parent_runs_ends_it_with_a_line_that_says_why() {
    let test = "a_join_in_the_child_whose_half_the_parent_runs_ends_it_with_a_line_that_says_why";
    if is_told_alone(test) {
        return;
    }
    let pool = two_workers();
    let (begun, forked) = (Barrier::new(2), Barrier::new(2));
    let first = || {
        begun.wait();
        let child = fork()?;
        forked.wait();
        Some(child)
    };
    let (child, ()) = pool.join(first, || {
        begun.wait();
        forked.wait();
    });
    let child = child.expect("the child does not come here");
    assert_eq!(end_of(child), End::Signal(libc::SIGABRT));
}
