//! A cell that is written once and never makes a thread wait.

use std::marker::PhantomData;
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

/// A boxed value that is created at its first use.
///
/// If several threads race to create it, each of them makes a value. The first thread to finish
/// stores its value, and the others drop theirs. With `std::sync::OnceLock`, they would wait for
/// the first thread, and a child made by `fork` at that moment would wait forever.
#[derive(Debug)]
pub struct OnceBox<T> {
    /// Null, or a pointer from `Box::into_raw`. With only a shared reference, it changes at most
    /// once, from null to a value.
    value: AtomicPtr<()>,
    /// Makes this type `Send` and `Sync` under the same conditions as `OnceLock`.
    owns: PhantomData<OnceLock<T>>,
}

impl<T> OnceBox<T> {
    /// Creates an empty cell.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            value: AtomicPtr::new(null_mut()),
            owns: PhantomData,
        }
    }

    /// Returns the value, or `None` if the cell is empty.
    #[inline]
    pub fn get(&self) -> Option<&T> {
        // Acquire pairs with the Release in `publish`.
        let value = self.value.load(Ordering::Acquire);
        // SAFETY: the pointer is null or points to a live box, which is freed only with
        // `&mut self`.
        unsafe { value.cast::<T>().as_ref() }
    }

    /// Returns the value. Creates it with `init` if it doesn't exist yet.
    #[inline]
    pub fn get_or_init(&self, init: impl FnOnce() -> T) -> &T {
        match self.get() {
            Some(value) => value,
            None => self.insert(init()).0,
        }
    }

    /// Stores `value` if the cell is empty. Returns the cell's value, and also `value` if it was
    /// not stored.
    #[cold]
    pub fn insert(&self, value: T) -> (&T, Option<T>) {
        let new = Box::into_raw(Box::new(value));
        match publish(&self.value, new.cast()) {
            // SAFETY: the pointer comes from `Box::into_raw` above, and its box is freed only with
            // `&mut self`.
            Ok(_) => (unsafe { &*new }, None),
            Err(kept) => {
                // SAFETY: as in `get`.
                let kept = unsafe { &*kept.cast::<T>() };
                // SAFETY: the pointer comes from `Box::into_raw` above, and no other thread has
                // seen it.
                (kept, Some(*unsafe { Box::from_raw(new) }))
            }
        }
    }

    /// Returns the value, or `None` if the cell is empty.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        // SAFETY: as in `get`, and `&mut self` makes the access exclusive.
        unsafe { self.value.get_mut().cast::<T>().as_mut() }
    }

    /// Takes the value out and leaves the cell empty.
    pub fn take(&mut self) -> Option<T> {
        let value = std::mem::replace(self.value.get_mut(), null_mut());
        // SAFETY: the pointer comes from `Box::into_raw` in `insert`, and nothing points to it any
        // more.
        (!value.is_null()).then(|| *unsafe { Box::from_raw(value.cast::<T>()) })
    }
}

/// Stores `new` if the cell is empty; compiled once for all types. The error is the cell's value.
fn publish(cell: &AtomicPtr<()>, new: *mut ()) -> Result<*mut (), *mut ()> {
    // Release pairs with the Acquire in `get`. Acquire on failure pairs with the winner's Release.
    let (order, failed) = (Ordering::Release, Ordering::Acquire);
    cell.compare_exchange(null_mut(), new, order, failed)
}

impl<T> Default for OnceBox<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Drop for OnceBox<T> {
    fn drop(&mut self) {
        let value = *self.value.get_mut();
        if !value.is_null() {
            // SAFETY: as in `take`.
            drop(unsafe { Box::from_raw(value.cast::<T>()) });
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::{Arc, Barrier};

    #[test]
    fn the_first_value_stays() {
        let cell = OnceBox::new();
        assert_eq!(cell.get(), None);
        assert_eq!(cell.get_or_init(|| 1), &1);
        assert_eq!(cell.get_or_init(|| 2), &1);
        assert_eq!(cell.insert(3), (&1, Some(3)));
    }

    #[test]
    fn racing_threads_agree_on_one_value() {
        const THREADS: usize = 4;
        for _ in 0..if cfg!(miri) { 4 } else { 200 } {
            let (cell, begin) = (OnceBox::new(), Barrier::new(THREADS));
            let fill = |number: usize| {
                begin.wait();
                *cell.get_or_init(|| number)
            };
            let seen: Vec<_> = std::thread::scope(|scope| {
                let threads: Vec<_> = (0..THREADS)
                    .map(|number| scope.spawn(move || fill(number)))
                    .collect();
                threads.into_iter().map(|it| it.join().unwrap()).collect()
            });
            assert!(seen.iter().all(|value| cell.get() == Some(value)));
        }
    }

    #[test]
    fn each_value_is_dropped_once() {
        let marker = Arc::new(());
        let mut cell = OnceBox::new();
        cell.get_or_init(|| marker.clone());
        drop(cell.insert(marker.clone()));
        assert_eq!(Arc::strong_count(&marker), 2);
        assert!(cell.get_mut().is_some());
        assert!(cell.take().is_some() && cell.take().is_none());
        assert_eq!(Arc::strong_count(&marker), 1);
        cell.get_or_init(|| marker.clone());
        drop(cell);
        assert_eq!(Arc::strong_count(&marker), 1);
    }
}
