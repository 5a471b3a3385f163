//! The interface that all queues share.

use std::ptr::NonNull;

/// A queue of tasks that one worker owns and from which all others steal.
///
/// # Callers
/// Only the owner may call [`put`](Self::put) and [`take`](Self::take). The owner is one thread at
/// any time, and a change of owner must be ordered by a happens-before edge. Any thread may call
/// [`steal`](Self::steal), the owner included. In a [`Shared`](crate::Shared) queue every thread
/// counts as an owner. If a caller breaks these rules, tasks are lost or come out too often. Memory
/// stays sound, because no queue follows the pointers that it holds. Code that follows them relies
/// on these rules, as its safety notes state.
///
/// # Guarantees
/// Every task that was put comes out of a take or a steal. It comes out *exactly once*, or *at
/// least once* if no fence or compare-and-swap keeps two threads from getting the same task. The
/// thread that gets a task sees everything that was written before its put.
///
/// | queue | a task comes out | owner takes | thief gets | room | put | take | steal |
/// |---|---|---|---|---|---|---|---|
/// | [`Split`] | exactly once | youngest | oldest | 2^17 | - | - | 2 |
/// | [`Lazy`] | exactly once | youngest | oldest | grows | - | 1 | 2, locked |
/// | [`ChaseLev`] | exactly once | youngest | oldest | grows | - | fence; last one 1 | fence, 1 |
/// | [`Dynamic`] | exactly once | youngest | oldest | 2^33 | - | fence; last one 1 | fence, 1 |
/// | [`Blocks`] | exactly once | youngest | oldest granted | 4,096 | 1 a block | 1 a block | 2 |
/// | [`Shared`] | exactly once | youngest | oldest | grows | lock | lock | lock |
/// | [`IdempotentDeque`] | at least once | youngest | oldest | 2^19 | - | - | 1 |
/// | [`IdempotentFifo`] | at least once | oldest | oldest | grows | - | - | 1 |
/// | [`IdempotentLifo`] | at least once | youngest | youngest | 2^24 | - | - | 1 |
/// | [`Duplicating`] | at least once | youngest | oldest or copy | grows | - | - or lock | lock |
/// | [`Multiplicity`] | at least once | oldest | oldest | grows | - | - | - |
///
/// The last three columns count atomic read-modify-writes and full fences; `-` means plain loads
/// and stores only.
///
/// A queue that *grows* keeps its memory until it is dropped, except that a [`ChaseLev`] returns
/// half of it each time its owner finds it empty. Queues that grow by replacing an array have room
/// for at most 2^26 tasks, and their shorter arrays together take as much memory again. A
/// [`Dynamic`] grows piece by piece. A [`Blocks`] has room for 127 to 4,096 tasks, and for 64 while
/// a thief reads. `docs/queues.md` describes each protocol and why it is correct.
///
/// Use queues from which a task may come out more than once only through [`claim`](crate::claim).
/// If several threads may get the same pointer, a thread must win the task before it follows the
/// pointer. And the task's memory must outlive the queue's last use of it.
///
/// Only the queues of this crate implement this trait: [`claim`](crate::claim) relies on the
/// guarantee that only pointers that were put in come out.
///
/// [`Split`]: crate::Split
/// [`Lazy`]: crate::Lazy
/// [`ChaseLev`]: crate::ChaseLev
/// [`Dynamic`]: crate::Dynamic
/// [`Blocks`]: crate::Blocks
/// [`Shared`]: crate::Shared
/// [`IdempotentDeque`]: crate::IdempotentDeque
/// [`IdempotentFifo`]: crate::IdempotentFifo
/// [`IdempotentLifo`]: crate::IdempotentLifo
/// [`Duplicating`]: crate::Duplicating
/// [`Multiplicity`]: crate::Multiplicity
pub trait Queue<T>: Sealed + Send + Sync {
    /// Puts a task in.
    ///
    /// # Errors
    /// Returns [`Full`] if the queue has no room. The queue then stays unchanged.
    fn put(&self, task: NonNull<T>) -> Result<(), Full>;

    /// Takes a task out at the owner's end. Returns `None` if the owner can get no task.
    fn take(&self) -> Option<NonNull<T>>;

    /// Tries once to take a task out at the thieves' end. `cursor` holds what this thief remembers
    /// of this queue.
    ///
    /// # Errors
    /// Returns the reason if the thief got no task.
    fn steal(&self, cursor: &mut Cursor) -> Result<NonNull<T>, Miss>;

    /// Whether a thief would probably get a task now. After a full fence, the caller sees every put
    /// that another thread made before an earlier full fence.
    fn offers(&self) -> bool;
}

/// Keeps other crates from implementing [`Queue`].
pub trait Sealed {}

/// The queue has no room for another task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

/// Why an attempt to steal returned no task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Miss {
    /// There was a task, but another thread took it or is about to take it.
    Lost,
    /// There was no task that thieves may take.
    Empty,
}

/// What one thread remembers of one queue between its steals. Only
/// [`Multiplicity`](crate::Multiplicity) uses it: each of its thieves remembers up to which
/// position it has seen all tasks taken. If a cursor is used with another queue, it forgets the
/// first queue.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cursor {
    queue: u64,
    position: u64,
}

impl Cursor {
    /// Returns the position that this thief has reached in the queue with this `number`.
    pub(crate) fn in_queue(&mut self, number: u64) -> &mut u64 {
        if self.queue != number {
            *self = Self {
                queue: number,
                position: 0,
            };
        }
        &mut self.position
    }
}
