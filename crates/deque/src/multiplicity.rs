//! The fence-free queue with multiplicity: all threads use only loads and stores. See
//! `docs/queues.md`.

use crate::array::Arrays;
use crate::own::Own;
use crate::queue::{Cursor, Full, Miss, Queue, Sealed};
use std::ptr::NonNull;
use tidegate_sync::atomic::Ordering;
use tidegate_sync::{Line, serial};

/// A queue based on Castañeda and Piña, "Fully read/write fence-free work-stealing with
/// multiplicity", DISC 2021.
pub struct Multiplicity<T> {
    /// Identifies this queue in thieves' cursors.
    number: u64,
    tail: Line<Own>,
    /// The owner knows that all tasks below this position have been taken.
    taken: Own,
    /// All tasks below this position had been taken, as far as its last writer knew. Any thread may
    /// write it, so the value may fall back.
    head: Line<Own>,
    arrays: Arrays<T>,
}

impl<T> Default for Multiplicity<T> {
    fn default() -> Self {
        Self {
            number: serial::next(),
            tail: Line(Own::default()),
            taken: Own::default(),
            head: Line(Own::default()),
            arrays: Arrays::new(),
        }
    }
}

impl<T> Multiplicity<T> {
    /// Raises `taken` to `head` if `head` is higher. Returns the new value.
    fn catch_up(&self) -> u64 {
        let taken = self.taken.get().max(self.head.acquire());
        self.taken.publish(taken);
        taken
    }
}

impl<T> Sealed for Multiplicity<T> {}

impl<T> Queue<T> for Multiplicity<T> {
    fn put(&self, task: NonNull<T>) -> Result<(), Full> {
        let tail = self.tail.get();
        let mut array = self.arrays.own();
        // The slot after the youngest task stays empty.
        if tail + 1 - self.taken.get() >= array.room() {
            let taken = self.catch_up();
            if tail + 1 - taken >= array.room() {
                array = self.arrays.grow(taken, tail).ok_or(Full)?;
            }
        }
        // Relaxed: the store of the task below releases it.
        let next = array.slot(tail + 1);
        next.store(std::ptr::null_mut(), Ordering::Relaxed);
        // Release pairs with the Acquire in `steal`, both for the task and for the slot after it.
        array.slot(tail).store(task.as_ptr(), Ordering::Release);
        self.tail.set(tail + 1);
        Ok(())
    }

    fn take(&self) -> Option<NonNull<T>> {
        let taken = self.catch_up();
        if taken >= self.tail.get() {
            return None;
        }
        let task = self.arrays.own().get(taken);
        self.taken.publish(taken + 1);
        self.head.publish(taken + 1);
        Some(task)
    }

    fn steal(&self, cursor: &mut Cursor) -> Result<NonNull<T>, Miss> {
        let position = cursor.in_queue(self.number);
        // Acquire: the thread that wrote one of these positions had read the task before it, and so
        // had acquired the store that emptied the slot at the position. Both positions are loaded
        // before the array: in an older array, that slot could hold the task of another position.
        *position = (*position)
            .max(self.head.acquire())
            .max(self.taken.acquire());
        let slot = self.arrays.load().slot(*position);
        // Acquire pairs with the Release in `put`.
        let Some(task) = NonNull::new(slot.load(Ordering::Acquire)) else {
            if self.head.get() < *position {
                // A slow thread has made `head` fall back. The tasks from `head` to our position
                // are gone, so no thread should look for them.
                self.head.publish(*position);
            }
            return Err(Miss::Empty);
        };
        *position += 1;
        self.head.publish(*position);
        Ok(task)
    }

    fn offers(&self) -> bool {
        let first = self.head.get().max(self.taken.get());
        // Relaxed: a hint.
        let task = self.arrays.load().slot(first).load(Ordering::Relaxed);
        !task.is_null()
    }
}
