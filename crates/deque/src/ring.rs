//! The cyclic array of task words.
//!
//! Positions count up without bound; the ring maps them to slots by their low bits. It does not know which slots are
//! filled: that is in the deque's words.

use crate::slots::Slots;
use std::ptr::NonNull;
use tidegate_sync::atomic::{AtomicPtr, Ordering};

/// How many tasks a deque holds. Tiny under loom, whose models must reach every boundary in a few steps, and small under
/// Miri, which runs thousands of times slower; the logic depends on it being a power of two only.
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
        // SAFETY: the index is below CAPACITY, a power of two, which is how many slots `new` has made.
        unsafe { self.slots.get_unchecked(index) }
    }

    #[inline(always)]
    pub(crate) fn put(&self, position: u64, task: NonNull<T>) {
        // Relaxed: released to thieves by the compare-and-swap on P, to an exposing thief by the store of `bot`.
        self.slot(position).store(task.as_ptr(), Ordering::Relaxed);
    }

    /// One more than the highest slot that was ever filled.
    pub(crate) fn deepest(&self) -> usize {
        // Relaxed: whether a slot was filled, not with what.
        let filled = |slot: &AtomicPtr<T>| !slot.load(Ordering::Relaxed).is_null();
        let highest = self.slots.iter().rposition(filled);
        highest.map_or(0, |index| index + 1)
    }

    /// The task at a position that has been filled.
    #[inline(always)]
    pub(crate) fn get(&self, position: u64) -> NonNull<T> {
        // Relaxed: see `put`; the reader acquired P before.
        let task = self.slot(position).load(Ordering::Relaxed);
        NonNull::new(task).unwrap_or_else(|| unreachable!("position {position} was never filled"))
    }
}

const _: () = assert!(CAPACITY.is_power_of_two());
