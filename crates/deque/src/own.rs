//! A word with one writer at a time.

use tidegate_sync::atomic::{AtomicU64, Ordering};

/// A word that only one thread at a time writes: the owner of the queue, or the thread that holds
/// the lock or the item to which the word belongs. It is atomic so that other threads may read it
/// where a method's doc allows it.
#[derive(Default)]
pub(crate) struct Own(AtomicU64);

impl Own {
    pub(crate) fn new(value: u64) -> Self {
        Self(AtomicU64::new(value))
    }

    pub(crate) fn get(&self) -> u64 {
        // Relaxed: the writer reads its own stores. If the writer changes, a happens-before edge
        // orders the change.
        self.0.load(Ordering::Relaxed)
    }

    pub(crate) fn set(&self, value: u64) {
        // Relaxed: as in `get`.
        self.0.store(value, Ordering::Relaxed);
    }

    /// Returns the value to a thread other than the writer. That thread then sees everything that
    /// was written before the value was published.
    pub(crate) fn acquire(&self) -> u64 {
        // Acquire pairs with the Release in `publish`.
        self.0.load(Ordering::Acquire)
    }

    pub(crate) fn publish(&self, value: u64) {
        // Release pairs with the Acquire in `acquire`.
        self.0.store(value, Ordering::Release);
    }
}
