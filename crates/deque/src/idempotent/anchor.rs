//! The one word that shows which slots are filled, with a tag that differs after each put.

use crate::overwrite::Overwrite;
use tidegate_sync::atomic::{AtomicU64, Ordering};

/// An anchor: the queue's content in the lower bits, the tag in the upper bits.
#[derive(Clone, Copy)]
pub(super) struct Value {
    bits: u64,
    part: u32,
}

impl Value {
    /// The queue's content.
    pub(super) fn get(self) -> u64 {
        self.bits & ((1 << self.part) - 1)
    }

    /// The same tag with another content.
    pub(super) fn with(self, content: u64) -> Self {
        debug_assert!(content < 1 << self.part);
        let tag = self.bits & !((1 << self.part) - 1);
        Self {
            bits: tag | content,
            ..self
        }
    }

    /// The next tag with another content: a slot holds another task.
    pub(super) fn renewed(self, content: u64) -> Self {
        Self {
            bits: self.bits.wrapping_add(1 << self.part),
            ..self
        }
        .with(content)
    }
}

/// The atomic word. Its lower `PART` bits hold the queue's content.
pub(super) struct Anchor<const PART: u32>(AtomicU64);

impl<const PART: u32> Anchor<PART> {
    pub(super) fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    fn value(bits: u64) -> Value {
        Value { bits, part: PART }
    }

    /// For the owner: its own last store, or what thieves have made of it since.
    pub(super) fn own(&self) -> Value {
        // Acquire pairs with `replace`: a thief's read of a slot comes before the owner's reuse of
        // it.
        Self::value(self.0.load(Ordering::Acquire))
    }

    /// Stores which slots are filled now, and overwrites what thieves have stored meanwhile.
    pub(super) fn publish(&self, value: Value) {
        // Release pairs with the Acquire in `seen`: the slots are filled.
        self.0.overwrite(value.bits, Ordering::Release);
    }

    /// For a thief: the current anchor.
    pub(super) fn seen(&self) -> Value {
        // Acquire pairs with `publish`.
        Self::value(self.0.load(Ordering::Acquire))
    }

    /// Replaces `seen` by `new`; fails if another thread has changed the anchor.
    pub(super) fn replace(&self, seen: Value, new: Value) -> bool {
        // AcqRel: Release keeps the read of the slot before it, and passes on to the next thief
        // what we acquired.
        self.0
            .compare_exchange(seen.bits, new.bits, Ordering::AcqRel, Ordering::Relaxed)
            .is_ok()
    }
}
