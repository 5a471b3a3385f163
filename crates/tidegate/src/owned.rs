//! Loops over the items of a vector by value.
//!
//! While the loop runs, the vector is empty and keeps only its allocation. The pieces own the items:
//! each item is moved to the closure, or dropped with the piece that still has it. If a piece is
//! leaked, its items are leaked, too.

use crate::parallel_for::items::ParallelItems;
use crate::parallel_for::items::private::{Piece, Sealed};
use std::mem::{self, MaybeUninit};
use std::ptr;

/// Items in the allocation of a vector. All are initialized and belong to this piece.
pub struct Owned<'a, T>(&'a mut [MaybeUninit<T>]);

impl<T> Sealed for Vec<T> {}

impl<T: Send> ParallelItems for Vec<T> {
    type Item = T;
    type Piece<'a>
        = Owned<'a, T>
    where
        Self: 'a;

    fn pieces(&mut self) -> Owned<'_, T> {
        let length = self.len();
        // SAFETY: 0 is at most the capacity, and the first 0 items are initialized.
        unsafe { self.set_len(0) };
        // The vector never touches its items again, which are initialized: they belong to the piece.
        Owned(&mut self.spare_capacity_mut()[..length])
    }
}

impl<T: Send> Piece for Owned<'_, T> {
    fn length(&self) -> usize {
        self.0.len()
    }

    fn cut(mut self, at: usize) -> (Self, Self) {
        let (near, far) = mem::take(&mut self.0).split_at_mut(at);
        (Self(near), Self(far))
    }
}

impl<T> Iterator for Owned<'_, T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        let (first, rest) = mem::take(&mut self.0).split_first_mut()?;
        self.0 = rest;
        // SAFETY: initialized and ours, and no longer in the piece.
        Some(unsafe { first.assume_init_read() })
    }
}

impl<T> Drop for Owned<'_, T> {
    fn drop(&mut self) {
        let items = ptr::from_mut(mem::take(&mut self.0)) as *mut [T];
        // SAFETY: initialized and ours, and no longer in the piece.
        unsafe { ptr::drop_in_place(items) };
    }
}

#[cfg(test)]
mod tests {
    use super::{Owned, ParallelItems, Piece};
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Counts as a clone of its marker, and calls `dropped` when it is dropped.
    struct Item<'a> {
        _marker: Arc<()>,
        dropped: &'a (dyn Fn() + Sync),
    }

    impl Drop for Item<'_> {
        fn drop(&mut self) {
            (self.dropped)();
        }
    }

    fn items<'a>(marker: &Arc<()>, dropped: &'a (dyn Fn() + Sync)) -> Vec<Item<'a>> {
        let item = |_| Item {
            _marker: marker.clone(),
            dropped,
        };
        (0..5).map(item).collect()
    }

    #[test]
    fn pieces_drop_what_they_still_own() {
        let marker = Arc::new(());
        let mut vec = items(&marker, &|| ());
        let (mut near, far) = vec.pieces().cut(3);
        let first = near.next();
        drop(far);
        assert_eq!(Arc::strong_count(&marker), 4);
        drop(near);
        assert_eq!(Arc::strong_count(&marker), 2);
        drop(first);
        drop(vec);
        assert_eq!(Arc::strong_count(&marker), 1);
    }

    #[test]
    #[cfg_attr(miri, ignore = "leaks on purpose")]
    fn leaked_pieces_leak_their_items() {
        let marker = Arc::new(());
        let mut vec = items(&marker, &|| ());
        std::mem::forget(vec.pieces());
        drop(vec);
        assert_eq!(Arc::strong_count(&marker), 6);
    }

    #[test]
    fn a_panicking_drop_drops_the_rest() {
        let marker = Arc::new(());
        let drops = AtomicUsize::new(0);
        let dropped = || assert_ne!(drops.fetch_add(1, Ordering::Relaxed), 1, "the second drop");
        let mut vec = items(&marker, &dropped);
        let drop_all = || drop(vec.pieces());
        assert!(catch_unwind(AssertUnwindSafe(drop_all)).is_err());
        drop(vec);
        assert_eq!(Arc::strong_count(&marker), 1);
    }

    #[test]
    fn items_without_size_are_counted() {
        let mut vec = vec![(); 7];
        let (near, far): (Owned<'_, ()>, Owned<'_, ()>) = vec.pieces().cut(3);
        assert_eq!((near.count(), far.count()), (3, 4));
    }
}
