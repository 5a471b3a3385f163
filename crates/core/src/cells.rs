//! A worker's atomic values: hints that other threads read, and values private to the worker.
//!
//! Threads share a worker's data, so both kinds are atomics. Neither orders other accesses: every
//! access is Relaxed. Code that needs an ordering uses an atomic directly, with a comment that
//! names the access it pairs with.

use tidegate_sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering};

/// A type that fits into an atomic. The atomic's default must represent the type's default.
pub(crate) trait Scalar: Copy {
    type Atomic: Default;

    fn load(atomic: &Self::Atomic) -> Self;
    fn store(self, atomic: &Self::Atomic);
    fn swap(self, atomic: &Self::Atomic) -> Self;
}

/// A value that other threads may read at any time. It may be out of date, so no decision may rely
/// on it alone.
pub(crate) struct Hint<T: Scalar>(T::Atomic);

impl<T: Scalar> Default for Hint<T> {
    fn default() -> Self {
        Self(T::Atomic::default())
    }
}

impl<T: Scalar> Hint<T> {
    pub(crate) fn new(value: T) -> Self {
        let hint = Self::default();
        hint.set(value);
        hint
    }

    #[inline]
    pub(crate) fn get(&self) -> T {
        T::load(&self.0)
    }

    #[inline]
    pub(crate) fn set(&self, value: T) {
        value.store(&self.0);
    }

    /// Sets the value and returns the old one. Any number of threads may call this at once; each
    /// old value is returned to only one of them.
    pub(crate) fn swap(&self, value: T) -> T {
        value.swap(&self.0)
    }

    /// Like `swap`, but cheaper. Only the thread that writes this hint may call this, and there
    /// must be only one such thread.
    #[inline]
    pub(crate) fn replace(&self, value: T) -> T {
        let old = self.get();
        self.set(value);
        old
    }
}

/// A value that only the worker's own thread reads and writes.
pub(crate) struct OwnerCell<T: Scalar>(T::Atomic);

impl<T: Scalar> Default for OwnerCell<T> {
    fn default() -> Self {
        Self(T::Atomic::default())
    }
}

impl<T: Scalar> OwnerCell<T> {
    #[inline(always)]
    pub(crate) fn get(&self) -> T {
        T::load(&self.0)
    }

    #[inline(always)]
    pub(crate) fn set(&self, value: T) {
        value.store(&self.0);
    }

    #[inline]
    pub(crate) fn replace(&self, value: T) -> T {
        let old = self.get();
        self.set(value);
        old
    }
}

macro_rules! scalar {
    ($([$($generic:ident)?] $type:ty, $atomic:ty, $load:expr, $store:expr;)*) => {$(
        impl$(<$generic>)? Scalar for $type {
            type Atomic = $atomic;

            #[inline(always)]
            fn load(atomic: &Self::Atomic) -> Self {
                // Relaxed: see the module's documentation.
                $load(atomic.load(Ordering::Relaxed))
            }

            #[inline(always)]
            fn store(self, atomic: &Self::Atomic) {
                // Relaxed: see the module's documentation.
                atomic.store($store(self), Ordering::Relaxed);
            }

            #[inline(always)]
            fn swap(self, atomic: &Self::Atomic) -> Self {
                // Relaxed: see the module's documentation.
                $load(atomic.swap($store(self), Ordering::Relaxed))
            }
        }
    )*};
}

scalar! {
    [] bool, AtomicBool, |word| word, |value| value;
    [] u64, AtomicU64, |word| word, |value| value;
    [] usize, AtomicUsize, |word| word, |value| value;
    // 0 stands for None.
    [] Option<usize>, AtomicUsize, |word: usize| word.checked_sub(1), |value: Option<usize>| value.map_or(0, |n| n + 1);
    [T] *const T, AtomicPtr<T>, <*mut T>::cast_const, <*const T>::cast_mut;
}
