//! A lock for which thieves never wait.

use crate::overwrite::Overwrite;
use tidegate_sync::atomic::{AtomicBool, Ordering};
use tidegate_sync::spin_loop;

#[derive(Default)]
pub(crate) struct Turn {
    held: AtomicBool,
}

/// Proof that this thread holds the turn. Dropping it releases the turn.
pub(crate) struct Held<'a>(&'a Turn);

impl Turn {
    /// Takes the turn if it is free.
    pub(crate) fn attempt(&self) -> Option<Held<'_>> {
        // Relaxed: this only avoids a write to the cache line while another thread holds the turn.
        let free = !self.held.load(Ordering::Relaxed);
        // Acquire pairs with the Release in `drop`.
        (free && !self.held.swap(true, Ordering::Acquire)).then(|| Held(self))
    }

    /// Waits for the turn. Only for the owner, which never waits long: thieves hold the turn for a
    /// few instructions.
    pub(crate) fn wait(&self) -> Held<'_> {
        loop {
            if let Some(held) = self.attempt() {
                return held;
            }
            spin_loop();
        }
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        // Release pairs with the Acquire in `attempt`.
        self.0.held.overwrite(false, Ordering::Release);
    }
}
