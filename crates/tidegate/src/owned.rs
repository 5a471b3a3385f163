//! Loops over the items of a vector or an array by value.
//!
//! While the loop runs, its storage is an empty vector that keeps only the allocation. The pieces
//! own the items: each item is moved to the closure, or dropped with the piece that still owns it.
//! If a piece is leaked, its items are leaked, too.

use crate::parallel_for::items::ParallelItems;
use crate::parallel_for::items::private::{Piece, Sealed};
use std::mem::{self, MaybeUninit};
use std::ptr;

/// Moves the items into `storage`, which keeps them until the loop has ended.
fn keep<T>(items: Vec<T>, storage: &mut Vec<T>) -> Owned<'_, T> {
    let length = items.len();
    *storage = items;
    // SAFETY: 0 is at most the capacity, and the first 0 items are initialized.
    unsafe { storage.set_len(0) };
    // The vector never touches these items again. They are initialized and belong to the piece.
    Owned(&mut storage.spare_capacity_mut()[..length])
}

/// Items in the storage of a loop. All are initialized and belong to this piece.
pub struct Owned<'a, T>(&'a mut [MaybeUninit<T>]);

impl<T> Sealed for Vec<T> {}

impl<T: Send> ParallelItems for Vec<T> {
    type Item = T;
    type Storage = Vec<T>;
    type Piece<'a>
        = Owned<'a, T>
    where
        Self: 'a;

    fn pieces<'a>(self, storage: &'a mut Vec<T>) -> Owned<'a, T>
    where
        Self: 'a,
    {
        keep(self, storage)
    }
}

impl<T, const N: usize> Sealed for [T; N] {}

impl<T: Send, const N: usize> ParallelItems for [T; N] {
    type Item = T;
    type Storage = Vec<T>;
    type Piece<'a>
        = Owned<'a, T>
    where
        Self: 'a;

    fn pieces<'a>(self, storage: &'a mut Vec<T>) -> Owned<'a, T>
    where
        Self: 'a,
    {
        keep(self.into(), storage)
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
        // SAFETY: the item is initialized and ours, and no longer in the piece.
        Some(unsafe { first.assume_init_read() })
    }
}

impl<T> Drop for Owned<'_, T> {
    fn drop(&mut self) {
        let items = ptr::from_mut(mem::take(&mut self.0)) as *mut [T];
        // SAFETY: the items are initialized and ours, and no longer in the piece.
        unsafe { ptr::drop_in_place(items) };
    }
}

#[cfg(test)]
mod tests {
    use super::{ParallelItems, Piece};
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Holds a clone of a marker, whose reference count shows how many items exist. Calls `dropped`
    /// when it is dropped.
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
        let mut storage = Vec::new();
        let (mut near, far) = items(&marker, &|| ()).pieces(&mut storage).cut(3);
        let first = near.next();
        drop(far);
        assert_eq!(Arc::strong_count(&marker), 4);
        drop(near);
        assert_eq!(Arc::strong_count(&marker), 2);
        drop(first);
        drop(storage);
        assert_eq!(Arc::strong_count(&marker), 1);
    }

    #[test]
    #[cfg_attr(miri, ignore = "leaks on purpose")]
    fn leaked_pieces_leak_their_items() {
        let marker = Arc::new(());
        let mut storage = Vec::new();
        std::mem::forget(items(&marker, &|| ()).pieces(&mut storage));
        drop(storage);
        assert_eq!(Arc::strong_count(&marker), 6);
    }

    #[test]
    fn a_panicking_drop_drops_the_rest() {
        let marker = Arc::new(());
        let drops = AtomicUsize::new(0);
        let dropped = || assert_ne!(drops.fetch_add(1, Ordering::Relaxed), 1, "the second drop");
        let mut storage = Vec::new();
        let drop_all = || drop(items(&marker, &dropped).pieces(&mut storage));
        assert!(catch_unwind(AssertUnwindSafe(drop_all)).is_err());
        drop(storage);
        assert_eq!(Arc::strong_count(&marker), 1);
    }

    #[test]
    fn items_without_size_are_counted() {
        let mut storage = Vec::new();
        let (near, far) = [(); 7].pieces(&mut storage).cut(3);
        assert_eq!((near.count(), far.count()), (3, 4));
    }
}
