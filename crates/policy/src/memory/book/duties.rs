//! What those who call the book owe it; for names that may be none.

use super::{Book, Reservation, Scope, State, Task};

impl Book {
    /// Whether the task stands somewhere in the order.
    pub(crate) fn is_placed(&self, task: Task) -> bool {
        let entry = self.tasks.get(task.0);
        entry.is_some_and(|entry| entry.item.is_some())
    }

    /// Whether this is a half that was not joined, and its joiner has not ended.
    pub(crate) fn is_half(&self, task: Task) -> bool {
        let joiner = self.joiner(task);
        joiner.is_some_and(|joiner| !self.tasks[task.0].has_moment() && !self.has_ended(joiner))
    }

    /// Whether the task has ended, and is known all the same.
    pub(crate) fn has_ended(&self, task: Task) -> bool {
        let entry = self.tasks.get(task.0);
        entry.is_some_and(|entry| entry.state == State::Gone)
    }

    /// How many tasks of the scope have not ended, if there is that scope.
    pub(crate) fn tasks_of(&self, scope: Scope) -> Option<usize> {
        self.scopes.get(scope.0).map(|members| members.live)
    }

    /// Whether the scope has no waiter.
    pub(crate) fn is_unawaited(&self, scope: Scope) -> bool {
        let members = self.scopes.get(scope.0);
        members.is_some_and(|members| members.waiter.is_none())
    }

    /// Whether a task of the scope will begin that is unknown until then.
    pub(crate) fn expects(&self, scope: Scope) -> bool {
        let members = self.scopes.get(scope.0);
        members.is_some_and(|members| members.unseen > 0)
    }

    /// Whether there is this reservation.
    pub(crate) fn has_reservation(&self, reservation: Reservation) -> bool {
        self.reservations.get(reservation.0).is_some()
    }
}
