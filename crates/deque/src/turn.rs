//! A lock that thieves do not wait for.

use crate::overwrite::Overwrite;
use tidegate_sync::atomic::{AtomicBool, Ordering};
use tidegate_sync::spin_loop;
use tidegate_sync::thread::{Process, abort_child};

/// At most one has it.
pub(crate) struct Turn {
    held: AtomicBool,
    /// The process that has the thieves.
    process: Process,
}

/// Having it.
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
    /// Takes it if nobody has it.
    pub(crate) fn attempt(&self) -> Option<Held<'_>> {
        // Relaxed: to leave the line alone while somebody has it.
        let free = !self.held.load(Ordering::Relaxed);
        // Acquire pairs with the Release in `drop`.
        (free && !self.held.swap(true, Ordering::Acquire)).then(|| Held(self))
    }

    /// Waits for it: for the owner, whose thieves hold it for a few instructions.
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

/// Aborts the process if the owner waits for a thief that only `process`, an ancestor, has.
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
