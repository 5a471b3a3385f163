//! The interface between a pool and its share controller. Workers wake the controller when the pool
//! becomes active, and the controller limits the pool's number of slots.

use crate::cells::Hint;
use crate::options::Options;
use crate::trace::Notes;
use tidegate_share::Waker;
use tidegate_sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use tidegate_sync::lock::Mutex;
use tidegate_sync::park::Parker;

/// The part of the share controller that other threads access.
pub(crate) struct ControllerHandle {
    /// Whether the share controller is parked until the pool becomes active. Written under the
    /// ledger's lock.
    pub(crate) asleep: AtomicBool,
    /// Whether the pool has been active since the share controller last checked. Written under the
    /// ledger's lock.
    pub(crate) active: AtomicBool,
    pub(crate) parker: Parker,
    /// Interrupts the share controller's wait for a change in the table.
    pub(crate) waker: Mutex<Option<Waker>>,
    /// How many slots other jobs leave to the pool. Written under the ledger's lock.
    pub(crate) cap: AtomicUsize,
    /// How many slots the pool is lent beyond `cap`. Written under the ledger's lock.
    pub(crate) lent: AtomicUsize,
    /// How many slots the pool desired in its last report to the other jobs.
    pub(crate) desire: Hint<usize>,
    /// Records the share controller's decisions.
    pub(crate) notes: Notes,
}

impl ControllerHandle {
    pub(crate) fn new(options: &Options) -> Self {
        Self {
            asleep: AtomicBool::new(false),
            active: AtomicBool::new(false),
            parker: Parker::new(),
            waker: Mutex::default(),
            cap: AtomicUsize::new(usize::MAX),
            lent: AtomicUsize::new(0),
            desire: Hint::default(),
            notes: Notes::new(options),
        }
    }

    /// Marks the pool as active, because a worker holds a slot, and wakes the share controller if
    /// it sleeps. Called under the ledger's lock.
    pub(crate) fn pool_acts(&self) {
        // Relaxed, here and below: ordered by the ledger's lock.
        if !self.active.load(Ordering::Relaxed) {
            self.active.store(true, Ordering::Relaxed);
        }
        if self.asleep.load(Ordering::Relaxed) {
            self.asleep.store(false, Ordering::Relaxed);
            self.parker.unpark();
        }
    }

    /// Returns how many slots the pool gets if it wants `wanted` slots and may have at most `most`.
    /// Called under the ledger's lock.
    pub(crate) fn slots(&self, wanted: usize, most: usize) -> usize {
        // Relaxed, both: ordered by the ledger's lock.
        let fair = wanted.min(self.cap.load(Ordering::Relaxed));
        most.min(fair + self.lent.load(Ordering::Relaxed))
    }

    /// Wakes the share controller because the pool ends.
    pub(crate) fn pool_ends(&self) {
        self.parker.unpark();
        if let Some(waker) = &*self.waker.lock() {
            waker.wake();
        }
    }
}
