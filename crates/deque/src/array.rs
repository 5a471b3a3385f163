//! Cyclic arrays of task words that are replaced by larger ones.
//!
//! Positions count up, and an array maps them to slots by their low bits, so a position keeps its
//! task when the array grows. Thieves may still read an array after it was replaced, so every array
//! keeps its address until the queue is dropped. `docs/queues.md` describes what the arrays cost,
//! and how an emptied queue returns their memory.

#![allow(
    clippy::disallowed_types,
    reason = "only the owner fills these cells, so no thread waits for another to fill one"
)]

use crate::queue::Miss;
use crate::slots::Slots;
use std::ptr::NonNull;
use std::sync::OnceLock;
use tidegate_sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// The initial capacity of a queue, as the base-2 logarithm of the number of slots. It is tiny
/// under loom and Miri, so that the tests reach every boundary in a few steps.
const FIRST_BITS: usize = if cfg!(any(loom, miri)) { 1 } else { 8 };
/// The maximum capacity of a queue, as the base-2 logarithm of the number of slots.
const LAST_BITS: usize = 26;

/// All arrays of a queue, each twice as long as the one before.
pub(crate) struct Arrays<T> {
    arrays: [OnceLock<Array<T>>; LAST_BITS - FIRST_BITS + 1],
    /// The index of the array in use.
    current: AtomicUsize,
}

pub(crate) struct Array<T>(Slots<T>);

impl<T> Arrays<T> {
    pub(crate) fn new() -> Self {
        let arrays = [const { OnceLock::new() }; LAST_BITS - FIRST_BITS + 1];
        let first = arrays[0].set(Array::empty(FIRST_BITS));
        debug_assert!(first.is_ok());
        Self {
            arrays,
            current: AtomicUsize::new(0),
        }
    }

    fn at(&self, index: usize) -> &Array<T> {
        let array = self.arrays[index].get();
        array.unwrap_or_else(|| unreachable!("array {index} was never made"))
    }

    /// Returns the array in use to a thread other than the owner, which calls [`own`](Self::own).
    pub(crate) fn load(&self) -> &Array<T> {
        // Acquire pairs with the Release in `grow`: the copied tasks are visible.
        self.at(self.current.load(Ordering::Acquire))
    }

    /// Returns the array in use to the owner. Only the owner replaces the array.
    pub(crate) fn own(&self) -> &Array<T> {
        // Relaxed: the owner reads its own store.
        self.at(self.current.load(Ordering::Relaxed))
    }

    /// Replaces the array in use with an array twice as long, and copies the tasks at `from..to`
    /// into it. Returns `None` if the array already has its maximum length.
    #[cold]
    pub(crate) fn grow(&self, from: u64, to: u64) -> Option<&Array<T>> {
        // Relaxed: as in `own`.
        let index = self.current.load(Ordering::Relaxed);
        let next = self.arrays.get(index + 1)?;
        let old = self.at(index);
        // Reuses the longer array if the queue had grown to it before it shrank.
        let new = next.get_or_init(|| Array::empty(FIRST_BITS + index + 1));
        for position in from..to {
            // Relaxed, both: thieves may change the old slots meanwhile, but the words of the queue
            // decide which thread gets each task.
            let task = old.slot(position).load(Ordering::Relaxed);
            new.slot(position).store(task, Ordering::Relaxed);
        }
        // Release pairs with the Acquire in `load`.
        self.current.store(index + 1, Ordering::Release);
        Some(new)
    }

    /// Returns to the next shorter array, if there is one, and gives the longer array's memory back
    /// to the system.
    ///
    /// Only the owner may call this, and only if the queue is empty and the owner has acquired
    /// every theft. A thief may still read the longer array and find any word there, so it must be
    /// impossible for such a thief to win.
    #[cold]
    pub(crate) fn shrink(&self) {
        // Relaxed: as in `own`.
        let index = self.current.load(Ordering::Relaxed);
        if let Some(shorter) = index.checked_sub(1) {
            // Release pairs with the Acquire in `load`: a thief that reads this index can no longer
            // win a task that was put before.
            self.current.store(shorter, Ordering::Release);
            self.at(index).0.discard();
        }
    }
}

impl<T> Array<T> {
    fn empty(bits: usize) -> Self {
        Self(Slots::empty(1 << bits))
    }

    pub(crate) fn room(&self) -> u64 {
        self.0.len() as u64
    }

    pub(crate) fn slot(&self, position: u64) -> &AtomicPtr<T> {
        &self.0[(position & (self.room() - 1)) as usize]
    }

    /// Returns the task at a position that has been filled.
    pub(crate) fn get(&self, position: u64) -> NonNull<T> {
        // Relaxed: by reading a word of the queue, the reader has acquired the put.
        filled(self.slot(position).load(Ordering::Relaxed), position)
    }

    /// Like `get`, but for a thief that has not won the position yet: the slot may hold anything.
    pub(crate) fn peek(&self, position: u64) -> Peeked<T> {
        // Relaxed: as in `get`.
        let task = self.slot(position).load(Ordering::Relaxed);
        Peeked { task, position }
    }

    pub(crate) fn set(&self, position: u64, task: NonNull<T>) {
        // Relaxed: the owner then releases the slot with a word of the queue.
        self.slot(position).store(task.as_ptr(), Ordering::Relaxed);
    }

    /// Like `peek`, but also acquires the put. The thief needs this because the task in the slot
    /// may be newer than the words of the queue that it has read.
    pub(crate) fn acquire(&self, position: u64) -> Peeked<T> {
        // Acquire pairs with the Release in `publish`.
        let task = self.slot(position).load(Ordering::Acquire);
        Peeked { task, position }
    }

    /// Like `set`, but with Release, for thieves that call `acquire`.
    pub(crate) fn publish(&self, position: u64, task: NonNull<T>) {
        // Release pairs with the Acquire in `acquire`.
        self.slot(position).store(task.as_ptr(), Ordering::Release);
    }
}

/// A word that a thief has read from a slot.
pub(crate) struct Peeked<T> {
    task: *mut T,
    position: u64,
}

impl<T> Peeked<T> {
    /// Returns the task if the thief `won` it after reading the slot.
    pub(crate) fn if_won(self, won: bool) -> Result<NonNull<T>, Miss> {
        if won {
            Ok(filled(self.task, self.position))
        } else {
            Err(Miss::Lost)
        }
    }
}

fn filled<T>(task: *mut T, position: u64) -> NonNull<T> {
    NonNull::new(task).unwrap_or_else(|| unreachable!("position {position} was never filled"))
}
