//! The idempotent stack: owner and thieves take the youngest task.

use super::anchor::Anchor;
use crate::array::Arrays;
use crate::queue::{Cursor, Full, Miss, Queue, Sealed};
use std::ptr::NonNull;
use tidegate_sync::Line;

/// The number of bits for the number of tasks.
const SIZE: u32 = 25;

/// An idempotent stack: owner and thieves take the youngest task.
pub struct IdempotentLifo<T> {
    anchor: Line<Anchor<SIZE>>,
    arrays: Arrays<T>,
}

impl<T> Default for IdempotentLifo<T> {
    fn default() -> Self {
        Self {
            anchor: Line(Anchor::new()),
            arrays: Arrays::new(),
        }
    }
}

impl<T> Sealed for IdempotentLifo<T> {}

impl<T> Queue<T> for IdempotentLifo<T> {
    fn put(&self, task: NonNull<T>) -> Result<(), Full> {
        let anchor = self.anchor.own();
        let size = anchor.get();
        let mut array = self.arrays.own();
        if size == 1 << (SIZE - 1) {
            return Err(Full);
        } else if size == array.room() {
            array = self.arrays.grow(0, size).ok_or(Full)?;
        }
        array.publish(size, task);
        self.anchor.publish(anchor.renewed(size + 1));
        Ok(())
    }

    fn take(&self) -> Option<NonNull<T>> {
        let anchor = self.anchor.own();
        let left = anchor.get().checked_sub(1)?;
        let task = self.arrays.own().get(left);
        self.anchor.publish(anchor.with(left));
        Some(task)
    }

    fn steal(&self, _: &mut Cursor) -> Result<NonNull<T>, Miss> {
        let anchor = self.anchor.seen();
        let left = anchor.get().checked_sub(1).ok_or(Miss::Empty)?;
        let task = self.arrays.load().acquire(left);
        task.if_won(self.anchor.replace(anchor, anchor.with(left)))
    }

    fn offers(&self) -> bool {
        self.anchor.seen().get() > 0
    }
}
