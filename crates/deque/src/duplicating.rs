//! The duplicating queue: below a border thieves take under a lock, above it they only copy, so the owner needs neither lock nor fence
//! there. See docs/queues.md.

use crate::array::Arrays;
use crate::own::Own;
use crate::queue::{Cursor, Full, Miss, Queue, Sealed};
use crate::turn::Turn;
use std::ptr::NonNull;
use tidegate_sync::Line;
use tidegate_sync::atomic::{AtomicBool, Ordering};

/// After the idea of Leijen, Schulte and Burckhardt, "The design of a task parallel library", OOPSLA 2009.
pub struct Duplicating<T> {
    tail: Line<Own>,
    /// Below it the owner takes with the turn only. Raised by the owner at will, lowered with the turn.
    border: Own,
    /// A thief found nothing below the border.
    wanted: Line<AtomicBool>,
    turn: Line<Turn>,
    /// The oldest task, written by who has the turn.
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

    /// Gives thieves the older half of what only the owner could take.
    #[cold]
    fn raise_border(&self, tail: u64) {
        // Relaxed: whoever wants again raises it again.
        self.wanted.store(false, Ordering::Relaxed);
        let border = self.border.get();
        self.border.publish(border + (tail - border).div_ceil(2));
    }

    /// Takes the younger half of what thieves could take back, if there is anything.
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
        // Seen late it is too small, which is on the safe side; never too early, see `steal`.
        if tail - self.head.acquire() >= self.arrays.own().room() {
            self.make_room(tail)?;
        }
        let slot = self.arrays.own().slot(tail);
        // Release pairs with the Acquire of a thief that copies: it may have seen an older tail, and find a newer task.
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
            // After the slot was read, which may be filled again from here on.
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
        // Relaxed: a hint. Of what only the owner takes a thief gets one copy until the owner puts again.
        head < self.border.get() || (head < self.tail.get() && !self.wanted.load(Ordering::Relaxed))
    }
}
