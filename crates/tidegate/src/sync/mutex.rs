//! A mutual exclusion lock.

use super::{Hold, access, acquire, address, guard, taken, tried};
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::sync::{self, LockResult, TryLockResult};

/// A lock around a value, like [`std::sync::Mutex`].
///
/// ```
/// use tidegate::sync::Mutex;
///
/// static WORDS: Mutex<Vec<&str>> = Mutex::new(Vec::new());
/// tidegate::join(|| WORDS.lock().unwrap().push("ebb"), || WORDS.lock().unwrap().push("flow"));
/// assert_eq!(WORDS.lock().unwrap().len(), 2);
/// ```
#[derive(Default)]
pub struct Mutex<T: ?Sized>(sync::Mutex<T>);

/// Gives access to the value of a [`Mutex`], and unlocks it when it is dropped.
#[must_use = "the lock is released when the guard is dropped"]
pub struct MutexGuard<'a, T: ?Sized> {
    pub(super) lock: &'a Mutex<T>,
    pub(super) guard: sync::MutexGuard<'a, T>,
    /// Dropped after the guard.
    pub(super) hold: Hold,
}

impl<T> Mutex<T> {
    /// Creates a lock around `value`.
    ///
    /// ```
    /// assert_eq!(tidegate::sync::Mutex::new(7).into_inner().unwrap(), 7);
    /// ```
    #[must_use]
    pub const fn new(value: T) -> Self {
        Self(sync::Mutex::new(value))
    }

    /// Consumes the lock and returns the value.
    ///
    /// ```
    /// assert_eq!(tidegate::sync::Mutex::new(7).into_inner().unwrap(), 7);
    /// ```
    ///
    /// # Errors
    /// If a thread has panicked while it held the lock; the error contains the value.
    pub fn into_inner(self) -> LockResult<T> {
        self.0.into_inner()
    }
}

impl<T: ?Sized + Send> Mutex<T> {
    /// Waits for the lock and takes it.
    ///
    /// ```
    /// let count = tidegate::sync::Mutex::new(1);
    /// *count.lock().unwrap() += 1;
    /// assert_eq!(*count.lock().unwrap(), 2);
    /// ```
    ///
    /// # Errors
    /// If a thread has panicked while it held the lock; the error contains the guard.
    ///
    /// # Panics
    /// May panic if the calling thread holds the lock. It may also wait forever.
    #[track_caller]
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        let labels = ("wants a lock", "waits for a lock");
        let address = address(self);
        let guard = acquire(labels, address, || self.0.lock(), || self.0.try_lock());
        let at = Location::caller();
        taken(guard, |guard| self.guard(guard, at))
    }

    /// Takes the lock if no thread holds it.
    ///
    /// ```
    /// let lock = tidegate::sync::Mutex::new(());
    /// let held = lock.try_lock();
    /// assert!(held.is_ok() && lock.try_lock().is_err());
    /// ```
    ///
    /// # Errors
    /// If a thread holds the lock, or has panicked while it held it.
    #[track_caller]
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        access("tries a lock");
        let at = Location::caller();
        tried(self.0.try_lock(), |guard| self.guard(guard, at))
    }

    fn guard<'a>(
        &'a self,
        guard: sync::MutexGuard<'a, T>,
        at: &'static Location<'static>,
    ) -> MutexGuard<'a, T> {
        MutexGuard {
            lock: self,
            guard,
            hold: Hold::begin(address(self), at),
        }
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Returns the value, without locking: the caller has the only reference.
    ///
    /// ```
    /// let mut lock = tidegate::sync::Mutex::new(1);
    /// *lock.get_mut().unwrap() += 1;
    /// assert_eq!(lock.into_inner().unwrap(), 2);
    /// ```
    ///
    /// # Errors
    /// If a thread has panicked while it held the lock; the error contains the reference.
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        self.0.get_mut()
    }

    /// Whether a thread has panicked while it held the lock.
    ///
    /// ```
    /// assert!(!tidegate::sync::Mutex::new(()).is_poisoned());
    /// ```
    #[must_use]
    pub fn is_poisoned(&self) -> bool {
        self.0.is_poisoned()
    }

    /// Forgets that a thread has panicked while it held the lock.
    ///
    /// ```
    /// use tidegate::sync::Mutex;
    ///
    /// let lock = Mutex::new(1);
    /// let fail = std::panic::AssertUnwindSafe(|| {
    ///     let _held = lock.lock();
    ///     panic!("oh no");
    /// });
    /// assert!(std::panic::catch_unwind(fail).is_err() && lock.is_poisoned());
    /// lock.clear_poison();
    /// assert!(lock.lock().is_ok());
    /// ```
    pub fn clear_poison(&self) {
        self.0.clear_poison();
    }
}

impl<T> From<T> for Mutex<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

guard!(MutexGuard);

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.guard
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
