//! The identifiers of the book's tasks, scopes and reservations.

/// Identifies a task until it has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Task(pub(crate) u32);

impl Task {
    /// Returns a small number, which is reused after the task has ended.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Identifies a scope until it is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Scope(pub(crate) u32);

impl Scope {
    /// Returns a small number, which is reused after the scope has been closed.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Identifies a reservation until it is given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reservation(pub(crate) u32);

impl Reservation {
    /// Returns a small number, which is reused after the reservation has been given back.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}
