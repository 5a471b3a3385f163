//! The lazy deque. An empty slot shows that its task was taken. The owner learns of thefts only
//! when a take finds no task, or when it needs room. See `docs/queues.md`.

use crate::array::Arrays;
use crate::overwrite::Overwrite;
use crate::own::Own;
use crate::queue::{Cursor, Full, Miss, Queue, Sealed};
use crate::turn::Turn;
use std::ptr::NonNull;
use tidegate_sync::Line;
use tidegate_sync::atomic::Ordering;

/// The deque of Weibel, "An advanced scheduler for intervals", 2010, section 9.2.
pub struct Lazy<T> {
    /// The oldest position that the owner assumes to be filled.
    head: Own,
    tail: Line<Own>,
    /// Held by one thief at a time, or by the owner while it replaces the array.
    turn: Line<Turn>,
    /// The oldest position that was not stolen. Only the thread that holds the turn writes it.
    oldest: Own,
    arrays: Arrays<T>,
}

impl<T> Default for Lazy<T> {
    fn default() -> Self {
        Self {
            head: Own::default(),
            tail: Line(Own::default()),
            turn: Line(Turn::default()),
            oldest: Own::default(),
            arrays: Arrays::new(),
        }
    }
}

impl<T> Lazy<T> {
    /// Makes room: finds out which tasks were stolen, and grows the array if that is not enough.
    #[cold]
    fn make_room(&self, tail: u64) -> Result<(), Full> {
        let _turn = self.turn.wait();
        let oldest = self.oldest.get();
        self.head.set(oldest);
        if tail - oldest >= self.arrays.own().room() {
            self.arrays.grow(oldest, tail).ok_or(Full)?;
        }
        Ok(())
    }
}

impl<T> Sealed for Lazy<T> {}

impl<T> Queue<T> for Lazy<T> {
    fn put(&self, task: NonNull<T>) -> Result<(), Full> {
        let tail = self.tail.get();
        if tail - self.head.get() >= self.arrays.own().room() {
            self.make_room(tail)?;
        }
        let slot = self.arrays.own().slot(tail);
        // Release pairs with the Acquire of the swap that empties the slot.
        slot.overwrite(task.as_ptr(), Ordering::Release);
        self.tail.set(tail + 1);
        Ok(())
    }

    fn take(&self) -> Option<NonNull<T>> {
        let (head, tail) = (self.head.get(), self.tail.get());
        if head == tail {
            return None;
        }
        let slot = self.arrays.own().slot(tail - 1);
        // Acquire is enough, even if another owner has put the task. If two threads swap, only one
        // of them gets the task.
        let task = NonNull::new(slot.swap(std::ptr::null_mut(), Ordering::Acquire));
        match task {
            Some(_) => self.tail.set(tail - 1),
            // The task was stolen, and so were all older tasks, because thieves take them in order.
            None => self.head.set(tail),
        }
        task
    }

    fn steal(&self, _: &mut Cursor) -> Result<NonNull<T>, Miss> {
        let _turn = self.turn.attempt().ok_or(Miss::Lost)?;
        let oldest = self.oldest.get();
        let slot = self.arrays.load().slot(oldest);
        // Relaxed: this only avoids the swap of an empty slot.
        if slot.load(Ordering::Relaxed).is_null() {
            return Err(Miss::Empty);
        }
        // Acquire pairs with the Release in `put`.
        let task = NonNull::new(slot.swap(std::ptr::null_mut(), Ordering::Acquire));
        let task = task.ok_or(Miss::Lost)?;
        self.oldest.set(oldest + 1);
        Ok(task)
    }

    fn offers(&self) -> bool {
        self.tail.get() > self.oldest.get()
    }
}
