//! The interface between a pool and its share controller. Workers wake the controller when the pool
//! becomes active, and the controller limits the pool's number of slots.

use crate::cells::Hint;
use crate::options::Options;
use crate::trace::Notes;
use tidegate_share::Waker;
use tidegate_sync::lock::Mutex;
use tidegate_sync::park::Parker;

/// The part of the share controller that other threads access.
pub(crate) struct ControllerHandle {
    pub(crate) parker: Parker,
    /// Interrupts the share controller's wait for a change in the table.
    pub(crate) waker: Mutex<Option<Waker>>,
    /// How many slots the pool desired in its last report to the other jobs.
    pub(crate) desire: Hint<usize>,
    /// Records the share controller's decisions.
    pub(crate) notes: Notes,
}

impl ControllerHandle {
    pub(crate) fn new(options: &Options) -> Self {
        Self {
            parker: Parker::new(),
            waker: Mutex::default(),
            desire: Hint::default(),
            notes: Notes::new(options),
        }
    }

    /// Wakes the share controller because the pool ends.
    pub(crate) fn pool_ends(&self) {
        self.parker.unpark();
        if let Some(waker) = &*self.waker.lock() {
            waker.wake();
        }
    }
}

/// What a pool and its share controller tell each other. The ledger's lock guards it.
pub(crate) struct Agreement {
    /// Whether the share controller is parked until the pool becomes active.
    is_parked: bool,
    /// Whether the pool has been active since the share controller last checked.
    has_acted: bool,
    /// How many slots other jobs leave to the pool.
    cap: usize,
    /// How many slots the pool is lent beyond `cap`.
    lent: usize,
}

impl Agreement {
    pub(crate) fn new() -> Self {
        Self {
            is_parked: false,
            has_acted: false,
            cap: usize::MAX,
            lent: 0,
        }
    }

    /// Called when a worker holds a slot. Returns whether the share controller must be unparked.
    pub(crate) fn pool_acts(&mut self) -> bool {
        self.has_acted = true;
        std::mem::take(&mut self.is_parked)
    }

    /// Whether the pool has been active since the last [`forget_acts`](Self::forget_acts).
    pub(crate) fn has_acted(&self) -> bool {
        self.has_acted
    }

    pub(crate) fn forget_acts(&mut self) {
        self.has_acted = false;
    }

    /// Called before the share controller parks until the pool becomes active.
    pub(crate) fn controller_parks(&mut self) {
        self.is_parked = true;
    }

    /// Sets the pool's share. Returns whether it has changed.
    pub(crate) fn set_share(&mut self, cap: usize, lent: usize) -> bool {
        let before = (self.cap, self.lent);
        (self.cap, self.lent) = (cap, lent);
        before != (cap, lent)
    }

    /// Returns how many slots the pool gets if it wants `wanted` slots and may have at most `most`.
    pub(crate) fn slots(&self, wanted: usize, most: usize) -> usize {
        most.min(wanted.min(self.cap) + self.lent)
    }
}
