//! The part of a worker's state that other threads use to wake it.

use super::wake_affinity::WakeAffinity;
use crate::cells::Hint;
use std::time::Duration;
use tidegate_policy::Nanos;
use tidegate_sync::atomic::{AtomicU64, Ordering};
use tidegate_sync::clock;
use tidegate_sync::park::Parker;

#[derive(Default)]
pub(crate) struct Sleeper {
    pub(crate) parker: Parker,
    pub(crate) wake_affinity: WakeAffinity,
    /// The number of times that this worker was woken.
    wakes: AtomicU64,
    /// When the worker was woken; 0 once the worker has noticed.
    woken_at: Hint<u64>,
    /// Whether the ledger has chosen this worker for work that became visible while it waited, and
    /// the worker has taken no task since. Set under the ledger's lock.
    called: Hint<bool>,
    /// Whether the worker was woken to run the tasks in the pool's queues, see `Wake::Rescue`. Set
    /// under the ledger's lock.
    rescue: Hint<bool>,
    /// Whether the worker could continue, but had to give its slot to another thread. Only the
    /// worker's own thread writes this.
    pub(crate) is_preempted: Hint<bool>,
    /// The time until which the worker may run without a slot and is not asked to stop. 0 if the
    /// worker has a slot, or has had one since it was last allowed to run without one.
    unasked_until: Hint<u64>,
}

impl Sleeper {
    pub(crate) fn wake(&self) {
        // Relaxed: a counter.
        self.wakes.fetch_add(1, Ordering::Relaxed);
        self.woken_at.set(clock::now());
        self.parker.unpark();
    }

    /// Parks the worker's thread until it is woken, but no longer than this.
    #[inline]
    pub(super) fn park_for(&self, limit: Nanos) {
        self.parker.park_timeout(Duration::from_nanos(limit));
    }

    pub(crate) fn wakes(&self) -> u64 {
        // Relaxed: a counter.
        self.wakes.load(Ordering::Relaxed)
    }

    /// When the thread was woken, if it was woken since the last call.
    pub(crate) fn take_woken_at(&self) -> Option<u64> {
        Some(self.woken_at.swap(0)).filter(|at| *at > 0)
    }

    /// Records that the ledger has chosen this waiter for work or, if `rescues` is set, for the
    /// tasks in the pool's queues.
    pub(crate) fn call(&self, rescues: bool) {
        self.called.set(true);
        if rescues {
            self.rescue.set(true);
        }
    }

    /// Clears the mark that `call` sets. Returns whether the mark was set.
    pub(crate) fn take_call(&self) -> bool {
        self.called.get() && self.called.swap(false)
    }

    pub(crate) fn is_rescue(&self) -> bool {
        self.rescue.get()
    }

    pub(crate) fn take_rescue(&self) -> bool {
        self.is_rescue() && self.rescue.swap(false)
    }

    /// Called when a thread that slept runs work that needs no slot. The thread takes no slot and
    /// is never asked to stop.
    pub(crate) fn set_needs_no_slot(&self) {
        self.set_unasked_until(Some(Nanos::MAX));
    }

    pub(crate) fn needs_no_slot(&self) -> bool {
        self.unasked_until() == Some(Nanos::MAX)
    }

    /// Returns the time until which this worker runs without a slot and is not asked to stop;
    /// `None` if it was not allowed to run without a slot, and `Nanos::MAX` while it needs none.
    pub(crate) fn unasked_until(&self) -> Option<Nanos> {
        Some(self.unasked_until.get()).filter(|until| *until > 0)
    }

    pub(crate) fn set_unasked_until(&self, until: Option<Nanos>) {
        self.unasked_until.set(until.unwrap_or(0));
    }
}
