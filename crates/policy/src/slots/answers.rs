//! What waiters can do with new work, as input to the ledger, and the ledger's answers.

/// What the caller must do so that a thread finds newly visible work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Wake {
    /// Nothing: no slot is free, or there is no thread to wake.
    Nobody,
    /// Wake this thread. It now has a slot and searches.
    Thread(usize),
    /// Wake this waiter. It now has a slot. It searches only for tasks that its wait policy lets it
    /// run, and does not ask other workers to publish more tasks.
    Waiter(usize),
    /// Wake this waiter. It now has a slot, and must run the work in the pool's queues on top of
    /// its frame.
    Rescue(usize),
    /// Start a new thread with this number. It now has a slot.
    Start(usize),
    /// Nothing: a thread could be started, but there is no work for it. The caller must make sure
    /// that later work is announced.
    Gone,
    /// Nothing: a slot is free, but all threads that could use it are in blocking calls, and no
    /// more threads may be started.
    Exhausted,
}

/// What a waiter can do with newly visible work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// The wait policy lets the waiter run that work.
    Robs,
    /// The waiter may run the work in the pool's queues if no thread without frames can.
    Queued,
    /// The waiter may run the work in the pool's queues only if no other thread ever would.
    Rescue,
    /// The waiter cannot run the work.
    Never,
}

/// What happened to a waiter whose latch opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Opened {
    /// Nothing to do: the waiter was not asleep.
    Awake,
    /// Wake the waiter: it got a free slot.
    Free,
    /// Wake the waiter: it got the slot of the thread that opened the latch. That thread must stop
    /// running.
    Given,
    /// The waiter has no slot yet. It is owed one, and gets it at a later hand-over.
    Owed,
}
