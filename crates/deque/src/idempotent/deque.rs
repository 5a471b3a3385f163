//! The idempotent deque: the owner puts and takes at one end, and thieves steal at the other.

use super::anchor::{Anchor, Value};
use crate::array::Arrays;
use crate::queue::{Cursor, Full, Miss, Queue, Sealed};
use std::ptr::NonNull;
use tidegate_sync::Line;

/// The number of bits for the position of the oldest task. The position wraps.
const HEAD: u32 = 20;
/// The number of bits for the number of tasks.
const SIZE: u32 = 20;
/// The maximum number of tasks. This many positions plus one must all differ in their low [`HEAD`]
/// bits.
const MOST: u64 = 1 << (SIZE - 1);

/// An idempotent deque: the owner takes the youngest task, a thief the oldest.
pub struct IdempotentDeque<T> {
    anchor: Line<Anchor<{ HEAD + SIZE }>>,
    arrays: Arrays<T>,
}

impl<T> Default for IdempotentDeque<T> {
    fn default() -> Self {
        Self {
            anchor: Line(Anchor::new()),
            arrays: Arrays::new(),
        }
    }
}

fn head_and_size(anchor: Value) -> (u64, u64) {
    let content = anchor.get();
    (content >> SIZE, content & ((1 << SIZE) - 1))
}

fn content(head: u64, size: u64) -> u64 {
    (head & ((1 << HEAD) - 1)) << SIZE | size
}

impl<T> Sealed for IdempotentDeque<T> {}

impl<T> Queue<T> for IdempotentDeque<T> {
    fn put(&self, task: NonNull<T>) -> Result<(), Full> {
        let anchor = self.anchor.own();
        let (head, size) = head_and_size(anchor);
        let mut array = self.arrays.own();
        if size == MOST {
            return Err(Full);
        } else if size == array.room() {
            array = self.arrays.grow(head, head + size).ok_or(Full)?;
        }
        array.publish(head + size, task);
        self.anchor.publish(anchor.renewed(content(head, size + 1)));
        Ok(())
    }

    fn take(&self) -> Option<NonNull<T>> {
        let anchor = self.anchor.own();
        let (head, size) = head_and_size(anchor);
        let left = size.checked_sub(1)?;
        let task = self.arrays.own().get(head + left);
        self.anchor.publish(anchor.with(content(head, left)));
        Some(task)
    }

    fn steal(&self, _: &mut Cursor) -> Result<NonNull<T>, Miss> {
        let anchor = self.anchor.seen();
        let (head, size) = head_and_size(anchor);
        let left = size.checked_sub(1).ok_or(Miss::Empty)?;
        let task = self.arrays.load().acquire(head);
        let stolen = anchor.with(content(head + 1, left));
        task.if_won(self.anchor.replace(anchor, stolen))
    }

    fn offers(&self) -> bool {
        let (_, size) = head_and_size(self.anchor.seen());
        size > 0
    }
}
