//! Decides which commands the caller of a plan may give.
//!
//! By construction, a pool gives only valid commands. An altered trace may contain invalid ones,
//! which are rejected before they reach the plan.

use super::{Command, Plan};
use crate::memory::book::{Scope, Task, Until};

impl<T> Plan<T> {
    /// Whether a pool could give this command now.
    pub(crate) fn allows<U>(&self, command: &Command<U>) -> bool {
        match *command {
            Command::Half(thread, _) => self.can_fork(thread),
            Command::Spawn(thread, scope, _) => self.can_fork(thread) && self.knows(scope),
            Command::BeginUnrelatedIn(_, scope) => self.book.expects(scope),
            Command::Close(scope) => self.book.tasks_of(scope) == Some(0),
            Command::Expect(scope) => self.knows(scope),
            Command::TakeBack(half) => self.book.is_half(half),
            Command::Joined(half) => self.book.is_half(half) && self.book.has_ended(half),
            Command::Waits(thread, until) => self.can_turn(thread) && self.can_wait(until),
            Command::End(thread) | Command::Ask(thread, _) => self.can_turn(thread),
            Command::Leave(thread) | Command::Next(thread) => self.can_leave(thread),
            Command::GiveBack(_, reservation, _) => self.book.has_reservation(reservation),
            Command::SetBudget(_) => self.budget().is_some(),
            Command::SetWorkers(_)
            | Command::Detached(..)
            | Command::Open
            | Command::BeginUnrelated(_)
            | Command::Blocks(..)
            | Command::GoesOn(_)
            | Command::Answer(_)
            | Command::Settle
            | Command::HasWork
            | Command::GivesWay(_)
            | Command::NextOf(..)
            | Command::Rescue(_)
            | Command::ResumeParked => true,
        }
    }

    fn top(&self, thread: usize) -> Option<Task> {
        self.threads.get(thread)?.stack.last().copied()
    }

    /// Whether the thread has no topmost task, or its topmost task has a place in the order.
    fn can_fork(&self, thread: usize) -> bool {
        self.top(thread).is_none_or(|top| self.book.is_placed(top))
    }

    /// Whether the thread's topmost task may start to wait, request memory or end: it must not be
    /// waiting or requesting memory already.
    fn can_turn(&self, thread: usize) -> bool {
        self.top(thread).is_none_or(|top| self.can_end(top))
    }

    /// Whether all tasks of the thread may end now.
    fn can_leave(&self, thread: usize) -> bool {
        let thread = self.threads.get(thread);
        thread.is_none_or(|thread| thread.stack.iter().all(|task| self.can_end(*task)))
    }

    fn can_end(&self, task: Task) -> bool {
        !self.book.waits(task) && !self.book.asks(task)
    }

    /// Whether `until` is a join under way, a scope that no task waits for, or something outside
    /// the plan.
    fn can_wait(&self, until: Until) -> bool {
        match until {
            Until::Half(half) => self.book.is_half(half),
            Until::Scope(scope) => self.book.is_unawaited(scope),
            Until::Else => true,
        }
    }

    fn knows(&self, scope: Scope) -> bool {
        self.book.tasks_of(scope).is_some()
    }
}
