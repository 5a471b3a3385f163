//! A word that records which slots are filled, with a tag that differs after each put.

use crate::overwrite::Overwrite;
use tidegate_sync::atomic::{AtomicU64, Ordering};

/// An anchor: the queue's content in the lower bits, the tag in the upper bits.
#[derive(Clone, Copy)]
pub(super) struct Value {
    bits: u64,
    part: u32,
}

impl Value {
    /// Returns the queue's content.
    pub(super) fn get(self) -> u64 {
        self.bits & ((1 << self.part) - 1)
    }

    /// Returns an anchor with the same tag and the given content.
    pub(super) fn with(self, content: u64) -> Self {
        debug_assert!(content < 1 << self.part);
        let tag = self.bits & !((1 << self.part) - 1);
        Self {
            bits: tag | content,
            ..self
        }
    }

    /// Returns an anchor with the next tag and the given content, for use when a slot gets another
    /// task.
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

    /// Returns the current anchor to the owner: its last store, or the value with which a thief has
    /// replaced it since.
    pub(super) fn own(&self) -> Value {
        // Acquire pairs with `replace`: a thief has read its slot before the owner reuses it.
        Self::value(self.0.load(Ordering::Acquire))
    }

    /// Stores a new anchor, even if thieves have replaced the old one meanwhile.
    pub(super) fn publish(&self, value: Value) {
        // Release pairs with the Acquire in `seen`: a thief that sees the anchor sees the filled
        // slots.
        self.0.overwrite(value.bits, Ordering::Release);
    }

    /// Returns the current anchor to a thief.
    pub(super) fn seen(&self) -> Value {
        // Acquire pairs with the Release in `publish`.
        Self::value(self.0.load(Ordering::Acquire))
    }

    /// Replaces `seen` with `new`; fails if another thread has changed the anchor.
    pub(super) fn replace(&self, seen: Value, new: Value) -> bool {
        // AcqRel: Release keeps our read of the slot before the exchange, and passes on to the next
        // thief what we have acquired.
        self.0
            .compare_exchange(seen.bits, new.bits, Ordering::AcqRel, Ordering::Relaxed)
            .is_ok()
    }
}
