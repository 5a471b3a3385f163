//! The split deque as a [`Queue`]: without positions, generations and the runtime's signals.

use super::{Cold, Owner, Split, Steal};
use crate::queue::{Cursor, Full, Miss, Queue, Sealed};
use std::ptr::NonNull;

/// A signal: a thief has found only private tasks.
const HUNGRY: u32 = 1;

impl<T> Owner<'_, T> {
    /// Answers the signals that thieves have raised.
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
        // SAFETY: 1: `Queue` requires the same of its users. All words are atomic, so if a user
        // breaks the rule, tasks are lost or come out twice, but memory stays sound.
        let owner = unsafe { self.owner() };
        if let Err(Cold(position)) = owner.push(task) {
            owner.obey();
            owner.confirm(position)?;
        }
        Ok(())
    }

    fn take(&self) -> Option<NonNull<T>> {
        // SAFETY: 1: `Queue` requires the same of its users. All words are atomic, so if a user
        // breaks the rule, tasks are lost or come out twice, but memory stays sound.
        let owner = unsafe { self.owner() };
        if owner.is_signalled() {
            owner.obey();
        }
        let task = owner.pop(0);
        if task.is_none() && owner.bottom() > 0 {
            // The youngest task was stolen, and so were all older tasks.
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

// SAFETY: all words are atomic. This code does not follow the pointers; the code that puts tasks in
// is responsible for what they point to.
unsafe impl<T> Send for Split<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Split<T> {}
