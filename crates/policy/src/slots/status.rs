//! What a thread of the pool does, as the ledger knows it.

/// What a thread of the pool does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Runs or searches, and holds a slot.
    Running,
    /// Runs without a slot: its grace was over.
    Overcommitted,
    /// Parked without frames, for lack of work.
    Idle,
    /// Parked on a latch, its frames below.
    Waiting,
    /// Ready, with frames, and without a slot.
    Owed,
    /// Inside a call that its task declared as blocking.
    Blocked,
    /// Has left the pool.
    Gone,
}
