//! The idempotent FIFO: the owner puts at one end, and owner and thieves take at the other. It
//! needs no tag, because `head` never falls below the value that the owner has read last.

use crate::array::Arrays;
use crate::overwrite::Overwrite;
use crate::own::Own;
use crate::queue::{Cursor, Full, Miss, Queue, Sealed};
use std::ptr::NonNull;
use tidegate_sync::Line;
use tidegate_sync::atomic::{AtomicU64, Ordering};

/// An idempotent FIFO: owner and thieves take the oldest task.
pub struct IdempotentFifo<T> {
    head: Line<AtomicU64>,
    tail: Line<Own>,
    arrays: Arrays<T>,
}

impl<T> Default for IdempotentFifo<T> {
    fn default() -> Self {
        Self {
            head: Line(AtomicU64::new(0)),
            tail: Line(Own::default()),
            arrays: Arrays::new(),
        }
    }
}

impl<T> IdempotentFifo<T> {
    fn head(&self) -> u64 {
        // Acquire. For the owner: a thief has read its slot before the owner reuses it. For a
        // thief: `tail`, which it loads next, is at least as new as `head`.
        self.head.load(Ordering::Acquire)
    }
}

impl<T> Sealed for IdempotentFifo<T> {}

impl<T> Queue<T> for IdempotentFifo<T> {
    fn put(&self, task: NonNull<T>) -> Result<(), Full> {
        let (head, tail) = (self.head(), self.tail.get());
        let mut array = self.arrays.own();
        if tail - head >= array.room() {
            array = self.arrays.grow(head, tail).ok_or(Full)?;
        }
        array.publish(tail, task);
        self.tail.publish(tail + 1);
        Ok(())
    }

    fn take(&self) -> Option<NonNull<T>> {
        let head = self.head();
        if head == self.tail.get() {
            return None;
        }
        let task = self.arrays.own().get(head);
        // Release pairs with the Acquire in `head`, as in a thief's compare-and-swap.
        self.head.overwrite(head + 1, Ordering::Release);
        Some(task)
    }

    fn steal(&self, _: &mut Cursor) -> Result<NonNull<T>, Miss> {
        let head = self.head();
        if head >= self.tail.acquire() {
            return Err(Miss::Empty);
        }
        let task = self.arrays.load().acquire(head);
        // AcqRel: Release keeps our read of the slot before the exchange.
        let won = self
            .head
            .compare_exchange(head, head + 1, Ordering::AcqRel, Ordering::Relaxed);
        task.if_won(won.is_ok())
    }

    fn offers(&self) -> bool {
        self.tail.get() > self.head()
    }
}
