//! The cyclic array of task words.
//!
//! Positions count up without bound, and the ring maps them to slots by their low bits. The ring
//! does not record which slots are filled; the deque's words do.

use crate::slots::Slots;
use std::ptr::NonNull;
use tidegate_sync::atomic::{AtomicPtr, Ordering};

/// The number of slots, a power of two. A deque holds at most one task fewer. The ring is tiny
/// under loom, whose models must reach every boundary in a few steps, and small under Miri, which
/// is thousands of times slower.
pub(crate) const CAPACITY: u64 = if cfg!(loom) {
    4
} else if cfg!(miri) {
    64
} else {
    1 << 17
};

pub(crate) struct Ring<T> {
    slots: Slots<T>,
}

impl<T> Ring<T> {
    pub(crate) fn new() -> Self {
        Self {
            slots: Slots::empty(CAPACITY as usize),
        }
    }

    #[inline(always)]
    fn slot(&self, position: u64) -> &AtomicPtr<T> {
        let index = (position & (CAPACITY - 1)) as usize;
        // SAFETY: the index is below CAPACITY, a power of two, and `new` has created CAPACITY
        // slots.
        unsafe { self.slots.get_unchecked(index) }
    }

    #[inline(always)]
    pub(crate) fn put(&self, position: u64, task: NonNull<T>) {
        // Relaxed: the compare-and-swap on P releases the slot to thieves, and the store of `bot`
        // releases it to a thief that exposes tasks.
        self.slot(position).store(task.as_ptr(), Ordering::Relaxed);
    }

    /// Returns one more than the index of the highest slot that was ever filled.
    pub(crate) fn deepest(&self) -> usize {
        // Relaxed: only whether a slot was filled matters, not with which task.
        let filled = |slot: &AtomicPtr<T>| !slot.load(Ordering::Relaxed).is_null();
        let highest = self.slots.iter().rposition(filled);
        highest.map_or(0, |index| index + 1)
    }

    /// Returns the task at a position that has been filled.
    #[inline(always)]
    pub(crate) fn get(&self, position: u64) -> NonNull<T> {
        // Relaxed: see `put`; the reader has acquired P.
        let task = self.slot(position).load(Ordering::Relaxed);
        NonNull::new(task).unwrap_or_else(|| unreachable!("position {position} was never filled"))
    }
}

const _: () = assert!(CAPACITY.is_power_of_two());
