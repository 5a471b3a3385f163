//! The baseline of plain threads: one thread per worker, without a scheduler.
//!
//! Each task has a budget of threads. A fork gives half of its task's budget to a new scoped thread
//! and keeps the rest; a task with a budget of one runs serially. There is no load balancing
//! afterwards.

use std::io;
use std::thread;

use super::{Runtime, without_scopes};

/// A runtime that uses scoped threads, one per worker.
#[derive(Clone, Copy, Debug)]
pub struct Threads {
    workers: usize,
}

/// The number of threads that a task may still use, including its own.
#[derive(Debug)]
pub struct Budget(usize);

impl Runtime for Threads {
    const NAME: &'static str = "std";
    type Fork<'a> = Budget;
    without_scopes! {}

    fn with_workers(workers: usize) -> io::Result<Self> {
        super::at_least_one(workers).map(|workers| Self { workers })
    }

    fn install<T: Send>(&self, body: impl FnOnce(&mut Budget) -> T + Send) -> T {
        on_thread(|| body(&mut Budget(self.workers)), || ()).0
    }

    #[inline]
    fn join<RA: Send, RB: Send>(
        fork: &mut Budget,
        a: impl FnOnce(&mut Budget) -> RA + Send,
        b: impl FnOnce(&mut Budget) -> RB + Send,
    ) -> (RA, RB) {
        if fork.0 <= 1 {
            return (a(fork), b(fork));
        }
        split(fork.0, a, b)
    }

    fn for_each<T: Send>(fork: &mut Budget, items: &mut [T], body: impl Fn(&mut T) + Send + Sync) {
        let share = items.len().div_ceil(fork.0).max(1);
        let mut shares = items.chunks_mut(share);
        let own = shares.next().unwrap_or_default();
        thread::scope(|scope| {
            for other in shares {
                scope.spawn(|| other.iter_mut().for_each(&body));
            }
            own.iter_mut().for_each(&body);
        });
    }
}

/// Runs `b` on a new thread with half of the budget, and `a` on this thread with the rest.
#[cold]
fn split<RA: Send, RB: Send>(
    threads: usize,
    a: impl FnOnce(&mut Budget) -> RA + Send,
    b: impl FnOnce(&mut Budget) -> RB + Send,
) -> (RA, RB) {
    let other = threads / 2;
    let (b, a) = on_thread(
        move || b(&mut Budget(other)),
        || a(&mut Budget(threads - other)),
    );
    (a, b)
}

/// Runs `there` on a new thread with a large stack while `here` runs on the current thread.
pub(super) fn on_thread<T: Send, H>(
    there: impl FnOnce() -> T + Send,
    here: impl FnOnce() -> H,
) -> (T, H) {
    thread::scope(|scope| {
        let thread = thread::Builder::new()
            .stack_size(super::STACK)
            .spawn_scoped(scope, there)
            .expect("the system gives a thread");
        let here = here();
        match thread.join() {
            Ok(there) => (there, here),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}
