//! What those who call the plan owe it.
//!
//! A pool keeps to it by the way it is built. Notes that somebody has altered may not, and are refused before the plan believes them.

use super::Plan;
use crate::space::book::{Lease, Scope, Task, Until};

impl<T> Plan<T> {
    fn top(&self, thread: usize) -> Option<Task> {
        self.threads.get(thread)?.stack.last().copied()
    }

    /// Whether the thread's topmost task, if there is one, stands somewhere in the order.
    pub(crate) fn can_fork(&self, thread: usize) -> bool {
        self.top(thread).is_none_or(|top| self.book.is_placed(top))
    }

    /// Whether it may begin to wait, ask for memory or end: it does not wait and has not asked.
    pub(crate) fn can_turn(&self, thread: usize) -> bool {
        self.top(thread).is_none_or(|top| self.can_end(top))
    }

    /// Whether all tasks of the thread may end.
    pub(crate) fn can_leave(&self, thread: usize) -> bool {
        let thread = self.threads.get(thread);
        thread.is_none_or(|thread| thread.stack.iter().all(|task| self.can_end(*task)))
    }

    fn can_end(&self, task: Task) -> bool {
        !self.book.waits(task) && !self.book.asks(task)
    }

    /// Whether there is something to wait for.
    pub(crate) fn can_wait(&self, until: Until) -> bool {
        match until {
            Until::Half(half) => self.book.is_half(half),
            Until::Scope(scope) => self.book.is_unawaited(scope),
            Until::Else => true,
        }
    }

    /// Whether the joiner may come to its half.
    pub(crate) fn can_take_back(&self, half: Task) -> bool {
        self.book.is_half(half)
    }

    /// The same when the half has ended.
    pub(crate) fn can_join(&self, half: Task) -> bool {
        self.book.is_half(half) && self.book.has_ended(half)
    }

    /// Whether there is this scope.
    pub(crate) fn knows(&self, scope: Scope) -> bool {
        self.book.tasks_of(scope).is_some()
    }

    /// Whether all tasks of the scope have ended.
    pub(crate) fn can_close(&self, scope: Scope) -> bool {
        self.book.tasks_of(scope) == Some(0)
    }

    /// Whether a stranger may come to the scope.
    pub(crate) fn expects(&self, scope: Scope) -> bool {
        self.book.expects(scope)
    }

    /// Whether there is this lease.
    pub(crate) fn has_lease(&self, lease: Lease) -> bool {
        self.book.has_lease(lease)
    }
}
