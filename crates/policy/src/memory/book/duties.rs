//! Preconditions of the book's methods, as checks. They accept any task, scope or reservation, even
//! if it does not exist.

use super::{Book, Reservation, Scope, State, Task};

impl Book {
    /// Whether the task has a place in the depth-first order.
    pub(crate) fn is_placed(&self, task: Task) -> bool {
        let entry = self.tasks.get(task.0);
        entry.is_some_and(|entry| entry.item.is_some())
    }

    /// Whether the task is the second half of a join under way, and its joiner has not ended.
    pub(crate) fn is_half(&self, task: Task) -> bool {
        let joiner = self.joiner(task);
        joiner.is_some_and(|joiner| !self.tasks[task.0].has_moment() && !self.has_ended(joiner))
    }

    /// Whether the task has ended but still has an entry.
    pub(crate) fn has_ended(&self, task: Task) -> bool {
        let entry = self.tasks.get(task.0);
        entry.is_some_and(|entry| entry.state == State::Gone)
    }

    /// Returns the number of live tasks of the scope, or `None` if the scope does not exist.
    pub(crate) fn tasks_of(&self, scope: Scope) -> Option<usize> {
        self.scopes.get(scope.0).map(|members| members.live)
    }

    /// Whether the scope exists and no task waits for it.
    pub(crate) fn is_unawaited(&self, scope: Scope) -> bool {
        let members = self.scopes.get(scope.0);
        members.is_some_and(|members| members.waiter.is_none())
    }

    /// Whether the scope expects a task that was announced but is not in the book yet.
    pub(crate) fn expects(&self, scope: Scope) -> bool {
        let members = self.scopes.get(scope.0);
        members.is_some_and(|members| members.unseen > 0)
    }

    pub(crate) fn has_reservation(&self, reservation: Reservation) -> bool {
        self.reservations.get(reservation.0).is_some()
    }
}
