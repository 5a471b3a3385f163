//! Parks and wakes one specific thread.
//!
//! A [`Parker`] holds one bit: [`Parker::unpark`] sets it, [`Parker::park`] waits for it and clears
//! it. Every worker has its own parker, so that a specific worker can be woken. `std::thread::park`
//! is not used, because user code may use its token inside a task.
//!
//! Happens before: everything before `unpark` is visible after the `park` that takes its bit.

use crate::atomic::{AtomicU32, Ordering};
use crate::simulation;
use std::time::Duration;

const EMPTY: u32 = 0;
const NOTIFIED: u32 = 1;

/// A flag that one thread waits for and other threads set to wake it.
#[derive(Debug)]
pub struct Parker {
    word: AtomicU32,
    #[cfg(not(all(target_os = "linux", not(any(loom, miri)))))]
    fallback: fallback::Fallback,
}

impl Default for Parker {
    fn default() -> Self {
        Self::new()
    }
}

impl Parker {
    /// Creates a parker whose bit is not set.
    #[must_use]
    pub fn new() -> Self {
        Self {
            word: AtomicU32::new(EMPTY),
            #[cfg(not(all(target_os = "linux", not(any(loom, miri)))))]
            fallback: fallback::Fallback::default(),
        }
    }

    /// Clears the bit if it is set. Returns whether it was.
    pub fn try_take(&self) -> bool {
        // Acquire pairs with the Release swap in `unpark`. Relaxed on failure: nothing was taken.
        self.word
            .compare_exchange(NOTIFIED, EMPTY, Ordering::Acquire, Ordering::Relaxed)
            .is_ok()
    }

    /// Sleeps until the bit is set, then clears it.
    pub fn park(&self) {
        while !self.try_take() {
            self.sleep(None);
        }
    }

    /// Sleeps until the bit is set or `limit` has passed. Returns whether the bit was set and is
    /// now cleared.
    pub fn park_timeout(&self, limit: Duration) -> bool {
        if self.try_take() {
            return true;
        }
        self.sleep(Some(limit));
        self.try_take()
    }

    /// Sets the bit and wakes the thread that waits for it. Returns `false` if the bit was already
    /// set.
    pub fn unpark(&self) -> bool {
        // Release pairs with the Acquire in `try_take`.
        let fresh = self.word.swap(NOTIFIED, Ordering::Release) == EMPTY;
        if fresh {
            self.wake();
        }
        fresh
    }

    fn sleep(&self, limit: Option<Duration>) {
        // Relaxed: in a simulation, the turn orders this load after the store in `unpark`.
        let is_set = || self.word.load(Ordering::Relaxed) != EMPTY;
        if simulation::block_for("parks", limit, &is_set).is_none() {
            self.sleep_really(limit);
        }
    }

    #[cfg(all(target_os = "linux", not(any(loom, miri))))]
    fn sleep_really(&self, limit: Option<Duration>) {
        crate::futex::linux::wait(&self.word, EMPTY, limit);
    }

    #[cfg(all(target_os = "linux", not(any(loom, miri))))]
    fn wake(&self) {
        crate::futex::linux::wake(&self.word);
    }

    #[cfg(not(all(target_os = "linux", not(any(loom, miri)))))]
    fn sleep_really(&self, limit: Option<Duration>) {
        // Relaxed: the lock orders this load with respect to `wake`, and `try_take` then does an
        // Acquire.
        self.fallback
            .sleep(limit, || self.word.load(Ordering::Relaxed) == EMPTY);
    }

    #[cfg(not(all(target_os = "linux", not(any(loom, miri)))))]
    fn wake(&self) {
        self.fallback.wake();
    }
}

#[cfg(not(all(target_os = "linux", not(any(loom, miri)))))]
mod fallback {
    use crate::lock::Mutex;
    use std::time::Duration;

    #[cfg(loom)]
    use loom::sync::Condvar;
    #[cfg(not(loom))]
    use std::sync::Condvar;

    #[derive(Debug, Default)]
    pub(super) struct Fallback {
        lock: Mutex<()>,
        changed: Condvar,
    }

    impl Fallback {
        pub(super) fn sleep(&self, limit: Option<Duration>, still: impl Fn() -> bool) {
            let guard = self.lock.lock();
            if still() {
                match limit {
                    None => drop(self.changed.wait(guard)),
                    // Nobody could end the wait, and the standard library would panic.
                    Some(_) if crate::thread::are_unsupported() => {}
                    Some(limit) => drop(self.changed.wait_timeout(guard, limit)),
                }
            }
        }

        pub(super) fn wake(&self) {
            // Taking the lock makes the waker wait until the sleeper either sleeps or has seen the
            // bit.
            drop(self.lock.lock());
            self.changed.notify_one();
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::Parker;
    use std::time::Duration;

    #[test]
    fn early_unpark_ends_one_park() {
        let parker = Parker::new();
        assert!(parker.unpark());
        assert!(!parker.unpark(), "the second bit merges with the first");
        parker.park();
        assert!(!parker.park_timeout(Duration::from_millis(1)));
    }

    #[test]
    fn park_sees_writes_before_unpark() {
        let parker = std::sync::Arc::new(Parker::new());
        let data = std::sync::Arc::new(std::sync::atomic::AtomicU32::new(0));
        let (p, d) = (parker.clone(), data.clone());
        let waker = std::thread::spawn(move || {
            d.store(7, std::sync::atomic::Ordering::Relaxed);
            p.unpark();
        });
        parker.park();
        assert_eq!(data.load(std::sync::atomic::Ordering::Relaxed), 7);
        waker.join().unwrap();
    }
}

#[cfg(all(test, loom))]
mod models {
    use super::Parker;
    use crate::Arc;

    #[test]
    fn loom_parked_thread_is_always_woken() {
        loom::model(|| {
            let parker = Arc::new(Parker::new());
            let waker = {
                let parker = parker.clone();
                loom::thread::spawn(move || parker.unpark())
            };
            parker.park();
            waker.join().unwrap();
        });
    }
}
