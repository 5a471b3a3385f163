//! Runs one closure on every thread of a pool.
//!
//! Each thread gets its part in its inbox. All parts are delivered under one lock
//! (`members::deliver_to_all`), so two broadcasts reach every thread in the same order, and
//! closures that meet at a barrier cannot deadlock across two broadcasts. A part needs no slot to
//! run.
//!
//! * A sleeping thread runs its part immediately.
//! * A waiting thread runs it on top of its frame.
//! * A running thread runs it when its deque is empty.
//! * A preempted thread runs it when its task waits or ends.

use crate::job::Task;
use crate::pool::PoolInner;
use crate::pool::members;
use crate::scope;
use crate::scope::Scope;
use crate::worker::WorkerThread;
use crate::worker::memory;
use std::sync::Arc;
use tidegate_sync::lock::Mutex;

/// Calls `f` once on each thread, with the part's number and the number of parts.
pub(crate) fn broadcast<R: Send>(
    pool: &Arc<PoolInner>,
    f: impl Fn(usize, usize) -> R + Sync,
) -> Vec<R> {
    let results: Mutex<Vec<Option<R>>> = Mutex::default();
    let (f, slots) = (&f, &results);
    scope::scope_in_place(pool, |scope| {
        members::deliver_to_all(pool, |threads| {
            slots.lock().resize_with(threads, || None);
            move |number| {
                let part = move |_: &Scope<'_>| {
                    let result = f(number, threads);
                    slots.lock()[number] = Some(result);
                };
                memory::expect(pool, scope::core(scope));
                scope.task(part, WorkerThread::get())
            }
        });
    });
    results
        .into_inner()
        .into_iter()
        .map(|r| r.expect("each part ran"))
        .collect()
}

/// Like `broadcast`, but does not wait. The pool stays alive until all parts have run.
pub(crate) fn spawn_broadcast(pool: &PoolInner, f: impl Fn(usize, usize) + Send + Sync + 'static) {
    let f = Arc::new(f);
    members::deliver_to_all(pool, |threads| {
        move |number| {
            let f = f.clone();
            Task::alone(pool, move |_| f(number, threads))
        }
    });
}

impl<'scope> Scope<'scope> {
    /// Like `broadcast`, but each thread's part is a task of the scope.
    pub(crate) fn spawn_broadcast<F>(&self, f: F)
    where
        F: Fn(&Self, usize, usize) + Send + Sync + 'scope,
    {
        let f = Arc::new(f);
        members::deliver_to_all(self.pool(), |threads| {
            move |number| {
                let f = f.clone();
                let part = move |scope: &Self| f(scope, number, threads);
                memory::expect(self.pool(), scope::core(self));
                self.task(part, WorkerThread::get())
            }
        });
    }
}
