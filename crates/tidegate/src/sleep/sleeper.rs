//! What a worker shows to the threads that wake it.

use super::wake_affinity::WakeAffinity;
use crate::cells::Hint;
use tidegate_policy::Nanos;
use tidegate_sync::atomic::{AtomicU64, Ordering};
use tidegate_sync::clock;
use tidegate_sync::park::Parker;

#[derive(Default)]
pub(crate) struct Sleeper {
    pub(crate) parker: Parker,
    pub(crate) wake_affinity: WakeAffinity,
    /// How often this worker was woken.
    wakes: AtomicU64,
    /// When it was woken; 0 once it has noticed.
    woken_at: Hint<u64>,
    /// Chosen for work that became visible while it waited, and has not taken any since. Set under the ledger's lock.
    called: Hint<bool>,
    /// Woken to run what lies in the pool's queues, see `Wake::Rescue`. Set under the ledger's lock.
    rescue: Hint<bool>,
    /// It could go on, but had to leave its slot to others. Only the owner writes it.
    pub(crate) is_preempted: Hint<bool>,
    /// Until when it may run without a slot unasked; 0 if it has one, or had one since it was let run without.
    unasked_until: Hint<u64>,
}

impl Sleeper {
    /// Wakes the thread.
    pub(crate) fn wake(&self) {
        // Relaxed: a counter.
        self.wakes.fetch_add(1, Ordering::Relaxed);
        self.woken_at.set(clock::now());
        self.parker.unpark();
    }

    pub(crate) fn wakes(&self) -> u64 {
        // Relaxed: a counter.
        self.wakes.load(Ordering::Relaxed)
    }

    /// When the thread was woken, if it was since the last call.
    pub(crate) fn take_woken_at(&self) -> Option<u64> {
        Some(self.woken_at.swap(0)).filter(|at| *at > 0)
    }

    /// The ledger has chosen this waiter for work; if it `rescues`, for what lies in the pool's queues.
    pub(crate) fn call(&self, rescues: bool) {
        self.called.set(true);
        if rescues {
            self.rescue.set(true);
        }
    }

    /// Takes the mark of a call off. Whether it was there.
    pub(crate) fn take_call(&self) -> bool {
        self.called.get() && self.called.swap(false)
    }

    pub(crate) fn is_rescue(&self) -> bool {
        self.rescue.get()
    }

    pub(crate) fn take_rescue(&self) -> bool {
        self.is_rescue() && self.rescue.swap(false)
    }

    /// A thread that slept runs what needs no slot: it is never asked to stop, and takes none.
    pub(crate) fn set_needs_no_slot(&self) {
        self.set_unasked_until(Some(Nanos::MAX));
    }

    pub(crate) fn needs_no_slot(&self) -> bool {
        self.unasked_until() == Some(Nanos::MAX)
    }

    /// Until when this worker runs without a slot unasked, if it was let run without one; for ever, while it needs none.
    pub(crate) fn unasked_until(&self) -> Option<Nanos> {
        Some(self.unasked_until.get()).filter(|until| *until > 0)
    }

    pub(crate) fn set_unasked_until(&self, until: Option<Nanos>) {
        self.unasked_until.set(until.unwrap_or(0));
    }
}
