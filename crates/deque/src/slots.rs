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

    /// Slots in separate memory pages. Only pages that were written use memory; the others use only
    /// address space.
    pub(crate) struct Slots<T> {
        /// The first of `count` slots in `pages`.
        first: NonNull<AtomicPtr<T>>,
        count: usize,
        /// Accessed only through `first`.
        pages: Pages,
    }

    // SAFETY: `first` points into `pages`, which the value owns, and atomic pointers may be sent to
    // and shared with other threads.
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

        /// Returns the memory to the system, if the system supports that. Each slot then holds null
        /// or keeps its word.
        pub(crate) fn discard(&self) {
            self.pages.discard();
        }
    }

    impl<T> Deref for Slots<T> {
        type Target = [AtomicPtr<T>];

        #[inline(always)]
        fn deref(&self) -> &[AtomicPtr<T>] {
            // SAFETY: the pages were mapped for `count` atomic pointers, are aligned, and live as
            // long as `self`. All zeroes is a valid atomic pointer (null). All references into the
            // pages are to atomics, so `discard` may make them null at any moment, just like a
            // store by another thread.
            unsafe { std::slice::from_raw_parts(self.first.as_ptr(), self.count) }
        }
    }
}

#[cfg(any(loom, miri))]
mod checked {
    use super::{AtomicPtr, Deref};
    use std::ptr::null_mut;
    use tidegate_sync::atomic::Ordering;

    /// Slots in ordinary memory, which loom or Miri can check.
    pub(crate) struct Slots<T>(Box<[AtomicPtr<T>]>);

    impl<T> Slots<T> {
        pub(crate) fn empty(count: usize) -> Self {
            Self((0..count).map(|_| AtomicPtr::new(null_mut())).collect())
        }

        pub(crate) fn discard(&self) {
            // Relaxed: the system call that this replaces orders nothing either.
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
