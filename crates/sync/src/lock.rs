//! A mutex without poisoning that is safe to lock in a child made by `fork`.
//!
//! The runtime never runs user code while it holds a lock. So a panic under a lock is a bug in the
//! runtime, which then aborts anyway.
//!
//! **Fork.** A child has a copy of each lock, but its only thread is the one that called `fork`. A
//! lock that another thread held at that moment is *lost*: no thread of the child will ever release
//! it. [`Mutex::lock`] on a lost lock prints a message and aborts the child instead of waiting.
//! Locks that were free work in the child as in the parent.
//!
//! To detect a lost lock, each lock stores the number of the process that uses it. At first, that
//! is the process that created it. The first thread of a child that uses the lock finds an
//! ancestor's number there. That thread then tries to take the lock, while all other threads of the
//! child wait for the result. So if the lock is held at that moment, its holder is a thread of an
//! ancestor. If the lock was not inherited, the check costs one load and one comparison.

#[cfg(loom)]
use loom::sync as imp;
#[cfg(not(loom))]
use std::sync as imp;

use crate::spin_loop;
use crate::thread::{Process, abort_child};
pub use imp::MutexGuard;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{PoisonError, TryLockError};

/// A mutex; see the [module](self).
#[derive(Debug)]
pub struct Mutex<T> {
    /// The number of the process that uses the lock, shifted left by `STATE_BITS`. The low bits
    /// hold the lock's state in that process.
    used_by: AtomicU32,
    inner: imp::Mutex<T>,
}

/// The lock's state if threads of this process take and release it normally.
const SOUND: u32 = 0;
/// The lock's state while a thread of this process finds out whether it is sound or lost.
const TRIED: u32 = 1;
/// The lock's state if a thread of an ancestor holds it and will never release it.
const LOST: u32 = 2;
const STATE_BITS: u32 = 2;

/// Returns the value of `used_by` for a lock that this process uses and that is in `state`.
#[inline]
fn used_here(state: u32) -> u32 {
    Process::this().number() << STATE_BITS | state
}

impl<T> Mutex<T> {
    /// Creates a lock around `value`.
    pub fn new(value: T) -> Self {
        Self {
            used_by: AtomicU32::new(used_here(SOUND)),
            inner: imp::Mutex::new(value),
        }
    }

    /// Waits for the lock and takes it. Aborts the process if the lock is lost.
    // More than a hundred places take locks, and each would have a copy of this.
    #[inline(never)]
    pub fn lock(&self) -> MutexGuard<'_, T> {
        if self.is_lost() {
            abort_child(format_args!(
                "a child made by fork() needs a lock that a thread of its parent held"
            ));
        }
        let guard = self.inner.lock();
        guard.unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the lock if no thread holds it.
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        if self.is_lost() {
            return None;
        }
        match self.inner.try_lock() {
            Ok(guard) => Some(guard),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Consumes the lock and returns the value.
    pub fn into_inner(self) -> T {
        let value = self.inner.into_inner();
        value.unwrap_or_else(PoisonError::into_inner)
    }

    #[inline]
    fn is_lost(&self) -> bool {
        // Relaxed: the lock itself orders accesses to its value, and no thread enters a lost lock.
        self.used_by.load(Ordering::Relaxed) != used_here(SOUND)
            && inherit(&self.used_by, &self.inner)
    }
}

/// Any value. It lets [`inherit`] be compiled once for all locks.
trait Anything {}

impl<T> Anything for T {}

/// Takes over a lock that was last used by an ancestor of this process. Returns whether the lock is
/// lost.
#[cold]
fn inherit(used_by: &AtomicU32, lock: &imp::Mutex<dyn Anything + '_>) -> bool {
    loop {
        // Relaxed: as in `is_lost`.
        let seen = used_by.load(Ordering::Relaxed);
        if seen == used_here(TRIED) {
            spin_loop();
            continue;
        }
        if seen == used_here(SOUND) || seen == used_here(LOST) {
            return seen == used_here(LOST);
        }
        // Relaxed: as in `is_lost`. Threads of this process enter the lock only after the store
        // below.
        let (tried, order) = (used_here(TRIED), Ordering::Relaxed);
        let exchanged = used_by.compare_exchange(seen, tried, order, order);
        if exchanged.is_ok() {
            let lost = matches!(lock.try_lock(), Err(TryLockError::WouldBlock));
            let state = if lost { LOST } else { SOUND };
            // Relaxed: as in `is_lost`.
            used_by.store(used_here(state), Ordering::Relaxed);
            return lost;
        }
    }
}

impl<T: Default> Default for Mutex<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn threads_share_a_sound_lock() {
        let sum = Mutex::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..100).for_each(|_| *sum.lock() += 1));
            }
        });
        assert_eq!(sum.into_inner(), 400);
    }

    #[test]
    fn trying_a_held_lock_returns_immediately() {
        let lock = Mutex::new(());
        let held = lock.try_lock();
        assert!(held.is_some() && lock.try_lock().is_none());
        drop(held);
        assert!(lock.try_lock().is_some());
    }
}
