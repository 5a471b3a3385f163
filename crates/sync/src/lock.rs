//! A mutual exclusion lock without poisoning that is safe to take in a child made by `fork`.
//!
//! The runtime never runs user code under a lock, so a panic under one is a bug of the runtime, which aborts anyway.
//!
//! **Fork.** A child has a copy of each lock and only the thread that called `fork`. A lock that another thread held at that
//! moment is *lost*: nothing in the child will ever release it. [`Mutex::lock`] prints a line and aborts such a child instead
//! of waiting, and [`Mutex::lock_unless_lost`] returns nothing. All other locks work in the child as they did in the parent.
//!
//! How a lock knows: it names the process that uses it, at first the one that made it. The first thread of a child
//! that comes along finds an ancestor's name there. It tries the lock once while all others of the child wait for its
//! result, so that whoever holds the lock then is a thread of an ancestor. A lock that nobody inherits pays one load and a
//! comparison.

#[cfg(loom)]
use loom::sync as imp;
#[cfg(not(loom))]
use std::sync as imp;

use crate::spin_loop;
use crate::thread::{Process, abort_child};
pub use imp::MutexGuard;
use std::sync::TryLockError;
use std::sync::atomic::{AtomicU32, Ordering};

/// A lock; see the module.
#[derive(Debug)]
pub struct Mutex<T> {
    /// The number of the process that uses the lock, and below it one of the states.
    used_by: AtomicU32,
    inner: imp::Mutex<T>,
}

/// Threads of the process take and release the lock.
const SOUND: u32 = 0;
/// A thread of the process is finding out which of the other two it is.
const TRIED: u32 = 1;
/// A thread of an ancestor holds it for ever.
const LOST: u32 = 2;
/// How many bits a state has.
const STATE_BITS: u32 = 2;

/// The word of a lock in `state` that this process uses.
#[inline]
fn used_here(state: u32) -> u32 {
    Process::this().number() << STATE_BITS | state
}

impl<T> Mutex<T> {
    /// Wraps `value`.
    pub fn new(value: T) -> Self {
        Self {
            used_by: AtomicU32::new(used_here(SOUND)),
            inner: imp::Mutex::new(value),
        }
    }

    /// Waits for the lock. Aborts the process if the lock is lost.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.lock_unless_lost().unwrap_or_else(|| {
            abort_child(format_args!(
                "a child made by fork() needs a lock that a thread of its parent held"
            ))
        })
    }

    /// Waits for the lock, unless it is lost.
    pub fn lock_unless_lost(&self) -> Option<MutexGuard<'_, T>> {
        if self.is_lost() {
            return None;
        }
        let guard = self.inner.lock();
        Some(guard.unwrap_or_else(|poisoned| poisoned.into_inner()))
    }

    /// The lock, if no thread holds it.
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

    /// The value, once nothing shares the lock any more.
    pub fn into_inner(self) -> T {
        self.inner
            .into_inner()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    #[inline]
    fn is_lost(&self) -> bool {
        // Relaxed: the lock itself orders what it guards, and a lost one is never entered.
        self.used_by.load(Ordering::Relaxed) != used_here(SOUND) && self.inherit()
    }

    /// Takes the lock over from an ancestor of this process. Whether it is lost.
    #[cold]
    fn inherit(&self) -> bool {
        loop {
            // Relaxed: as in `is_lost`.
            let seen = self.used_by.load(Ordering::Relaxed);
            if seen == used_here(TRIED) {
                spin_loop();
                continue;
            }
            if seen == used_here(SOUND) || seen == used_here(LOST) {
                return seen == used_here(LOST);
            }
            // Relaxed: as in `is_lost`. Threads of this process enter the lock only after the store below.
            let (tried, order) = (used_here(TRIED), Ordering::Relaxed);
            let exchanged = self
                .used_by
                .compare_exchange(seen, tried, order, order)
                .is_ok();
            if exchanged {
                let lost = matches!(self.inner.try_lock(), Err(TryLockError::WouldBlock));
                let state = if lost { LOST } else { SOUND };
                // Relaxed: as above.
                self.used_by.store(used_here(state), Ordering::Relaxed);
                return lost;
            }
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
    fn a_sound_lock_is_shared_by_the_threads_of_its_process() {
        let sum = Mutex::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..100).for_each(|_| *sum.lock() += 1));
            }
        });
        assert_eq!(sum.into_inner(), 400);
    }

    #[test]
    fn trying_a_held_lock_does_not_wait() {
        let lock = Mutex::new(());
        let held = lock.try_lock();
        assert!(held.is_some() && lock.try_lock().is_none());
        drop(held);
        assert!(lock.try_lock().is_some());
    }
}
