//! The split deque with forced exposure; the protocol is `docs/deque.md`.
//!
//! A [`Split`] is shared by all; its one owner works through an [`Owner`], everybody else through the methods of
//! [`Split`] itself. Extraction is exactly once, the owner's order is last in first out, a thief's first in first out;
//! the number of tasks is bounded. Cost in atomic read-modify-writes: push and pop none, a steal two, moving the border
//! one (owner) or two and a process-wide barrier (thief).
//!
//! What it does not do: it never waits for work, never wakes anybody and never follows the pointers that it holds.

mod owner;
mod queue;
mod thief;
mod word;

use crate::ring::{CAPACITY, Ring};
use tidegate_sync::Line;
use tidegate_sync::atomic::{AtomicBool, AtomicU32, AtomicU64};
use tidegate_sync::thread::Process;

pub use owner::{Cold, Owner};
pub use thief::Steal;
pub use word::Gen;
use word::Public;

/// How many tasks a deque holds at most.
pub const fn capacity() -> u64 {
    CAPACITY - 1
}

/// The deque; see the module.
pub struct Split<T> {
    public: Line<AtomicU64>,
    polled: Line<Polled<T>>,
    owner: Line<OwnerWords>,
    thieves: Line<ThiefWords>,
}

/// What the owner reads on each push and pop and others write rarely.
struct Polled<T> {
    guard: AtomicU64,
    limit: AtomicU64,
    signal: AtomicU32,
    ring: Ring<T>,
}

/// What the owner writes. Apart from `bot` nobody else looks at it.
struct OwnerWords {
    bot: AtomicU64,
    /// `top` as the owner last left it, in full.
    left_top: AtomicU64,
    /// How many tasks had been stolen when it left `top` there.
    stolen: AtomicU64,
    /// A `top` at which every theft had been read.
    proven: AtomicU64,
    /// How many generations have been given.
    generations: AtomicU64,
    /// The process that has the thieves.
    process: Process,
}

struct ThiefWords {
    read: AtomicU64,
    expose: AtomicBool,
}

impl<T> Default for Split<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Split<T> {
    /// An empty deque.
    #[must_use]
    pub fn new() -> Self {
        Self {
            public: Line(AtomicU64::new(Public::EMPTY.0)),
            polled: Line(Polled {
                guard: AtomicU64::new(0),
                limit: AtomicU64::new(capacity()),
                signal: AtomicU32::new(0),
                ring: Ring::new(),
            }),
            owner: Line(OwnerWords {
                bot: AtomicU64::new(0),
                left_top: AtomicU64::new(0),
                stolen: AtomicU64::new(0),
                proven: AtomicU64::new(0),
                generations: AtomicU64::new(0),
                process: Process::this(),
            }),
            thieves: Line(ThiefWords {
                read: AtomicU64::new(0),
                expose: AtomicBool::new(false),
            }),
        }
    }

    /// The owner's side.
    ///
    /// # Safety
    /// 1. At any time at most one thread uses owners of this deque, and a change of that thread is ordered by a
    ///    happens-before edge.
    #[inline(always)]
    pub unsafe fn owner(&self) -> Owner<'_, T> {
        Owner::of(self)
    }
}

#[cfg(all(test, loom))]
mod models;
#[cfg(all(test, not(loom)))]
mod tests;
