//! Latches for waiters outside the runner's pool, and for threads that wait for a task through its
//! handle.

use super::WorkerThread;
use crate::pool::PoolInner;
use crate::simulated;
use crate::sleep::wake;
use std::cell::OnceCell;
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Duration;
use tidegate_policy::tunables::WAIT_SEARCH;
use tidegate_sync::atomic::{AtomicBool, Ordering};
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

/// Returns the calling thread's parker, or a new one if the thread's local values are being
/// destroyed.
fn parker() -> Arc<Parker> {
    let own = PARKER.try_with(|cell| cell.get_or_init(Arc::default).clone());
    own.unwrap_or_default()
}

/// A latch for a waiter outside the runner's pool, or for a thread that waits for a task through
/// its handle.
pub struct Event {
    open: AtomicBool,
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
            open: AtomicBool::new(false),
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
        self.open.load(Ordering::Acquire)
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
        let open = unsafe { &this.as_ref().open };
        // Release pairs with the Acquire in `is_open`.
        open.store(true, Ordering::Release);
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

/// Yields the processor until `is_over`, but only for a short time. In a simulation, does not
/// yield.
pub fn be_patient(mut is_over: impl FnMut() -> bool) {
    let mut since = None;
    while !is_over() {
        if simulated::is_simulated() {
            return;
        }
        let now = clock::now();
        if now.saturating_sub(*since.get_or_insert(now)) >= WAIT_SEARCH.default {
            return;
        }
        thread::yield_now();
    }
}
