//! Scopes in a child that was forked while another thread held a lock of the scope or of its pool.

use super::{Scope, ScopeCore};
use crate::fork::forks::{BADLY, End, WELL, end_of, exit, holding, is_told_alone};
use crate::pool::PoolInner;
use crate::{Pool, policy::QueueKind};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Builds a pool with one thread, so that no task is stolen.
fn alone() -> Pool {
    let builder = Pool::builder().queue(QueueKind::Split).workers(1);
    builder.spare_threads(0).trace(true).build().unwrap()
}

/// Runs `body` on the pool. `body` returns the result of `fork`, and whether the child behaved
/// correctly.
fn end_in(pool: &Pool, body: impl FnOnce(Arc<PoolInner>) -> (Option<i32>, bool) + Send) -> End {
    let forked = pool.install(|| match body(pool.inner().clone()) {
        (None, right) => exit(if right { 0 } else { BADLY }),
        (Some(child), _) => child,
    });
    end_of(forked)
}

fn count(ran: &AtomicUsize) {
    ran.fetch_add(1, Ordering::Relaxed);
}

/// Spawns a task that stays in the scope's own queue while the pool's only thread is busy.
fn spawn_from_outside<'scope>(scope: &Scope<'scope>, ran: &'scope AtomicUsize) {
    std::thread::scope(|threads| {
        threads.spawn(|| scope.spawn(|_| count(ran)));
    });
}

mod ends {
    use super::*;

    #[test]
    fn without_the_list_of_queues() {
        let ran = AtomicUsize::new(0);
        let end = end_in(&alone(), |pool| {
            let forked = crate::scope(|scope| {
                spawn_from_outside(scope, &ran);
                holding(move |stay| pool.hold_queues(stay)).fork()
            });
            (forked, ran.load(Ordering::Relaxed) == 1)
        });
        assert_eq!(end, WELL);
    }

    /// Above its half in the deque, the join finds a task. It moves the task to the scope's queue,
    /// which does not exist yet.
    #[test]
    fn with_queue_made_in_child() {
        let ran = AtomicUsize::new(0);
        let end = end_in(&alone(), |pool| {
            let forked = crate::scope(|scope| {
                let first = || {
                    scope.spawn(|_| count(&ran));
                    // Pretends that a sleeping thread could be woken for the task.
                    pool.sleep.pretend_vacancy();
                    holding(move |stay| pool.hold_queues(stay)).fork()
                };
                crate::join(first, || ()).0
            });
            (forked, ran.load(Ordering::Relaxed) == 1)
        });
        assert_eq!(end, WELL);
    }

    /// Above its half in the deque, the join finds a task that belongs to the parent process.
    #[test]
    fn without_the_injector() {
        let end = end_in(&alone(), |pool| {
            let first = || {
                crate::spawn::spawn_alone(&pool.as_arc(), || ());
                holding(move |stay| pool.injector.hold(stay)).fork()
            };
            crate::join(first, || true)
        });
        assert_eq!(end, WELL);
    }

    #[test]
    fn without_the_notes() {
        let ran = AtomicUsize::new(0);
        let end = end_in(&alone(), |pool| {
            let forked = crate::scope(|scope| {
                spawn_from_outside(scope, &ran);
                holding(move |stay| pool.worker(0).notes.hold(stay)).fork()
            });
            (forked, ran.load(Ordering::Relaxed) == 1)
        });
        assert_eq!(end, WELL);
    }

    #[test]
    fn with_its_part_of_a_broadcast() {
        let ran = AtomicUsize::new(0);
        let end = end_in(&alone(), |_| {
            let forked = crate::scope(|scope| {
                scope.spawn_broadcast(|_, _, _| count(&ran));
                crate::fork::forks::fork()
            });
            (forked, ran.load(Ordering::Relaxed) == 1)
        });
        assert_eq!(end, WELL);
    }
}

/// A scope that another thread may access. The scope ends after that thread.
struct Shown(NonNull<ScopeCore>);

// SAFETY: the scope is Sync, and waits for the thread.
unsafe impl Send for Shown {}

impl Shown {
    fn core(&self) -> &ScopeCore {
        // SAFETY: the scope ends after the thread.
        unsafe { self.0.as_ref() }
    }
}

mod aborts_the_child {
    use super::*;

    /// Calls `spawn` in the body of a scope, and then forks while another thread is in `hold`.
    fn end_without(
        spawn: impl for<'a> FnOnce(&Scope<'a>) + Send,
        hold: impl FnOnce(&ScopeCore, &dyn Fn()) + Send + 'static,
    ) -> End {
        end_in(&alone(), |_| {
            let forked = crate::scope(|scope| {
                spawn(scope);
                let shown = Shown(NonNull::from(&scope.core));
                holding(move |stay| hold(shown.core(), stay)).fork()
            });
            (forked, false)
        })
    }

    const ABORTED: End = End::Signal(libc::SIGABRT);

    /// During the fork, a thread of the parent may have been taking the task.
    #[test]
    fn without_its_queue() {
        if is_told_alone("scope::forked_tests::aborts_the_child::without_its_queue") {
            return;
        }
        static RAN: AtomicUsize = AtomicUsize::new(0);
        let end = end_without(
            |scope| spawn_from_outside(scope, &RAN),
            |scope, stay| scope.queue().hold(stay),
        );
        assert_eq!(end, ABORTED);
    }

    #[test]
    fn without_what_begins_in_order() {
        let end = end_without(
            |scope| scope.spawn_fifo(|_| ()),
            |scope, stay| {
                let _tasks = scope.in_order(0).lock();
                stay();
            },
        );
        assert_eq!(end, ABORTED);
    }
}
