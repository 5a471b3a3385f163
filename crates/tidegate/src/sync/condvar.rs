//! A condition variable.

use super::{MutexGuard, is_simulated, taken};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{self, Arc, LockResult, PoisonError};
use std::time::Duration;
use tidegate_core::door::nanos;
use tidegate_sync::clock;
use tidegate_sync::simulation::{access, block, serial_here};

/// A condition variable, like [`std::sync::Condvar`].
///
/// ```
/// use tidegate::sync::{Condvar, Mutex};
///
/// let (ready, changed) = (Mutex::new(false), Condvar::new());
/// tidegate::join(
///     || tidegate::blocking(|| drop(changed.wait_while(ready.lock().unwrap(), |ready| !*ready))),
///     || {
///         *ready.lock().unwrap() = true;
///         changed.notify_one();
///     },
/// );
/// assert!(ready.into_inner().unwrap());
/// ```
#[derive(Default)]
pub struct Condvar {
    inner: sync::Condvar,
    /// The threads of simulations that wait, in the order in which they began.
    waiting: sync::Mutex<Vec<Waiter>>,
    /// The number of these threads.
    waiting_count: AtomicUsize,
}

struct Waiter {
    /// The number of the thread's simulation.
    simulation: Option<u64>,
    is_notified: Arc<AtomicBool>,
}

/// Whether [`Condvar::wait_timeout`] has returned because its limit has passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// Whether the limit has passed.
    ///
    /// ```
    /// use tidegate::sync::{Condvar, Mutex};
    /// use std::time::Duration;
    ///
    /// let lock = Mutex::new(());
    /// let guard = lock.lock().unwrap();
    /// let (_guard, result) = Condvar::new().wait_timeout(guard, Duration::ZERO).unwrap();
    /// assert!(result.timed_out());
    /// ```
    #[must_use]
    pub fn timed_out(self) -> bool {
        self.0
    }
}

impl Condvar {
    /// Creates a condition variable.
    ///
    /// ```
    /// static CHANGED: tidegate::sync::Condvar = tidegate::sync::Condvar::new();
    /// CHANGED.notify_all();
    /// ```
    #[must_use]
    pub const fn new() -> Self {
        Self {
            inner: sync::Condvar::new(),
            waiting: sync::Mutex::new(Vec::new()),
            waiting_count: AtomicUsize::new(0),
        }
    }

    /// Unlocks the mutex of `guard`, waits for a notification, and locks the mutex again. May also
    /// return without a notification.
    ///
    /// ```
    /// use tidegate::sync::{Condvar, Mutex};
    ///
    /// let (ready, changed) = (Mutex::new(false), Condvar::new());
    /// std::thread::scope(|threads| {
    ///     threads.spawn(|| {
    ///         *ready.lock().unwrap() = true;
    ///         changed.notify_one();
    ///     });
    ///     let mut guard = ready.lock().unwrap();
    ///     while !*guard {
    ///         guard = changed.wait(guard).unwrap();
    ///     }
    /// });
    /// ```
    ///
    /// # Errors
    /// If a thread has panicked while it held the mutex; the error contains the guard.
    #[track_caller]
    pub fn wait<'a, T: Send>(&self, guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        if is_simulated() {
            return taken(self.wait_simulated(guard, None), |(guard, _)| guard);
        }
        let MutexGuard { lock, guard, hold } = guard;
        taken(self.inner.wait(guard), |guard| MutexGuard {
            lock,
            guard,
            hold,
        })
    }

    /// Like [`wait`](Self::wait), until `condition` returns false.
    ///
    /// ```
    /// use tidegate::sync::{Condvar, Mutex};
    ///
    /// let (ready, changed) = (Mutex::new(true), Condvar::new());
    /// let guard = changed.wait_while(ready.lock().unwrap(), |ready| !*ready).unwrap();
    /// assert!(*guard);
    /// ```
    ///
    /// # Errors
    /// Like [`wait`](Self::wait).
    #[track_caller]
    pub fn wait_while<'a, T: Send>(
        &self,
        mut guard: MutexGuard<'a, T>,
        mut condition: impl FnMut(&mut T) -> bool,
    ) -> LockResult<MutexGuard<'a, T>> {
        while condition(&mut guard) {
            guard = self.wait(guard)?;
        }
        Ok(guard)
    }

    /// Like [`wait`](Self::wait), for at most `limit`. In a simulated pool, the limit refers to the
    /// simulation's time.
    ///
    /// ```
    /// use tidegate::sync::{Condvar, Mutex};
    /// use std::time::Duration;
    ///
    /// let lock = Mutex::new(());
    /// let guard = lock.lock().unwrap();
    /// let (_guard, result) = Condvar::new().wait_timeout(guard, Duration::ZERO).unwrap();
    /// assert!(result.timed_out());
    /// ```
    ///
    /// # Errors
    /// Like [`wait`](Self::wait).
    #[track_caller]
    pub fn wait_timeout<'a, T: Send>(
        &self,
        guard: MutexGuard<'a, T>,
        limit: Duration,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        if is_simulated() {
            return self.wait_simulated(guard, Some(limit));
        }
        let MutexGuard { lock, guard, hold } = guard;
        taken(self.inner.wait_timeout(guard, limit), |(guard, result)| {
            let guard = MutexGuard { lock, guard, hold };
            (guard, WaitTimeoutResult(result.timed_out()))
        })
    }

    /// Like [`wait_while`](Self::wait_while), for at most `limit`. The result has timed out only if
    /// `condition` still returned true at the end.
    ///
    /// ```
    /// use tidegate::sync::{Condvar, Mutex};
    /// use std::time::Duration;
    ///
    /// let (ready, limit) = (Mutex::new(false), Duration::from_millis(1));
    /// let guard = ready.lock().unwrap();
    /// let waited = Condvar::new().wait_timeout_while(guard, limit, |ready| !*ready);
    /// assert!(waited.unwrap().1.timed_out());
    /// ```
    ///
    /// # Errors
    /// Like [`wait`](Self::wait).
    #[track_caller]
    pub fn wait_timeout_while<'a, T: Send>(
        &self,
        mut guard: MutexGuard<'a, T>,
        limit: Duration,
        mut condition: impl FnMut(&mut T) -> bool,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        let until = clock::now().saturating_add(nanos(limit));
        while condition(&mut guard) {
            let left = until.saturating_sub(clock::now());
            if left == 0 {
                return Ok((guard, WaitTimeoutResult(true)));
            }
            guard = self.wait_timeout(guard, Duration::from_nanos(left))?.0;
        }
        Ok((guard, WaitTimeoutResult(false)))
    }

    /// Wakes one of the threads that wait.
    ///
    /// ```
    /// tidegate::sync::Condvar::new().notify_one();
    /// ```
    #[track_caller]
    pub fn notify_one(&self) {
        access("will notify a condition variable");
        self.wake(1);
        self.inner.notify_one();
    }

    /// Wakes all threads that wait.
    ///
    /// ```
    /// tidegate::sync::Condvar::new().notify_all();
    /// ```
    #[track_caller]
    pub fn notify_all(&self) {
        access("will notify a condition variable");
        self.wake(usize::MAX);
        self.inner.notify_all();
    }

    #[track_caller]
    fn wait_simulated<'a, T: Send>(
        &self,
        guard: MutexGuard<'a, T>,
        limit: Option<Duration>,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        // The caller has checked something under the lock, and a notification without the lock may
        // come before the wait begins.
        access("begins to wait for a condition variable");
        let notified = Arc::new(AtomicBool::new(false));
        self.edit(|waiting| {
            waiting.push(Waiter {
                simulation: serial_here(),
                is_notified: notified.clone(),
            });
        });
        let MutexGuard { lock, guard, hold } = guard;
        drop(guard);
        hold.end();
        // Acquire pairs with the Release in `wake`, for a waker outside the simulation.
        let is_notified = || notified.load(Ordering::Acquire);
        let woken = block("waits for a condition variable", limit, &is_notified);
        self.edit(|waiting| waiting.retain(|other| !Arc::ptr_eq(&other.is_notified, &notified)));
        let result = WaitTimeoutResult(woken == Some(false));
        taken(lock.lock(), |guard| (guard, result))
    }

    /// Notifies the first `most` threads that wait in the caller's simulation; in any simulation if
    /// the caller belongs to none.
    fn wake(&self, most: usize) {
        // SeqCst, with the store in `edit`: a waiter adds itself while it holds the mutex that the
        // caller has held since.
        if self.waiting_count.load(Ordering::SeqCst) == 0 {
            return;
        }
        let here = serial_here();
        self.edit(|waiting| {
            let mut left = most;
            waiting.retain(|waiter| {
                let is_meant = left > 0 && (here.is_none() || waiter.simulation == here);
                if is_meant {
                    left -= 1;
                    // Release pairs with the Acquire in `wait_simulated`.
                    waiter.is_notified.store(true, Ordering::Release);
                }
                !is_meant
            });
        });
    }

    /// Changes the list of the threads of simulations that wait.
    fn edit(&self, change: impl FnOnce(&mut Vec<Waiter>)) {
        let waiting = self.waiting.lock();
        let mut waiting = waiting.unwrap_or_else(PoisonError::into_inner);
        change(&mut waiting);
        // SeqCst: see `wake`.
        self.waiting_count.store(waiting.len(), Ordering::SeqCst);
    }
}

impl fmt::Debug for Condvar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}
