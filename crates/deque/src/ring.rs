//! The cyclic array of task words.
//!
//! Positions count up without bound; the ring maps them to slots by their low bits. It does not know which slots are
//! filled: that is in the deque's words.

use slots::Slots;
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

/// The array itself, of a length that is CAPACITY.
#[cfg(not(any(loom, miri)))]
mod slots {
    use super::CAPACITY;
    use std::alloc::Layout;
    use std::ptr::NonNull;
    use tidegate_sync::atomic::AtomicPtr;
    use tidegate_sync::pages::Pages;

    /// In pages of its own: a deque costs address space, not memory, until it is deep.
    pub(super) struct Slots<T> {
        /// The first of CAPACITY slots in `pages`.
        first: NonNull<AtomicPtr<T>>,
        /// Never touched but through `first`.
        _pages: Pages,
    }

    // SAFETY: `first` points into what the value owns, and atomic pointers may be sent to and shared with other threads.
    unsafe impl<T> Send for Slots<T> {}
    // SAFETY: as above.
    unsafe impl<T> Sync for Slots<T> {}

    impl<T> Slots<T> {
        pub(super) fn empty() -> Self {
            let layout = Layout::array::<AtomicPtr<T>>(CAPACITY as usize);
            let mut pages = Pages::zeroed(layout.expect("a fixed, small size"));
            let first = NonNull::new(pages.start().cast()).expect("pages lie somewhere");
            Self {
                first,
                _pages: pages,
            }
        }

        #[inline(always)]
        pub(super) fn at(&self, index: usize) -> &AtomicPtr<T> {
            debug_assert!(index < CAPACITY as usize);
            // SAFETY: the index is below CAPACITY, see `Ring::slot`, the number of slots for which the pages were made.
            let slot = unsafe { self.first.add(index) };
            // SAFETY: in bounds, see above, and aligned, as pages are; all zeroes is a valid AtomicPtr (null); the pages live as long as
            // `self`, and nobody has a reference to them that is not to an atomic.
            unsafe { slot.as_ref() }
        }
    }
}

/// The same where memory is the checker's.
#[cfg(any(loom, miri))]
mod slots {
    use super::CAPACITY;
    use tidegate_sync::atomic::AtomicPtr;

    pub(super) struct Slots<T>(Box<[AtomicPtr<T>]>);

    impl<T> Slots<T> {
        pub(super) fn empty() -> Self {
            let null = |_| AtomicPtr::new(std::ptr::null_mut());
            Self((0..CAPACITY).map(null).collect())
        }

        pub(super) fn at(&self, index: usize) -> &AtomicPtr<T> {
            &self.0[index]
        }
    }
}

pub(crate) struct Ring<T> {
    slots: Slots<T>,
}

impl<T> Ring<T> {
    pub(crate) fn new() -> Self {
        Self {
            slots: Slots::empty(),
        }
    }

    #[inline(always)]
    fn slot(&self, position: u64) -> &AtomicPtr<T> {
        self.slots.at((position & (CAPACITY - 1)) as usize)
    }

    #[inline(always)]
    pub(crate) fn put(&self, position: u64, task: NonNull<T>) {
        // Relaxed: released to thieves by the compare-and-swap on P, to an exposing thief by the store of `bot`.
        self.slot(position).store(task.as_ptr(), Ordering::Relaxed);
    }

    /// One more than the highest slot that was ever filled.
    pub(crate) fn deepest(&self) -> usize {
        // Relaxed: whether a slot was filled, not with what.
        let empty = |index: &usize| self.slots.at(*index).load(Ordering::Relaxed).is_null();
        let mut lengths = (1..=CAPACITY as usize).rev();
        lengths.find(|length| !empty(&(length - 1))).unwrap_or(0)
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
