//! Latches for waiters outside the runner's pool, and for threads that wait for a task through its
//! handle.

use super::WorkerThread;
use crate::pool::PoolInner;
use crate::simulated;
use crate::sleep::wake;
use std::cell::{Cell, OnceCell};
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Duration;
use tidegate_policy::search::SharedProcessor;
use tidegate_policy::tunables::WAIT_SEARCH;
use tidegate_sync::atomic::{AtomicU64, Ordering};
use tidegate_sync::park::Parker;
use tidegate_sync::{clock, thread, worker_local};

/// The thread that waits for an [`Event`].
pub(super) enum Waiter {
    /// A thread outside all pools.
    Thread(Arc<Parker>),
    /// A worker of the runner's pool or of another pool.
    Worker(Arc<PoolInner>, usize),
    /// A worker of any pool that has given up its slot, as in `blocking`.
    Blocked(Arc<PoolInner>, usize),
}

worker_local!(
    /// The parker of a thread outside all pools, created when the thread first waits for an event.
    static PARKER: OnceCell<Arc<Parker>> = OnceCell::new()
);

worker_local!(
    /// Whether yields have lately made the calling thread see an event late.
    static SHARED: Cell<SharedProcessor> = Cell::new(SharedProcessor::UNKNOWN)
);

/// Returns the calling thread's parker, or a new one if the thread's local values are being
/// destroyed.
fn parker() -> Arc<Parker> {
    let own = PARKER.try_with(|cell| cell.get_or_init(Arc::default).clone());
    own.unwrap_or_default()
}

/// A latch for a waiter outside the runner's pool, or for one that holds a handle.
pub struct Event {
    /// When the event was opened, or 1 if the waiter is a worker. 0 while the event is closed.
    opened_at: AtomicU64,
    pub(super) waiter: Arc<Waiter>,
}

impl Event {
    /// Creates an event for which the calling thread will wait.
    pub fn for_this_thread() -> Self {
        Self::of_caller(Waiter::Worker)
    }

    /// Creates an event for which the calling thread will wait as in `blocking`.
    pub fn for_blocked_thread() -> Self {
        Self::of_caller(Waiter::Blocked)
    }

    /// Creates an event for the calling thread, which waits as `worker` says if it is a worker.
    fn of_caller(worker: impl FnOnce(Arc<PoolInner>, usize) -> Waiter) -> Self {
        let waiter = match WorkerThread::get() {
            Some(current) => worker(current.pool().as_arc(), current.index),
            None => Waiter::Thread(parker()),
        };
        Self {
            opened_at: AtomicU64::new(0),
            waiter: Arc::new(waiter),
        }
    }

    /// Parks the thread that the event was made for, if it waits as in `blocking` or outside pools.
    pub(super) fn park_timeout(&self, limit: Duration) {
        match &*self.waiter {
            Waiter::Thread(parker) => parker.park_timeout(limit),
            Waiter::Blocked(pool, t) => pool.worker(*t).sleeper.parker.park_timeout(limit),
            Waiter::Worker(..) => unreachable!("such a worker sleeps in the ledger"),
        };
    }

    /// Whether the event has happened.
    pub fn is_open(&self) -> bool {
        // Acquire pairs with the Release in `open_by`.
        self.opened_at.load(Ordering::Acquire) != 0
    }

    /// Yields the processor until the event is open or the wait `is_vain`, but only for a short
    /// time. Does nothing for a while after other threads have made the waiter see an event late.
    pub fn be_patient(&self, mut is_vain: impl FnMut() -> bool) {
        let _ = SHARED.try_with(|own| {
            let mut shared = own.get();
            if !self.is_open() && !shared.holds_at(clock::now()) {
                be_patient(|| self.is_open() || is_vain());
                if self.is_open() {
                    // Relaxed: `is_open` has read the same value.
                    shared.yielded(self.opened_at.load(Ordering::Relaxed), clock::now());
                    own.set(shared);
                }
            }
        });
    }

    /// Opens an event that the caller keeps alive.
    pub fn open_kept(self: &Arc<Self>) {
        // SAFETY: 1. the caller's reference keeps the event alive.
        unsafe { Self::open(NonNull::from(&**self)) };
    }

    /// Like `open_kept`, but the caller keeps its slot: the waiter gets a free slot or is owed one.
    pub fn open_owed(self: &Arc<Self>) {
        // SAFETY: 1. as in `open_kept`.
        unsafe { Self::open_by(NonNull::from(&**self), None) };
    }

    /// Opens the event and wakes the waiter. If the caller is a worker, its slot may go to a waiter
    /// of its pool.
    ///
    /// # Safety
    /// 1. `this` is live until it is opened.
    pub(crate) unsafe fn open(this: NonNull<Self>) {
        // SAFETY: 1. guaranteed by the caller (1).
        unsafe { Self::open_by(this, WorkerThread::get()) };
    }

    /// Like `open`, but the waiter may get the slot of `giver`.
    ///
    /// # Safety
    /// 1. `this` is live until it is opened.
    unsafe fn open_by(this: NonNull<Self>, giver: Option<WorkerThread<'_>>) {
        // The clone keeps the waiter alive beyond the store, which is the last access to the frame
        // that contains the event.
        // SAFETY: `this` is live (1).
        let waiter = unsafe { this.as_ref() }.waiter.clone();
        // No reference to the whole event lasts beyond the store.
        // SAFETY: `this` is live (1).
        let opened_at = unsafe { &this.as_ref().opened_at };
        let now = matches!(*waiter, Waiter::Thread(_)).then(clock::now);
        // Release pairs with the Acquire in `is_open`.
        opened_at.store(now.unwrap_or(1).max(1), Ordering::Release);
        match &*waiter {
            Waiter::Thread(parker) => {
                parker.unpark();
            }
            Waiter::Blocked(pool, worker) => {
                pool.worker(*worker).sleeper.parker.unpark();
            }
            Waiter::Worker(pool, worker) => {
                let opener = giver.filter(|giver| std::ptr::eq(giver.pool(), &**pool));
                wake::latch_opened(pool, *worker, opener);
            }
        }
    }
}

/// Yields the processor until `is_over`, for a short time at most, and never in a simulation.
pub fn be_patient(mut is_over: impl FnMut() -> bool) {
    let mut since = None;
    let mut lasts = |now: u64| now.saturating_sub(*since.get_or_insert(now));
    while !is_over() && !simulated::is_simulated() && lasts(clock::now()) < WAIT_SEARCH.default {
        thread::yield_now();
    }
}

#[cfg(all(test, not(any(loom, miri))))]
mod tests {
    use super::*;

    #[test]
    fn caller_that_woke_late_stops_yielding() {
        let yields = || {
            let mut yields = false;
            Event::for_this_thread().be_patient(|| std::mem::replace(&mut yields, true));
            yields
        };
        assert!(yields());
        let stops = || {
            let event = Arc::new(Event::for_this_thread());
            event.be_patient(|| {
                event.open_kept();
                std::thread::sleep(Duration::from_millis(1));
                false
            });
            !yields()
        };
        // On a busy machine, so much time may pass in between that the thread yields again.
        assert!((0..100).any(|_| stops()));
    }
}
