//! The split deque as one queue among others: without positions, generations and the runtime's signals.

use super::{Cold, Owner, Split, Steal};
use crate::queue::{Cursor, Full, Miss, Queue, Sealed};
use std::ptr::NonNull;

/// A thief has found everything private.
const HUNGRY: u32 = 1;

impl<T> Owner<'_, T> {
    /// Does what was asked for.
    #[cold]
    fn obey(self) {
        if self.answer() & HUNGRY != 0 {
            self.expose_half();
        }
    }
}

impl<T> Sealed for Split<T> {}

impl<T> Queue<T> for Split<T> {
    fn put(&self, task: NonNull<T>) -> Result<(), Full> {
        // SAFETY: 1: is what `Queue` asks of its users; all words are atomic, so whoever breaks it loses tasks or gets them twice, and no memory.
        let owner = unsafe { self.owner() };
        if let Err(Cold(position)) = owner.push(task) {
            owner.obey();
            owner.confirm(position)?;
        }
        Ok(())
    }

    fn take(&self) -> Option<NonNull<T>> {
        // SAFETY: 1: is what `Queue` asks of its users; all words are atomic, so whoever breaks it loses tasks or gets them twice, and no memory.
        let owner = unsafe { self.owner() };
        if owner.is_signalled() {
            owner.obey();
        }
        let task = owner.pop(0);
        if task.is_none() && owner.bottom() > 0 {
            // The youngest was stolen, and so everything older.
            owner.lower(0);
        }
        task
    }

    fn steal(&self, _: &mut Cursor) -> Result<NonNull<T>, Miss> {
        let mut found = None;
        let mut attempt = || self.steal(|_| 1, None, |task| found = Some(task));
        let mut outcome = attempt();
        if outcome == Steal::Empty && self.has_private() {
            self.raise(HUNGRY);
            if self.force_expose() {
                outcome = attempt();
            }
        }
        match outcome {
            Steal::Lost => Err(Miss::Lost),
            Steal::Success(_) | Steal::Empty => found.ok_or(Miss::Empty),
        }
    }

    fn offers(&self) -> bool {
        self.waiting() > 0
    }
}

// SAFETY: all words are atomic, and the tasks are pointers that nobody here follows; what they point to is the business of who puts them in.
unsafe impl<T> Send for Split<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Split<T> {}
