//! A lock that thieves do not wait for.

use crate::overwrite::Overwrite;
use tidegate_sync::atomic::{AtomicBool, Ordering};
use tidegate_sync::spin_loop;
use tidegate_sync::thread::{Process, abort_child};

/// A lock that at most one thread holds.
pub(crate) struct Turn {
    held: AtomicBool,
    /// The process whose threads are the thieves.
    process: Process,
}

/// Proof that this thread holds the turn; gives it back on drop.
pub(crate) struct Held<'a>(&'a Turn);

impl Default for Turn {
    fn default() -> Self {
        Self {
            held: AtomicBool::new(false),
            process: Process::this(),
        }
    }
}

impl Turn {
    /// Takes the turn if it is free.
    pub(crate) fn attempt(&self) -> Option<Held<'_>> {
        // Relaxed: only to leave the cache line alone while another thread has the turn.
        let free = !self.held.load(Ordering::Relaxed);
        // Acquire pairs with the Release in `drop`.
        (free && !self.held.swap(true, Ordering::Acquire)).then(|| Held(self))
    }

    /// Waits for the turn. Only for the owner, because thieves hold it for a few instructions only.
    pub(crate) fn wait(&self) -> Held<'_> {
        loop {
            if let Some(held) = self.attempt() {
                return held;
            }
            stolen_from(self.process);
            spin_loop();
        }
    }
}

/// Aborts the process if the owner waits for a thief that exists only in `process`, an ancestor.
pub(crate) fn stolen_from(process: Process) {
    if process != Process::this() {
        abort_child(format_args!(
            "a child made by fork() needs a queue that a thread of its parent was stealing from"
        ));
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        // Release pairs with the Acquire in `attempt`.
        self.0.held.overwrite(false, Ordering::Release);
    }
}
