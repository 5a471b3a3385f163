//! Locks and channels that a simulated pool can see.
//!
//! These types have the names and the most used methods of those in `std::sync`. In an ordinary
//! pool they behave like those: the locks and condition variables wrap them, and the channels and
//! barriers are built on locks and condition variables. In a simulated pool (module and feature
//! `testing`), a thread that waits here lets the other threads run, so that the run finds a deadlock
//! instead of hanging, and the order of the threads may change at each call that locks, unlocks,
//! waits, notifies, sends or receives.
//!
//! Methods that lock, wait, send or receive require a value that is [`Send`], and those of
//! [`RwLock`] require it to be [`Sync`] as well. `std` requires neither, but a simulated pool asks
//! on other threads whether a lock is free.
//!
//! ```
//! use tidegate::sync::Mutex;
//!
//! let sum = Mutex::new(0);
//! tidegate::for_each(1..=4, |n| *sum.lock().unwrap() += n);
//! assert_eq!(sum.into_inner().unwrap(), 10);
//! ```
//!
//! A waiting thread keeps its slot, as it would in `std::sync`. Wrap a long wait in
//! [`blocking`](crate::blocking()).

#![allow(
    clippy::disallowed_types,
    reason = "user code locks these; loom never runs it"
)]

mod barrier;
mod condvar;
pub mod mpsc;
mod mutex;
mod rw_lock;

pub use barrier::{Barrier, BarrierWaitResult};
pub use condvar::{Condvar, WaitTimeoutResult};
pub use mutex::{Mutex, MutexGuard};
pub use rw_lock::{RwLock, RwLockReadGuard, RwLockWriteGuard};
pub use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};

use std::panic::Location;
use tidegate_sync::simulation::{access, block_on_lock, is_simulated, release_lock, take_lock};

/// Lets a guard be read and shown like the value that it guards.
macro_rules! guard {
    ($guard:ident) => {
        impl<T: ?Sized> Deref for $guard<'_, T> {
            type Target = T;

            fn deref(&self) -> &T {
                &self.guard
            }
        }

        impl<T: ?Sized + fmt::Display> fmt::Display for $guard<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }

        impl<T: ?Sized + fmt::Debug> fmt::Debug for $guard<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }
    };
}
use guard;

/// Takes the lock at this address: by `lock`, or in a simulation by `try_lock` as soon as it does
/// not fail because another thread holds the lock.
#[track_caller]
fn acquire<G>(
    (takes, waits): (&'static str, &'static str),
    address: usize,
    lock: impl FnOnce() -> LockResult<G>,
    try_lock: impl Fn() -> TryLockResult<G> + Sync,
) -> LockResult<G> {
    if !is_simulated() {
        return lock();
    }
    access(takes);
    loop {
        match try_lock() {
            Ok(guard) => return Ok(guard),
            Err(TryLockError::Poisoned(poisoned)) => return Err(poisoned),
            Err(TryLockError::WouldBlock) => {
                let _ = block_on_lock(waits, address, &|| !would_block(&try_lock()));
            }
        }
    }
}

/// Wraps the guard in the result of a lock.
fn taken<G, W>(result: LockResult<G>, wrap: impl FnOnce(G) -> W) -> LockResult<W> {
    match result {
        Ok(guard) => Ok(wrap(guard)),
        Err(poisoned) => Err(PoisonError::new(wrap(poisoned.into_inner()))),
    }
}

/// Wraps the guard in the result of an attempt to lock.
fn tried<G, W>(result: TryLockResult<G>, wrap: impl FnOnce(G) -> W) -> TryLockResult<W> {
    match result {
        Ok(guard) => Ok(wrap(guard)),
        Err(TryLockError::WouldBlock) => Err(TryLockError::WouldBlock),
        Err(TryLockError::Poisoned(poisoned)) => {
            let guard = wrap(poisoned.into_inner());
            Err(TryLockError::Poisoned(PoisonError::new(guard)))
        }
    }
}

/// Records for a simulation that the calling thread holds a lock. Dropping this lets other threads
/// run, so it must be dropped after the guard that releases the lock.
struct Hold {
    /// The address of the lock.
    address: usize,
}

impl Hold {
    /// The caller has just taken the lock, for user code at `at`.
    fn begin(address: usize, at: &'static Location<'static>) -> Self {
        take_lock(address, at);
        Self { address }
    }

    /// Like a drop, but lets no other thread run.
    fn end(self) {
        release_lock(self.address);
        std::mem::forget(self);
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        release_lock(self.address);
        access("has released a lock");
    }
}

fn address<L: ?Sized>(lock: &L) -> usize {
    std::ptr::from_ref(lock).addr()
}

fn would_block<G>(result: &TryLockResult<G>) -> bool {
    matches!(result, Err(TryLockError::WouldBlock))
}
