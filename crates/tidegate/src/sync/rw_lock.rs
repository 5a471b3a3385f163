//! A lock that several readers or one writer hold.

use super::{Hold, access, acquire, address, guard, taken, tried};
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::sync::{self, LockResult, TryLockResult};

/// A lock that several readers or one writer hold, like [`std::sync::RwLock`].
///
/// ```
/// use tidegate::sync::RwLock;
///
/// let words = RwLock::new(vec!["ebb"]);
/// words.write().unwrap().push("flow");
/// let (a, b) = tidegate::join(|| words.read().unwrap().len(), || words.read().unwrap().len());
/// assert_eq!((a, b), (2, 2));
/// ```
#[derive(Default)]
pub struct RwLock<T: ?Sized>(sync::RwLock<T>);

/// Gives a reader access to the value of an [`RwLock`], and releases the lock when it is dropped.
#[must_use = "the lock is released when the guard is dropped"]
pub struct RwLockReadGuard<'a, T: ?Sized> {
    guard: sync::RwLockReadGuard<'a, T>,
    /// Dropped after the guard.
    _hold: Hold,
}

/// Gives the writer access to the value of an [`RwLock`], and releases the lock when it is dropped.
#[must_use = "the lock is released when the guard is dropped"]
pub struct RwLockWriteGuard<'a, T: ?Sized> {
    guard: sync::RwLockWriteGuard<'a, T>,
    /// Dropped after the guard.
    _hold: Hold,
}

impl<T> RwLock<T> {
    /// Creates a lock around `value`.
    ///
    /// ```
    /// assert_eq!(tidegate::sync::RwLock::new(7).into_inner().unwrap(), 7);
    /// ```
    #[must_use]
    pub const fn new(value: T) -> Self {
        Self(sync::RwLock::new(value))
    }

    /// Consumes the lock and returns the value.
    ///
    /// ```
    /// assert_eq!(tidegate::sync::RwLock::new(7).into_inner().unwrap(), 7);
    /// ```
    ///
    /// # Errors
    /// If a writer has panicked while it held the lock; the error contains the value.
    pub fn into_inner(self) -> LockResult<T> {
        self.0.into_inner()
    }
}

impl<T: ?Sized + Send + Sync> RwLock<T> {
    /// Waits until no writer holds the lock, and takes it as a reader.
    ///
    /// ```
    /// assert_eq!(*tidegate::sync::RwLock::new(7).read().unwrap(), 7);
    /// ```
    ///
    /// # Errors
    /// If a writer has panicked while it held the lock; the error contains the guard.
    ///
    /// # Panics
    /// May panic if the calling thread holds the lock. It may also wait forever.
    #[track_caller]
    pub fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        let labels = ("wants a lock as a reader", "waits for a lock as a reader");
        let address = address(self);
        let guard = acquire(labels, address, || self.0.read(), || self.0.try_read());
        let at = Location::caller();
        taken(guard, |guard| self.reader(guard, at))
    }

    /// Waits until no thread holds the lock, and takes it as the writer.
    ///
    /// ```
    /// let lock = tidegate::sync::RwLock::new(1);
    /// *lock.write().unwrap() += 1;
    /// assert_eq!(*lock.read().unwrap(), 2);
    /// ```
    ///
    /// # Errors
    /// If a writer has panicked while it held the lock; the error contains the guard.
    ///
    /// # Panics
    /// May panic if the calling thread holds the lock. It may also wait forever.
    #[track_caller]
    pub fn write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        let labels = (
            "wants a lock as its writer",
            "waits for a lock as its writer",
        );
        let address = address(self);
        let guard = acquire(labels, address, || self.0.write(), || self.0.try_write());
        let at = Location::caller();
        taken(guard, |guard| self.writer(guard, at))
    }

    /// Takes the lock as a reader if no writer holds it.
    ///
    /// ```
    /// let lock = tidegate::sync::RwLock::new(7);
    /// let reading = lock.read().unwrap();
    /// assert!(lock.try_read().is_ok() && lock.try_write().is_err());
    /// drop(reading);
    /// ```
    ///
    /// # Errors
    /// If a writer holds the lock, or has panicked while it held it.
    #[track_caller]
    pub fn try_read(&self) -> TryLockResult<RwLockReadGuard<'_, T>> {
        access("tries a lock as a reader");
        let at = Location::caller();
        tried(self.0.try_read(), |guard| self.reader(guard, at))
    }

    /// Takes the lock as the writer if no thread holds it.
    ///
    /// ```
    /// let lock = tidegate::sync::RwLock::new(1);
    /// *lock.try_write().unwrap() += 1;
    /// assert_eq!(lock.into_inner().unwrap(), 2);
    /// ```
    ///
    /// # Errors
    /// If a thread holds the lock, or a writer has panicked while it held it.
    #[track_caller]
    pub fn try_write(&self) -> TryLockResult<RwLockWriteGuard<'_, T>> {
        access("tries a lock as its writer");
        let at = Location::caller();
        tried(self.0.try_write(), |guard| self.writer(guard, at))
    }
}

impl<T: ?Sized> RwLock<T> {
    fn reader<'a>(
        &'a self,
        guard: sync::RwLockReadGuard<'a, T>,
        at: &'static Location<'static>,
    ) -> RwLockReadGuard<'a, T> {
        let _hold = Hold::begin(address(self), at);
        RwLockReadGuard { guard, _hold }
    }

    fn writer<'a>(
        &'a self,
        guard: sync::RwLockWriteGuard<'a, T>,
        at: &'static Location<'static>,
    ) -> RwLockWriteGuard<'a, T> {
        let _hold = Hold::begin(address(self), at);
        RwLockWriteGuard { guard, _hold }
    }

    /// Returns the value, without locking: the caller has the only reference.
    ///
    /// ```
    /// let mut lock = tidegate::sync::RwLock::new(1);
    /// *lock.get_mut().unwrap() += 1;
    /// assert_eq!(lock.into_inner().unwrap(), 2);
    /// ```
    ///
    /// # Errors
    /// If a writer has panicked while it held the lock; the error contains the reference.
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        self.0.get_mut()
    }

    /// Whether a writer has panicked while it held the lock.
    ///
    /// ```
    /// assert!(!tidegate::sync::RwLock::new(()).is_poisoned());
    /// ```
    #[must_use]
    pub fn is_poisoned(&self) -> bool {
        self.0.is_poisoned()
    }

    /// Forgets that a writer has panicked while it held the lock.
    ///
    /// ```
    /// use tidegate::sync::RwLock;
    ///
    /// let lock = RwLock::new(1);
    /// let fail = std::panic::AssertUnwindSafe(|| {
    ///     let _held = lock.write();
    ///     panic!("oh no");
    /// });
    /// assert!(std::panic::catch_unwind(fail).is_err() && lock.is_poisoned());
    /// lock.clear_poison();
    /// assert!(lock.write().is_ok());
    /// ```
    pub fn clear_poison(&self) {
        self.0.clear_poison();
    }
}

guard!(RwLockReadGuard);
guard!(RwLockWriteGuard);

impl<T: ?Sized> DerefMut for RwLockWriteGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.guard
    }
}

impl<T> From<T> for RwLock<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
