//! A child made by `fork` inside a task returns into the frames below that task. These frames
//! belong to one of its parent's pools.
//!
//! The child continues as long as it needs neither a thread of that pool nor a lock that such a
//! thread held. If it needs either, it prints the reason and aborts.

use crate::support::forks::{
    BADLY, End, WELL, end_of, exit, finish, fork, in_child, is_told_alone,
};
use crate::support::{Gate, built, fib, pool};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier};
use tidegate::{Pool, Scope, current_worker};
use tidegate_core::door::closed::{Closed, ClosedPool, UnstartedThread};

/// If a guest forks in a scope, the scope also ends in the child, because nothing that it needs is
/// missing there.
#[test]
fn guest_scope_ends_in_child() {
    let pool = pool(2);
    let caller = std::thread::current().id();
    // Repeat this until the caller is a guest. While both workers look for work, no slot is free,
    // and a worker runs the scope instead.
    let forked = loop {
        let here = || std::thread::current().id() == caller;
        if let Some(forked) = pool.scope(|_| here().then(fork)) {
            break forked;
        }
        std::thread::yield_now();
    };
    // The child has already returned from the parent's pool.
    match forked {
        None => finish(|| current_worker().is_none() && pool.install(|| fib(10)) == 55),
        Some(child) => assert_eq!(end_of(child), WELL),
    }
}

#[test]
fn child_spawn_into_parent_scope_panics() {
    let pool = pool(2);
    let ended = pool.scope(|scope| {
        in_child(|| catch_unwind(AssertUnwindSafe(|| scope.spawn(|_| ()))).is_err())
    });
    assert_eq!(ended, WELL);
}

/// Spawns a task that spawns the next one, and so on, until `over` is set.
fn go_on<'scope>(scope: &Scope<'scope>, over: &'scope AtomicBool) {
    if !over.load(Ordering::Relaxed) {
        scope.spawn_with_priority(0, move |scope| go_on(scope, over));
    }
}

/// The spawn panics no matter which thread held the scope's lock during the fork.
#[test]
fn child_spawn_with_priority_panics() {
    let pool = pool(2);
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

/// Forks while another thread repeatedly takes and releases a scope's lock. The child returns into
/// that scope. Returns how the child ends.
fn fork_beside_turns(pool: &Pool) -> End {
    let (over, begun) = (AtomicBool::new(false), AtomicBool::new(false));
    let forked = pool.install(|| {
        tidegate::scope(|scope| {
            scope.spawn_with_priority(0, |scope| {
                begun.store(true, Ordering::Relaxed);
                go_on(scope, &over);
            });
            // Only the other worker can start the task that sets `begun`.
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

/// The scope aborts the child no matter which thread held the scope's lock during the fork.
#[test]
fn priority_scope_aborts_the_child() {
    let test = "frames::priority_scope_aborts_the_child";
    if is_told_alone(test) {
        return;
    }
    let pool = pool(2);
    for _ in 0..100 {
        let ended = fork_beside_turns(&pool);
        assert_eq!(ended, End::Signal(libc::SIGABRT));
    }
}

#[test]
fn returning_task_aborts_child_with_reason() {
    if is_told_alone("frames::returning_task_aborts_child_with_reason") {
        return;
    }
    let pool = pool(2);
    if let Some(child) = pool.install(fork) {
        assert_eq!(end_of(child), End::Signal(libc::SIGABRT));
    }
}

#[test]
fn join_of_parent_half_aborts_child() {
    let test = "frames::join_of_parent_half_aborts_child";
    if is_told_alone(test) {
        return;
    }
    let pool = pool(2);
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

#[test]
fn start_handler_return_aborts_child() {
    let parent = std::process::id();
    let (spawned, (tell, told)) = (Arc::new(Barrier::new(2)), channel());
    let handler = {
        let spawned = spawned.clone();
        move |_| {
            spawned.wait();
            if let Some(child) = fork() {
                tell.send(end_of(child)).expect("the test waits");
            }
        }
    };
    let builder = Pool::builder().workers(1).spare_threads(0);
    let pool = built(builder.on_start(handler));
    let task = pool.spawn(move || {
        if std::process::id() != parent {
            exit(BADLY);
        }
    });
    spawned.wait();
    assert_eq!(told.recv(), Ok(End::Signal(libc::SIGABRT)));
    task.join();
}

/// Without the abort, the child would wait forever for a task of the scope.
#[test]
fn outside_scope_aborts_waiting_child() {
    let closed = Closed {
        on_panic: Box::new(|_, _| ()),
        threads_by: "this test",
        breadth_first: false,
        forgiving: false,
    };
    let start = |thread: UnstartedThread| thread.start("closed".into());
    let pool = ClosedPool::build(
        tidegate_core::Pool::builder().workers(1),
        closed,
        false,
        start,
    );
    let pool = pool.expect("options in range");
    let gate = Gate::new();
    let child = pool.entry().in_place_scope(|scope| {
        scope.spawn(|_| gate.wait());
        let child = fork();
        gate.open();
        child
    });
    assert_eq!(child.map(end_of), Some(End::Signal(libc::SIGABRT)));
}

/// If the pool has only one thread, a child forked on that thread has everything that it needs.
mod with_all_at_hand {
    use super::*;
    use crate::support::bare_pool;
    use std::sync::atomic::AtomicI32;
    use tidegate::{interval, policy::QueueKind};

    /// The value of [`Forking`] before the fork.
    const NOT_YET: i32 = -1;
    /// The value of [`Forking`] in the child.
    const CHILD: i32 = 0;

    /// Forks the process on the first call of `now`. In the parent, the value is then the child's
    /// pid.
    struct Forking(AtomicI32);

    impl Forking {
        fn now(&self) {
            if self.0.load(Ordering::Relaxed) == NOT_YET {
                self.0.store(fork().unwrap_or(CHILD), Ordering::Relaxed);
            }
        }

        fn is_child(&self) -> bool {
            self.0.load(Ordering::Relaxed) == CHILD
        }
    }

    /// Runs `body`, which forks somewhere, on the pool. It must return `true` in the parent and in
    /// the child.
    fn goes_on_in(pool: &Pool, body: impl FnOnce(&Forking) -> bool + Send) {
        let forking = Forking(AtomicI32::new(NOT_YET));
        pool.install(|| {
            let right = catch_unwind(AssertUnwindSafe(|| body(&forking)));
            if forking.is_child() {
                finish(|| right.expect("no panic"));
            }
            assert!(right.expect("no panic"), "in the parent");
        });
        assert_eq!(end_of(forking.0.into_inner()), WELL);
    }

    fn goes_on(body: impl FnOnce(&Forking) -> bool + Send) {
        goes_on_in(&bare_pool(1), body);
    }

    fn count(number: &AtomicUsize) {
        number.fetch_add(1, Ordering::Relaxed);
    }

    #[test]
    fn a_join_ends() {
        goes_on(|forking| tidegate::join(|| forking.now(), || fib(10)).1 == 55);
    }

    #[test]
    fn a_scope_ends() {
        let ran = AtomicUsize::new(0);
        goes_on(|forking| {
            tidegate::scope(|scope| {
                scope.spawn(|_| count(&ran));
                forking.now();
            });
            ran.load(Ordering::Relaxed) == 1
        });
    }

    #[test]
    fn scope_of_forking_task_ends() {
        let ran = AtomicUsize::new(0);
        goes_on(|forking| {
            tidegate::scope(|scope| {
                for _ in 0..9 {
                    scope.spawn(|_| {
                        forking.now();
                        count(&ran);
                    });
                }
            });
            ran.load(Ordering::Relaxed) == 9
        });
    }

    #[test]
    fn a_scope_with_priorities_ends() {
        let ran = AtomicUsize::new(0);
        goes_on(|forking| {
            tidegate::scope(|scope| {
                for priority in 0..3 {
                    let ran = &ran;
                    scope.spawn_with_priority(priority, move |_| count(ran));
                }
                forking.now();
            });
            ran.load(Ordering::Relaxed) == 3
        });
    }

    #[test]
    fn a_loop_ends() {
        let ran = AtomicUsize::new(0);
        goes_on(|forking| {
            tidegate::for_each(0..100_000, |i| {
                if i == 3_000 {
                    forking.now();
                }
                count(&ran);
            });
            ran.load(Ordering::Relaxed) == 100_000
        });
    }

    #[test]
    fn a_reduction_ends() {
        goes_on(|forking| {
            let map = |i| {
                if i == 300 {
                    forking.now();
                }
                i
            };
            tidegate::map_reduce(0..100_000, map, |a, b| a + b) == Some(4_999_950_000_usize)
        });
    }

    #[test]
    fn intervals_end() {
        let ran = AtomicUsize::new(0);
        goes_on(|forking| {
            let ended = interval::run(|body| {
                body.interval(|_| forking.now());
                body.interval(|_| count(&ran));
            });
            ended.is_ok() && ran.load(Ordering::Relaxed) == 1
        });
    }

    #[test]
    fn inline_intervals_end() {
        let ran = AtomicUsize::new(0);
        goes_on(|forking| {
            let ran = &ran;
            let ended = interval::run(|body| {
                body.interval(move |body| {
                    forking.now();
                    let inside = body.inline(|body| _ = body.interval(|_| count(ran)));
                    inside.expect("what is inside ends");
                    count(ran);
                });
                body.interval(|_| count(ran));
            });
            ended.is_ok() && ran.load(Ordering::Relaxed) == 3
        });
    }

    #[test]
    fn intervals_made_after_fork_run() {
        let ran = AtomicUsize::new(0);
        goes_on(|forking| {
            let (ran, place) = (&ran, tidegate::places()[0].strict());
            let ended = interval::run(|body| {
                forking.now();
                let first = body.interval(move |_| count(ran)).schedule();
                let second = first.then(body, move |body, ()| {
                    body.interval(move |_| count(ran));
                });
                drop(second.expect("an edge forward"));
                body.interval(move |_| count(ran)).at(place);
            });
            ended.is_ok() && ran.load(Ordering::Relaxed) == 3
        });
    }

    #[test]
    fn a_blocking_call_ends() {
        // This pool has spare threads. Without them, `blocking` would be a plain call.
        let pool = built(Pool::builder().queue(QueueKind::Split).workers(1));
        goes_on_in(&pool, |forking| {
            tidegate::blocking(|| forking.now());
            let (a, b) = tidegate::join(|| fib(5), || fib(6));
            (a, b) == (5, 8)
        });
    }

    /// Spawns a detached task that must run only in the process `parent`.
    fn spawn_for(parent: u32) {
        drop(tidegate::spawn(move || {
            if std::process::id() != parent {
                exit(BADLY);
            }
        }));
    }

    fn leaves_detached_tasks_to_the_parent(pool: &Pool) {
        let parent = std::process::id();
        goes_on_in(pool, |forking| {
            let first = || {
                spawn_for(parent);
                forking.now();
            };
            tidegate::join(first, || fib(10)).1 == 55
        });
        goes_on_in(pool, |forking| {
            tidegate::scope(|_| {
                spawn_for(parent);
                forking.now();
            });
            true
        });
    }

    #[test]
    fn detached_tasks_stay_with_parent() {
        leaves_detached_tasks_to_the_parent(&bare_pool(1));
    }

    #[test]
    fn helpers_skip_parent_detached_tasks() {
        let builder = Pool::builder().queue(QueueKind::Split).workers(1);
        let helps_any = "help-any".parse().expect("a policy");
        leaves_detached_tasks_to_the_parent(&built(builder.spare_threads(0).wait(helps_any)));
    }
}
