//! Open and closed pools: what a pool may do with its threads.

use super::Closed;

/// Whether a pool is open or closed. Each method describes one difference between the two kinds;
/// see [`crate::door::closed`].
#[derive(Debug)]
pub(crate) enum Kind {
    /// The pool starts spare threads and admits guests.
    Open,
    /// The pool has exactly the threads that its builder requested, and each keeps its number.
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

    /// Whether outside threads may join as guests, and `set_workers` may add threads.
    pub(crate) fn may_grow(&self) -> bool {
        self.closed().is_none()
    }

    /// Whether a spawn may run another task on the caller's stack.
    pub(crate) fn runs_spawns_at_once(&self) -> bool {
        self.closed().is_none()
    }

    /// Whether a thread may have to give up its slot in the middle of a task, even if the pool does
    /// not share the machine.
    pub(crate) fn may_preempt(&self) -> bool {
        self.closed().is_none()
    }

    /// Whether dropping the pool's handle waits for the threads to end.
    pub(crate) fn end_waits(&self) -> bool {
        self.closed().is_none()
    }

    /// Whether a task waiting for something outside the pool may meanwhile run any task from the
    /// pool's queues.
    pub(crate) fn helps_outside_waits(&self) -> bool {
        self.closed().is_some()
    }

    /// Whether the tasks spawned by a thread begin in the order in which they were spawned.
    pub(crate) fn is_breadth_first(&self) -> bool {
        self.closed().is_some_and(|closed| closed.breadth_first)
    }

    /// Whether the pool prints errors and continues, with default values or with fewer threads,
    /// instead of failing.
    pub(crate) fn is_forgiving(&self) -> bool {
        self.closed().is_some_and(|closed| closed.forgiving)
    }
}
