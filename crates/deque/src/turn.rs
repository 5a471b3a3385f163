//! A lock for which thieves never wait.

use crate::overwrite::Overwrite;
use tidegate_sync::atomic::{AtomicBool, Ordering};
use tidegate_sync::spin_loop;
use tidegate_sync::thread::{Process, abort_child};

pub(crate) struct Turn {
    held: AtomicBool,
    /// The process whose threads are the thieves.
    process: Process,
}

/// Proof that this thread holds the turn. Dropping it releases the turn.
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
            stolen_from(self.process);
            spin_loop();
        }
    }
}

/// Aborts the process if it is a child made by `fork`, and the queue belongs to its ancestor
/// `process`. The thief that the owner waits for exists only in the ancestor.
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
