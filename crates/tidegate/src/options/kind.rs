//! Open pools, and closed ones: what a pool may do with its threads.

use super::Closed;

/// Every difference between open and closed pools is a function here; see [`crate::closed`].
#[derive(Debug)]
pub(crate) enum Kind {
    /// It starts spare threads and takes guests.
    Open,
    /// It has the threads that its builder asked for, numbered for life.
    Closed(Closed),
}

impl From<Option<Closed>> for Kind {
    fn from(closed: Option<Closed>) -> Self {
        closed.map_or(Self::Open, Self::Closed)
    }
}

impl Kind {
    pub(crate) fn closed(&self) -> Option<&Closed> {
        match self {
            Self::Open => None,
            Self::Closed(closed) => Some(closed),
        }
    }

    /// Whether threads from outside may take part for the length of a call, and `set_workers` may add threads.
    pub(crate) fn may_grow(&self) -> bool {
        self.closed().is_none()
    }

    /// Whether a spawn may run another task on the caller's stack.
    pub(crate) fn runs_spawns_at_once(&self) -> bool {
        self.closed().is_none()
    }

    /// Whether the drop of the pool's handle waits for the threads to end.
    pub(crate) fn end_waits(&self) -> bool {
        self.closed().is_none()
    }

    /// Whether a task that waits for something outside the pool may run any task of the pool's queues meanwhile.
    pub(crate) fn helps_outside_waits(&self) -> bool {
        self.closed().is_some()
    }

    /// Whether the tasks that a thread spawns begin in that order.
    pub(crate) fn is_breadth_first(&self) -> bool {
        self.closed().is_some_and(|closed| closed.breadth_first)
    }

    /// Whether the pool continues with fewer threads, and reports bad variables instead of failing.
    pub(crate) fn is_forgiving(&self) -> bool {
        self.closed().is_some_and(|closed| closed.forgiving)
    }
}
