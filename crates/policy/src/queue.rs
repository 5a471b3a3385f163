//! The kind of queue in which a worker keeps its tasks.
//!
//! The split deque is the runtime's default: for each task, its owner executes two stores and two
//! loads. The other queues are for comparisons, and for programs that need another order of tasks;
//! `docs/queues.md` describes each.

use crate::tunable::{Basis, Tunable, choice, table, words};

/// A kind of task queue. Default: [`Split`](Self::Split).
///
/// ```
/// use tidegate_policy::QueueKind;
///
/// assert_eq!(QueueKind::default(), QueueKind::Split);
/// assert_eq!("chase-lev".parse(), Ok(QueueKind::ChaseLev));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QueueKind {
    /// The split deque (the default). In its private part, the owner needs neither a fence nor a
    /// compare-and-swap.
    Split,
    /// A deque whose slots show which tasks were taken. The owner notices a theft only when it
    /// finds no task in a slot.
    Lazy,
    /// The dynamic circular deque of Chase and Lev.
    ChaseLev,
    /// A deque made of a list of small arrays.
    Dynamic,
    /// A queue of blocks, in which the owner and the thieves work on different blocks.
    Blocks,
    /// A single queue for all workers, protected by a lock.
    Shared,
    /// An idempotent deque: the owner may undo a theft, so a task may be taken more than once.
    IdempotentDeque,
    /// An idempotent queue from which the owner and the thieves take the oldest task.
    IdempotentFifo,
    /// An idempotent queue from which the owner and the thieves take the youngest task.
    IdempotentLifo,
    /// A queue whose thieves may take a task or only copy it.
    Duplicating,
    /// A queue whose threads use only loads and stores, so a task may be taken more than once.
    Multiplicity,
}

use QueueKind::{
    Blocks, ChaseLev, Duplicating, Dynamic, IdempotentDeque, IdempotentFifo, IdempotentLifo, Lazy,
    Multiplicity, Shared, Split,
};

impl QueueKind {
    /// All kinds of queues.
    pub const ALL: &'static [Self] = &[
        Split,
        Lazy,
        ChaseLev,
        Dynamic,
        Blocks,
        Shared,
        IdempotentDeque,
        IdempotentFifo,
        IdempotentLifo,
        Duplicating,
        Multiplicity,
    ];

    /// Returns the name of this kind, which [`FromStr`](core::str::FromStr) parses.
    #[must_use]
    pub const fn name(self) -> &'static str {
        // `NAMES` is in the order of the variants.
        Self::NAMES[self as usize]
    }
}

table! {
    QUEUE: QueueKind = choice("queue", QueueKind::NAMES, QueueKind::Split).set_by("TIDEGATE_QUEUE"),
        "The queue in which a worker keeps its tasks. The owner of a split deque needs neither a fence nor a compare-and-swap for tasks that are not stolen.",
        Basis::Measured;
}

words!(
    QueueKind,
    "queue",
    Split = "split",
    Lazy = "lazy",
    ChaseLev = "chase-lev",
    Dynamic = "dynamic",
    Blocks = "blocks",
    Shared = "shared",
    IdempotentDeque = "idempotent-deque",
    IdempotentFifo = "idempotent-fifo",
    IdempotentLifo = "idempotent-lifo",
    Duplicating = "duplicating",
    Multiplicity = "multiplicity"
);

impl Default for QueueKind {
    fn default() -> Self {
        QUEUE.default
    }
}
