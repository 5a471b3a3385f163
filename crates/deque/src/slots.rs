//! Slots for task words, each null at first.

use std::ops::Deref;
use tidegate_sync::atomic::AtomicPtr;

#[cfg(any(loom, miri))]
pub(crate) use checked::Slots;
#[cfg(not(any(loom, miri)))]
pub(crate) use paged::Slots;

#[cfg(not(any(loom, miri)))]
mod paged {
    use super::{AtomicPtr, Deref};
    use std::alloc::Layout;
    use std::ptr::NonNull;
    use tidegate_sync::pages::Pages;

    /// Slots in pages of their own. They take address space, but memory only for the pages that
    /// were filled.
    pub(crate) struct Slots<T> {
        /// The first of `count` slots in `pages`.
        first: NonNull<AtomicPtr<T>>,
        count: usize,
        /// Accessed only through `first`.
        pages: Pages,
    }

    // SAFETY: `first` points into what the value owns, and atomic pointers may be sent to and
    // shared with other threads.
    unsafe impl<T> Send for Slots<T> {}
    // SAFETY: as above.
    unsafe impl<T> Sync for Slots<T> {}

    impl<T> Slots<T> {
        pub(crate) fn empty(count: usize) -> Self {
            let layout = Layout::array::<AtomicPtr<T>>(count).expect("a small size");
            let mut pages = Pages::zeroed(layout);
            let first = NonNull::new(pages.start().cast()).expect("pages lie somewhere");
            Self {
                first,
                count,
                pages,
            }
        }

        /// Returns the memory to the system if the system takes memory back. Each slot then holds
        /// null or its old word.
        pub(crate) fn discard(&self) {
            self.pages.discard();
        }
    }

    impl<T> Deref for Slots<T> {
        type Target = [AtomicPtr<T>];

        #[inline(always)]
        fn deref(&self) -> &[AtomicPtr<T>] {
            // SAFETY: the pages were made for `count` atomic pointers, are aligned, and live as
            // long as `self`. All zeroes is a valid atomic pointer (null). All references to them
            // are to atomics, so `discard` may make them null at any moment, as another thread may.
            unsafe { std::slice::from_raw_parts(self.first.as_ptr(), self.count) }
        }
    }
}

#[cfg(any(loom, miri))]
mod checked {
    use super::{AtomicPtr, Deref};
    use std::ptr::null_mut;
    use tidegate_sync::atomic::Ordering;

    /// Slots in memory that the checker knows.
    pub(crate) struct Slots<T>(Box<[AtomicPtr<T>]>);

    impl<T> Slots<T> {
        pub(crate) fn empty(count: usize) -> Self {
            Self((0..count).map(|_| AtomicPtr::new(null_mut())).collect())
        }

        pub(crate) fn discard(&self) {
            // Relaxed: the system's call orders nothing either.
            self.iter()
                .for_each(|slot| slot.store(null_mut(), Ordering::Relaxed));
        }
    }

    impl<T> Deref for Slots<T> {
        type Target = [AtomicPtr<T>];

        fn deref(&self) -> &[AtomicPtr<T>] {
            &self.0
        }
    }
}
