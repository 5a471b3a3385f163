//! Cyclic arrays of task words that are replaced by larger ones.
//!
//! Positions count up; an array maps them to slots by their low bits, so a position keeps its task when the array grows. Thieves may still read an
//! array that was replaced, so all keep their addresses until the queue is dropped. docs/queues.md
//! says what they cost, and how the memory of a peak is returned.

#![allow(
    clippy::disallowed_types,
    reason = "only the owner fills these cells, so no thread waits for another to fill one"
)]

use crate::queue::Miss;
use crate::slots::Slots;
use std::ptr::NonNull;
use std::sync::OnceLock;
use tidegate_sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// How many tasks a queue has room for at first, as a power of two. Tiny where a checker must reach every boundary in a few steps.
const FIRST_BITS: usize = if cfg!(any(loom, miri)) { 1 } else { 8 };
/// How many it may have room for at last.
const LAST_BITS: usize = 26;

/// All arrays of a queue, each twice as long as the one before.
pub(crate) struct Arrays<T> {
    arrays: [OnceLock<Array<T>>; LAST_BITS - FIRST_BITS + 1],
    /// The array in use.
    current: AtomicUsize,
}

pub(crate) struct Array<T>(Slots<T>);

impl<T> Arrays<T> {
    pub(crate) fn new() -> Self {
        let arrays = std::array::from_fn(|_| OnceLock::new());
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

    /// The array in use, for whoever did not put it there.
    pub(crate) fn load(&self) -> &Array<T> {
        // Acquire pairs with the Release in `grow`: what was copied is there.
        self.at(self.current.load(Ordering::Acquire))
    }

    /// The array in use, for the owner, who alone replaces it.
    pub(crate) fn own(&self) -> &Array<T> {
        // Relaxed: its own store.
        self.at(self.current.load(Ordering::Relaxed))
    }

    /// Replaces the array in use by one twice as long that holds the tasks at `from..to` too; `None` if it is as long as may be.
    #[cold]
    pub(crate) fn grow(&self, from: u64, to: u64) -> Option<&Array<T>> {
        // Relaxed: as in `own`.
        let index = self.current.load(Ordering::Relaxed);
        let next = self.arrays.get(index + 1)?;
        let old = self.at(index);
        // Not a new one, if the queue has shrunk since it was as long as this.
        let new = next.get_or_init(|| Array::empty(FIRST_BITS + index + 1));
        for position in from..to {
            // Relaxed, both: what thieves do to the old slots meanwhile, if anything, is settled by the words of the queue.
            let task = old.slot(position).load(Ordering::Relaxed);
            new.slot(position).store(task, Ordering::Relaxed);
        }
        // Release pairs with the Acquire in `load`.
        self.current.store(index + 1, Ordering::Release);
        Some(new)
    }

    /// Goes back to the array half as long, if there is one, and returns the longer one's memory.
    ///
    /// For the owner of an empty queue that has acquired every theft. A thief may still read the
    /// longer array, where it finds any word, so it must not win.
    #[cold]
    pub(crate) fn shrink(&self) {
        // Relaxed: as in `own`.
        let index = self.current.load(Ordering::Relaxed);
        if let Some(shorter) = index.checked_sub(1) {
            // Release pairs with the Acquire in `load`: a thief that reads this index has lost
            // every task that was put before.
            self.current.store(shorter, Ordering::Release);
            self.at(index).0.discard();
        }
    }
}

impl<T> Array<T> {
    fn empty(bits: usize) -> Self {
        Self(Slots::empty(1 << bits))
    }

    /// How many tasks have room.
    pub(crate) fn room(&self) -> u64 {
        self.0.len() as u64
    }

    pub(crate) fn slot(&self, position: u64) -> &AtomicPtr<T> {
        &self.0[(position & (self.room() - 1)) as usize]
    }

    /// The task at a position that has been filled.
    pub(crate) fn get(&self, position: u64) -> NonNull<T> {
        // Relaxed: the reader has acquired the put by a word of the queue.
        filled(self.slot(position).load(Ordering::Relaxed), position)
    }

    /// The same, for a thief who has not won it yet: what it reads may be anything.
    pub(crate) fn peek(&self, position: u64) -> Peeked<T> {
        // Relaxed: as in `get`.
        let task = self.slot(position).load(Ordering::Relaxed);
        Peeked { task, position }
    }

    pub(crate) fn set(&self, position: u64, task: NonNull<T>) {
        // Relaxed: released by a word of the queue.
        self.slot(position).store(task.as_ptr(), Ordering::Relaxed);
    }

    /// As `peek`, where what is read counts even if it came later than the words that led to it.
    pub(crate) fn acquire(&self, position: u64) -> Peeked<T> {
        // Acquire pairs with the Release in `publish`.
        let task = self.slot(position).load(Ordering::Acquire);
        Peeked { task, position }
    }

    /// As `set`, for those who `acquire`.
    pub(crate) fn publish(&self, position: u64, task: NonNull<T>) {
        // Release pairs with the Acquire in `acquire`.
        self.slot(position).store(task.as_ptr(), Ordering::Release);
    }
}

/// What a thief has read from a slot.
pub(crate) struct Peeked<T> {
    task: *mut T,
    position: u64,
}

impl<T> Peeked<T> {
    /// The task, if it was `won` after it was read.
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
