//! A lock that thieves do not wait for.

use crate::overwrite::Overwrite;
use tidegate_sync::atomic::{AtomicBool, Ordering};
use tidegate_sync::spin_loop;

/// At most one has it.
#[derive(Default)]
pub(crate) struct Turn(AtomicBool);

/// Having it.
pub(crate) struct Held<'a>(&'a Turn);

impl Turn {
    /// Takes it if nobody has it.
    pub(crate) fn attempt(&self) -> Option<Held<'_>> {
        // Relaxed: to leave the line alone while somebody has it.
        let free = !self.0.load(Ordering::Relaxed);
        // Acquire pairs with the Release in `drop`.
        (free && !self.0.swap(true, Ordering::Acquire)).then(|| Held(self))
    }

    /// Waits for it: for the owner, whose thieves hold it for a few instructions.
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
        self.0.0.overwrite(false, Ordering::Release);
    }
}
