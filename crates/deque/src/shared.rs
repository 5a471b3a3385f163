//! One queue with one lock for all workers: the baseline with which the other queues are compared.

use crate::queue::{Cursor, Full, Miss, Queue, Sealed};
use std::collections::VecDeque;
use std::ptr::NonNull;
use tidegate_sync::atomic::{AtomicPtr, Ordering};
use tidegate_sync::lock::Mutex;

/// A queue in which every thread may put and take; a thief gets the oldest task.
pub struct Shared<T>(Mutex<VecDeque<AtomicPtr<T>>>);

impl<T> Default for Shared<T> {
    fn default() -> Self {
        Self(Mutex::new(VecDeque::new()))
    }
}

fn task<T>(slot: AtomicPtr<T>) -> Option<NonNull<T>> {
    // Relaxed: the lock orders everything.
    NonNull::new(slot.load(Ordering::Relaxed))
}

impl<T> Sealed for Shared<T> {}

impl<T> Queue<T> for Shared<T> {
    fn put(&self, task: NonNull<T>) -> Result<(), Full> {
        self.0.lock().push_back(AtomicPtr::new(task.as_ptr()));
        Ok(())
    }

    fn take(&self) -> Option<NonNull<T>> {
        self.0.lock().pop_back().and_then(task)
    }

    fn steal(&self, _: &mut Cursor) -> Result<NonNull<T>, Miss> {
        let oldest = self.0.lock().pop_front();
        oldest.and_then(task).ok_or(Miss::Empty)
    }

    fn offers(&self) -> bool {
        !self.0.lock().is_empty()
    }
}
