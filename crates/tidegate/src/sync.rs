//! Locks and channels that a simulated pool can see.
//!
//! These are the ones of `std::sync`, with the methods that programs use most. In an ordinary pool
//! they behave like those. In a [simulated pool](crate::testing) (feature `testing`), a thread that
//! waits here lets the other threads run, so that the run finds a deadlock instead of hanging, and
//! each call is a place where the order of the threads may change.
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

mod condvar;
pub mod mpsc;
mod mutex;
mod rw_lock;

pub use condvar::{Condvar, WaitTimeoutResult};
pub use mutex::{Mutex, MutexGuard};
pub use rw_lock::{RwLock, RwLockReadGuard, RwLockWriteGuard};
pub use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};

use tidegate_sync::simulation::{access, block, is_simulated};

/// Takes a lock: by `lock`, or in a simulation by `try_lock` as soon as it does not fail because
/// another thread holds the lock.
#[track_caller]
fn acquire<G>(
    (takes, waits): (&'static str, &'static str),
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
                let _ = block(waits, None, &|| !would_block(&try_lock()));
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

/// Lets other threads of a simulation run when it is dropped, after a guard has released its lock.
struct AfterUnlock;

impl AfterUnlock {
    fn forget(self) {
        std::mem::forget(self);
    }
}

impl Drop for AfterUnlock {
    fn drop(&mut self) {
        access("has released a lock");
    }
}

fn would_block<G>(result: &TryLockResult<G>) -> bool {
    matches!(result, Err(TryLockError::WouldBlock))
}
