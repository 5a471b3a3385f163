//! The duplicating queue. Below a border, thieves take tasks under a lock. Above it, they only copy
//! tasks, so the owner needs neither a lock nor a fence there. See `docs/queues.md`.

use crate::array::Arrays;
use crate::own::Own;
use crate::queue::{Cursor, Full, Miss, Queue, Sealed};
use crate::turn::Turn;
use std::ptr::NonNull;
use tidegate_sync::Line;
use tidegate_sync::atomic::{AtomicBool, Ordering};

/// A duplicating queue, based on Leijen, Schulte and Burckhardt, "The design of a task parallel
/// library", OOPSLA 2009.
pub struct Duplicating<T> {
    tail: Line<Own>,
    /// Below this position, the owner takes tasks only while it holds the turn. The owner may raise
    /// the border at any time, but lowers it only while it holds the turn.
    border: Own,
    /// Set by a thief that found no task below the border, so that the owner raises the border.
    wanted: Line<AtomicBool>,
    turn: Line<Turn>,
    /// The position of the oldest task. Only the thread that holds the turn writes it.
    head: Own,
    arrays: Arrays<T>,
}

impl<T> Default for Duplicating<T> {
    fn default() -> Self {
        Self {
            tail: Line(Own::default()),
            border: Own::default(),
            wanted: Line(AtomicBool::new(false)),
            turn: Line(Turn::default()),
            head: Own::default(),
            arrays: Arrays::new(),
        }
    }
}

impl<T> Duplicating<T> {
    #[cold]
    fn make_room(&self, tail: u64) -> Result<(), Full> {
        let _turn = self.turn.wait();
        let head = self.head.get();
        if tail - head >= self.arrays.own().room() {
            self.arrays.grow(head, tail).ok_or(Full)?;
        }
        Ok(())
    }

    /// Raises the border, so that thieves can take the older half of the tasks above it.
    #[cold]
    fn raise_border(&self, tail: u64) {
        // Relaxed: a thief that finds no task later sets `wanted` again.
        self.wanted.store(false, Ordering::Relaxed);
        let border = self.border.get();
        self.border.publish(border + (tail - border).div_ceil(2));
    }

    /// Lowers the border, so that the younger half of the tasks below it belongs to the owner
    /// again. Returns whether any task is left.
    #[cold]
    fn lower_border(&self, tail: u64) -> bool {
        let _turn = self.turn.wait();
        let head = self.head.get();
        self.border.publish(head + (tail - head) / 2);
        head < tail
    }
}

impl<T> Sealed for Duplicating<T> {}

impl<T> Queue<T> for Duplicating<T> {
    fn put(&self, task: NonNull<T>) -> Result<(), Full> {
        let tail = self.tail.get();
        // A stale `head` is too small, which is safe. It is never too large, because `steal`
        // publishes `head` after it has read the slot.
        if tail - self.head.acquire() >= self.arrays.own().room() {
            self.make_room(tail)?;
        }
        let slot = self.arrays.own().slot(tail);
        // Release pairs with the Acquire of a thief that copies: a thief that has read an older
        // tail may find this newer task.
        slot.store(task.as_ptr(), Ordering::Release);
        self.tail.publish(tail + 1);
        // Relaxed: a hint.
        if self.wanted.load(Ordering::Relaxed) {
            self.raise_border(tail + 1);
        }
        Ok(())
    }

    fn take(&self) -> Option<NonNull<T>> {
        let tail = self.tail.get();
        if tail == self.border.get() && !self.lower_border(tail) {
            return None;
        }
        let task = self.arrays.own().get(tail - 1);
        self.tail.publish(tail - 1);
        Some(task)
    }

    fn steal(&self, _: &mut Cursor) -> Result<NonNull<T>, Miss> {
        let _turn = self.turn.attempt().ok_or(Miss::Lost)?;
        let head = self.head.get();
        if head < self.border.acquire() {
            let task = self.arrays.load().get(head);
            // Published after the slot was read, because the owner may now fill the slot again.
            self.head.publish(head + 1);
            return Ok(task);
        }
        if head >= self.tail.acquire() {
            return Err(Miss::Empty);
        }
        // Relaxed: a hint.
        self.wanted.store(true, Ordering::Relaxed);
        let slot = self.arrays.load().slot(head);
        // Acquire pairs with the Release in `put`.
        NonNull::new(slot.load(Ordering::Acquire)).ok_or(Miss::Empty)
    }

    fn offers(&self) -> bool {
        let head = self.head.get();
        // Relaxed: a hint. Above the border, thieves may copy a single task. The next put then
        // raises the border; until then, this queue offers nothing.
        head < self.border.get() || (head < self.tail.get() && !self.wanted.load(Ordering::Relaxed))
    }
}
