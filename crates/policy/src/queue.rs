//! In which queue a worker keeps its tasks.
//!
//! The split deque is the runtime's own: its owner pays for a task two stores and two loads. The others are for comparison, and for programs whose order they
//! suit; `docs/queues.md` describes each.

use crate::error::ParseError;
use crate::tunable::{Basis, Tunable, choice, choices, table};
use core::fmt;
use core::str::FromStr;

/// A queue of tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QueueKind {
    /// The split deque, in whose private part the owner needs neither fence nor compare-and-swap.
    Split,
    /// The slots say what was taken; the owner learns of thefts late.
    Lazy,
    /// The dynamic circular deque of Chase and Lev.
    ChaseLev,
    /// A list of small arrays.
    Dynamic,
    /// Owner and thieves work on different blocks.
    Blocks,
    /// One queue for all workers.
    Shared,
    /// A deque whose owner may undo a theft.
    IdempotentDeque,
    /// The same, and everybody takes the oldest task.
    IdempotentFifo,
    /// The same, and everybody takes the youngest task.
    IdempotentLifo,
    /// Thieves take, or only copy.
    Duplicating,
    /// Loads and stores on every side.
    Multiplicity,
}

use QueueKind::{
    Blocks, ChaseLev, Duplicating, Dynamic, IdempotentDeque, IdempotentFifo, IdempotentLifo, Lazy,
    Multiplicity, Shared, Split,
};

impl QueueKind {
    /// Every queue.
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

    /// What they are called, in the same order.
    pub(crate) const NAMES: &'static [&'static str] = &[
        "split",
        "lazy",
        "chase-lev",
        "dynamic",
        "blocks",
        "shared",
        "idempotent-deque",
        "idempotent-fifo",
        "idempotent-lifo",
        "duplicating",
        "multiplicity",
    ];

    /// What it is called.
    #[must_use]
    pub const fn name(self) -> &'static str {
        // In the order of `NAMES`.
        Self::NAMES[self as usize]
    }
}

table! {
    QUEUE: QueueKind = choice("queue", QueueKind::NAMES, QueueKind::Split).set_by("TIDEGATE_QUEUE"),
        "In which queue a worker keeps its tasks; the owner of a split deque needs neither fence nor compare-and-swap for what nobody steals.",
        Basis::Measured;
}

choices!(QueueKind);

impl Default for QueueKind {
    /// [`QUEUE`].
    fn default() -> Self {
        QUEUE.default
    }
}

impl fmt::Display for QueueKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for QueueKind {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let named = Self::ALL.iter().find(|queue| queue.name() == text);
        named
            .copied()
            .ok_or_else(|| crate::text::unknown("queue", text, Self::NAMES))
    }
}
