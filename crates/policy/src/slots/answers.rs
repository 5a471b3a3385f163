//! What the ledger is told about waiters, and what it answers.

/// What to do so that work which became visible is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Wake {
    /// Nothing: no slot is free, or nobody is left to wake.
    Nobody,
    /// Wake this thread; it has a slot now and searches.
    Thread(usize),
    /// Wake this waiter; it has a slot now. It looks only for what it may rob or run, and asks no worker for more.
    Waiter(usize),
    /// Wake this waiter; it has a slot and is to run whatever lies in the pool's queues on top of its frame.
    Rescue(usize),
    /// Start a new thread under this number; it has a slot now.
    Start(usize),
    /// Nothing: a thread could be started, but there is nothing for it. The caller must see to it that later work is announced.
    Gone,
    /// Nothing can be done: a slot is free, but the threads that could use it stand in blocking calls, and no more may be
    /// started.
    Exhausted,
}

/// What a waiter can do with work that became visible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// It may rob exactly that work.
    Robs,
    /// It may run what lies in the pool's queues if no thread without frames can.
    Queued,
    /// The same if nobody else ever would.
    Rescue,
    /// Nothing.
    Never,
}

/// What became of a waiter whose latch opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Opened {
    /// It was not asleep.
    Awake,
    /// Wake it: it got a free slot.
    Free,
    /// Wake it: it got the slot of the one who opened the latch, who must stop running.
    Given,
    /// It is owed a slot and waits for the next hand-over.
    Owed,
}
