//! The cyclic array of task words.
//!
//! Positions count up without bound; the ring maps them to slots by their low bits. It does not know which slots are
//! filled: that is in the deque's words.

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
    slots: Box<[AtomicPtr<T>]>,
}

impl<T> Ring<T> {
    #[cfg(not(loom))]
    pub(crate) fn new() -> Self {
        use std::alloc::{Layout, alloc_zeroed, handle_alloc_error};
        let layout = Layout::array::<AtomicPtr<T>>(CAPACITY as usize).expect("a fixed, small size");
        // SAFETY: the layout's size is not zero. Zeroed memory of this size comes from the system untouched, so a deque
        // costs address space, not memory, until it is deep.
        let memory = unsafe { alloc_zeroed(layout) }.cast::<AtomicPtr<T>>();
        if memory.is_null() {
            handle_alloc_error(layout);
        }
        let slice = std::ptr::slice_from_raw_parts_mut(memory, CAPACITY as usize);
        // SAFETY: `slice` was allocated just above by the global allocator with the layout of this very box, is owned by
        // nobody else, and all zeroes is a valid AtomicPtr (null).
        let slots = unsafe { Box::from_raw(slice) };
        Self { slots }
    }

    #[cfg(loom)]
    pub(crate) fn new() -> Self {
        Self {
            slots: (0..CAPACITY)
                .map(|_| AtomicPtr::new(std::ptr::null_mut()))
                .collect(),
        }
    }

    #[inline(always)]
    fn slot(&self, position: u64) -> &AtomicPtr<T> {
        let index = (position & (CAPACITY - 1)) as usize;
        // SAFETY: the index is below CAPACITY, the length of the box.
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
        self.slots
            .iter()
            .rposition(filled)
            .map_or(0, |index| index + 1)
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
