//! What all queues have in common.

use std::ptr::NonNull;

/// A queue of tasks that one worker owns and from which all others steal.
///
/// # Who may call what
/// [`put`](Self::put) and [`take`](Self::take) are the owner's: of one thread at any time, and a change of that thread is ordered by a happens-before edge.
/// [`steal`](Self::steal) is everybody's, the owner's too. Of [`Shared`](crate::Shared) everybody is an owner. Where that is not kept tasks are lost, or
/// come out once too often; nothing else happens, because no queue follows what it holds. Who does relies on it, and says so.
///
/// # What is promised
/// Every task that was put comes out of a take or a steal: *exactly once*, or *at least once* where no fence or compare-and-swap keeps two
/// from getting the same one. What was written before the put is visible to who gets the task.
///
/// | queue | a task comes out | the owner takes | a thief gets | room | put | take | steal |
/// |---|---|---|---|---|---|---|---|
/// | [`Split`](crate::Split) | exactly once | youngest | oldest | 2^17 | - | - | 2 |
/// | [`Lazy`](crate::Lazy) | exactly once | youngest | oldest | grows | - | 1 | 2, under a lock |
/// | [`ChaseLev`](crate::ChaseLev) | exactly once | youngest | oldest | grows | - | a fence; last one 1 | a fence and 1 |
/// | [`Dynamic`](crate::Dynamic) | exactly once | youngest | oldest | grows by pieces, to 2^33 | - | a fence; last one 1 | a fence and 1 |
/// | [`Blocks`](crate::Blocks) | exactly once | youngest | oldest of those granted | 127 to 4,096; 64 while a thief reads | 1 per block | 1 per block | 2 |
/// | [`Shared`](crate::Shared) | exactly once | youngest | oldest | grows | lock | lock | lock |
/// | [`IdempotentDeque`](crate::IdempotentDeque) | at least once | youngest | oldest | 2^19 | - | - | 1 |
/// | [`IdempotentFifo`](crate::IdempotentFifo) | at least once | oldest | oldest | grows | - | - | 1 |
/// | [`IdempotentLifo`](crate::IdempotentLifo) | at least once | youngest | youngest | 2^24 | - | - | 1 |
/// | [`Duplicating`](crate::Duplicating) | at least once | youngest | oldest, or a copy of it | grows | - | -; at the border a lock | lock |
/// | [`Multiplicity`](crate::Multiplicity) | at least once | oldest | oldest | grows | - | - | - |
///
/// The last three columns count atomic read-modify-writes and full fences; `-` is plain loads and stores. What grows
/// keeps its memory until it is dropped, except that a [`ChaseLev`](crate::ChaseLev) returns half of
/// it each time its owner finds it empty. Where it is an array that is replaced it has room for 2^26
/// tasks at most, and the smaller arrays are as much again. `docs/queues.md` has each protocol with its argument.
///
/// Tasks that come out more than once are for [`claim`](crate::claim) alone: whoever follows a pointer that somebody else may have had
/// before must first win the task, and its memory must last.
///
/// The trait is for the queues of this crate alone: [`claim`](crate::claim) relies on it that nothing comes out that was not put in.
pub trait Queue<T>: Sealed + Send + Sync {
    /// Puts a task in.
    ///
    /// # Errors
    /// There is no room; nothing has happened.
    fn put(&self, task: NonNull<T>) -> Result<(), Full>;

    /// Takes a task out at the owner's end; `None` if there is none for it.
    fn take(&self) -> Option<NonNull<T>>;

    /// Tries once to take a task out at the thieves' end. `cursor` is what this thief remembers of this queue.
    ///
    /// # Errors
    /// Why there was none.
    fn steal(&self, cursor: &mut Cursor) -> Result<NonNull<T>, Miss>;

    /// Whether there seems to be something that a thief would get. Who asks after a full fence sees every put that came before another one.
    fn offers(&self) -> bool;
}

/// Keeps others from making queues.
pub trait Sealed {}

/// There is no room for another task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

/// Why an attempt to steal has brought nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Miss {
    /// There was a task, and somebody else was faster or is about to be.
    Lost,
    /// There was none for a thief.
    Empty,
}

/// What one thief remembers of one queue between its steals: nothing but for [`Multiplicity`](crate::Multiplicity), whose thieves each know up to
/// where they have seen all taken. Used with another queue it forgets the first.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cursor {
    /// The number of the queue.
    queue: u64,
    position: u64,
}

impl Cursor {
    /// How far this thief is in the queue of this number.
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
