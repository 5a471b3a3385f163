//! The split deque with forced exposure; `docs/deque.md` describes the protocol.
//!
//! All workers can access a [`Split`]. Its only owner uses an [`Owner`], and thieves use the
//! methods of [`Split`] itself. Each task comes out exactly once. The owner takes the youngest
//! task, a thief the oldest. The number of tasks is bounded. A push or a pop needs no atomic
//! read-modify-write, and a steal needs two. To move the border, the owner needs one
//! read-modify-write. A thief needs two, and a process-wide barrier.
//!
//! The deque never waits for work, never wakes a thread and never follows the pointers that it
//! holds.

mod owner;
mod queue;
mod thief;
mod word;

use crate::ring::{CAPACITY, Ring};
use tidegate_sync::Line;
use tidegate_sync::atomic::{AtomicBool, AtomicU32, AtomicU64};

pub use owner::{Cold, Owner};
pub use thief::Steal;
pub use word::Gen;
use word::Public;

/// Returns the maximum number of tasks in a deque.
pub const fn capacity() -> u64 {
    CAPACITY - 1
}

/// The split deque; see the [module](self).
pub struct Split<T> {
    public: Line<AtomicU64>,
    polled: Line<Polled<T>>,
    owner: Line<OwnerWords>,
    thieves: Line<ThiefWords>,
}

/// The words that the owner reads on each push and pop, and that other threads rarely write.
struct Polled<T> {
    guard: AtomicU64,
    limit: AtomicU64,
    signal: AtomicU32,
    ring: Ring<T>,
}

/// The words that the owner writes. Other threads read only `bot`.
struct OwnerWords {
    bot: AtomicU64,
    /// The full position of `top` when the owner last counted thefts.
    left_top: AtomicU64,
    /// The number of stolen tasks at the owner's last count.
    stolen: AtomicU64,
    /// A past value of `top`, such that thieves have read every stolen position below it.
    proven: AtomicU64,
    /// The number of generations that the owner has started so far.
    generations: AtomicU64,
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
    /// Creates an empty deque.
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
            }),
            thieves: Line(ThiefWords {
                read: AtomicU64::new(0),
                expose: AtomicBool::new(false),
            }),
        }
    }

    /// Returns the owner's side of this deque.
    ///
    /// # Safety
    /// 1. At any time, at most one thread uses owners of this deque. If another thread takes over,
    ///    a happens-before edge orders the change.
    #[inline(always)]
    pub unsafe fn owner(&self) -> Owner<'_, T> {
        Owner::of(self)
    }
}

#[cfg(all(test, loom))]
mod models;
#[cfg(all(test, not(loom)))]
mod tests;
