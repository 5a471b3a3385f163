//! A child made by `fork` inside a task returns into the frames below that task. These frames
//! belong to one of its parent's pools, so the child prints the reason and aborts.

use crate::support::forks::{BADLY, End, WELL, end_of, exit, fork, is_told_alone};
use crate::support::{Gate, bare_pool, built, pool};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier};
use tidegate::interval::{self, Lock};
use tidegate::policy::{Choose, QueueKind};
use tidegate::{CancelToken, Pool};
use tidegate_core::door::closed::{Closed, ClosedPool, UnstartedThread};

const ABORTED: End = End::Signal(libc::SIGABRT);

/// The pid of the child, [`NOT_YET`] before the fork, or [`CHILD`] in the child.
struct Forking(AtomicI32);

const NOT_YET: i32 = -1;
const CHILD: i32 = 0;

impl Forking {
    fn new() -> Self {
        Self(AtomicI32::new(NOT_YET))
    }

    /// Forks the process if this is the first call.
    fn now(&self) {
        if self.0.load(Ordering::Relaxed) == NOT_YET {
            self.0.store(fork().unwrap_or(CHILD), Ordering::Relaxed);
        }
    }

    fn is_child(&self) -> bool {
        self.0.load(Ordering::Relaxed) == CHILD
    }

    /// Must not run in the child.
    fn only_in_parent(&self) {
        if self.is_child() {
            exit(BADLY);
        }
    }
}

/// Checks in a separate process that a child which is forked in `body` is aborted, and prints why,
/// before `body` returns.
fn aborts_in(pool: &Pool, test: &str, body: impl FnOnce(&Forking) + Send) {
    if is_told_alone(&format!("frames::{test}")) {
        return;
    }
    let forking = Forking::new();
    pool.install(|| {
        body(&forking);
        forking.only_in_parent();
    });
    assert_eq!(end_of(forking.0.into_inner()), ABORTED);
}

/// Like `aborts_in`, with a pool of one thread, from which no task is stolen.
fn aborts(test: &str, body: impl FnOnce(&Forking) + Send) {
    aborts_in(&bare_pool(1), test, body);
}

mod the_end_of {
    use super::*;

    #[test]
    fn a_join() {
        aborts("the_end_of::a_join", |forking| {
            tidegate::join(|| forking.now(), || forking.only_in_parent());
        });
    }

    /// The worker keeps its tasks in another queue than its deque.
    #[test]
    fn join_with_another_queue() {
        let builder = Pool::builder().queue(QueueKind::ChaseLev).workers(1);
        let pool = built(builder.max_threads(1));
        aborts_in(&pool, "the_end_of::join_with_another_queue", |forking| {
            tidegate::join(|| forking.now(), || forking.only_in_parent());
        });
    }

    #[test]
    fn a_join_that_panics() {
        aborts("the_end_of::a_join_that_panics", |forking| {
            let panics = || {
                forking.now();
                assert!(!forking.is_child(), "to unwind");
            };
            let _ = catch_unwind(AssertUnwindSafe(|| tidegate::join(panics, || ())));
        });
    }

    /// The worker is hidden while a task has a context.
    #[test]
    fn a_join_in_a_context() {
        aborts("the_end_of::a_join_in_a_context", |forking| {
            CancelToken::new().run(|| {
                tidegate::join(|| forking.now(), || forking.only_in_parent());
            });
        });
    }

    #[test]
    fn a_scope() {
        aborts("the_end_of::a_scope", |forking| {
            tidegate::scope(|scope| {
                scope.spawn(|_| forking.only_in_parent());
                forking.now();
            });
        });
    }

    #[test]
    fn a_scope_whose_task_forks() {
        aborts("the_end_of::a_scope_whose_task_forks", |forking| {
            tidegate::scope(|scope| {
                for _ in 0..9 {
                    scope.spawn(|_| {
                        forking.only_in_parent();
                        forking.now();
                    });
                }
            });
        });
    }

    #[test]
    fn a_loop() {
        aborts("the_end_of::a_loop", |forking| {
            tidegate::for_each(0..100_000, |_| forking.now());
        });
    }

    #[test]
    fn intervals() {
        aborts("the_end_of::intervals", |forking| {
            let ended = interval::run(|body| {
                let first = body.interval(|_| forking.now()).schedule();
                let next = first.then(body, |_, ()| forking.only_in_parent());
                drop(next.expect("an edge forward"));
            });
            ended.expect("no failure");
        });
    }

    #[test]
    fn a_blocking_call() {
        // This pool has spare threads. Without them, `blocking` would be a plain call.
        let pool = built(Pool::builder().workers(1));
        aborts_in(&pool, "the_end_of::a_blocking_call", |forking| {
            tidegate::blocking(|| forking.now());
        });
    }

    /// The outer pool's only thread runs the call on top of its wait for the inner pool.
    #[test]
    fn a_call_on_top_of_a_wait() {
        let (outer, inner) = (bare_pool(1), bare_pool(1));
        aborts_in(&outer, "the_end_of::a_call_on_top_of_a_wait", |forking| {
            inner.install(|| outer.install(|| forking.now()));
        });
    }

    #[test]
    fn a_guests_visit() {
        if is_told_alone("frames::the_end_of::a_guests_visit") {
            return;
        }
        let (pool, forking) = (pool(2), Forking::new());
        let caller = std::thread::current().id();
        // Repeat this until the caller is a guest. While both workers look for work, no slot is
        // free, and a worker runs the scope instead.
        while forking.0.load(Ordering::Relaxed) == NOT_YET {
            let is_guest = || std::thread::current().id() == caller;
            pool.scope(|_| is_guest().then(|| forking.now()));
            forking.only_in_parent();
        }
        assert_eq!(end_of(forking.0.into_inner()), ABORTED);
    }

    #[test]
    fn a_part_of_a_broadcast() {
        if is_told_alone("frames::the_end_of::a_part_of_a_broadcast") {
            return;
        }
        let children = bare_pool(1).broadcast(|_| fork());
        assert_eq!(children[0].map_or_else(|| exit(BADLY), end_of), ABORTED);
    }
}

mod an_inherited_scope {
    use super::*;

    #[test]
    fn aborts_a_spawn() {
        aborts("an_inherited_scope::aborts_a_spawn", |forking| {
            tidegate::scope(|scope| {
                forking.now();
                if forking.is_child() {
                    scope.spawn(|_| ());
                    exit(BADLY);
                }
            });
        });
    }

    #[test]
    fn returns_without_open_tasks() {
        let child = bare_pool(1).install(|| {
            let child = tidegate::scope(|_| fork());
            child.unwrap_or_else(|| exit(0))
        });
        assert_eq!(end_of(child), WELL);
    }
}

mod a_lock_of_intervals {
    use super::*;

    /// The child's new pool waits for no interval of the parent.
    #[test]
    fn held_in_parent_aborts_the_child() {
        let lock = Lock::new();
        aborts(
            "a_lock_of_intervals::held_in_parent_aborts_the_child",
            |forking| {
                let ended = interval::run(|body| {
                    let mut holder = body.interval(|_| {
                        forking.now();
                        if forking.is_child() {
                            let ended = interval::run(|body| {
                                let mut waiter = body.interval(|_| ());
                                waiter.lock(&lock).expect("the first");
                            });
                            ended.expect("no failure");
                        }
                    });
                    holder.lock(&lock).expect("the first");
                });
                ended.expect("no failure");
            },
        );
    }
}

#[test]
fn returning_task_aborts_child_with_reason() {
    if is_told_alone("frames::returning_task_aborts_child_with_reason") {
        return;
    }
    let pool = pool(2);
    if let Some(child) = pool.install(fork) {
        assert_eq!(end_of(child), ABORTED);
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
    assert_eq!(end_of(child), ABORTED);
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
    let builder = Pool::builder().workers(1).max_threads(1);
    let pool = built(builder.on_start(handler));
    let task = pool.spawn(move || {
        if std::process::id() != parent {
            exit(BADLY);
        }
    });
    spawned.wait();
    assert_eq!(told.recv(), Ok(ABORTED));
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
    assert_eq!(child.map(end_of), Some(ABORTED));
}
