//! The one word that says which slots are filled, with a tag that differs after each put.

use crate::overwrite::Overwrite;
use tidegate_sync::atomic::{AtomicU64, Ordering};

/// An anchor: a part for the queue, and in its upper bits the tag.
#[derive(Clone, Copy)]
pub(super) struct Value {
    bits: u64,
    part: u32,
}

impl Value {
    /// What the queue keeps in it.
    pub(super) fn get(self) -> u64 {
        self.bits & ((1 << self.part) - 1)
    }

    /// Another content under the same tag.
    pub(super) fn with(self, content: u64) -> Self {
        debug_assert!(content < 1 << self.part);
        let tag = self.bits & !((1 << self.part) - 1);
        Self {
            bits: tag | content,
            ..self
        }
    }

    /// Another content under the next tag: a slot has another task.
    pub(super) fn renewed(self, content: u64) -> Self {
        Self {
            bits: self.bits.wrapping_add(1 << self.part),
            ..self
        }
        .with(content)
    }
}

/// The word. Its lower `PART` bits are the queue's.
pub(super) struct Anchor<const PART: u32>(AtomicU64);

impl<const PART: u32> Anchor<PART> {
    pub(super) fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    fn value(bits: u64) -> Value {
        Value { bits, part: PART }
    }

    /// For the owner: its own last store, or what a thief has made of it.
    pub(super) fn own(&self) -> Value {
        // Acquire: a thief's read of a slot comes before the owner's reuse of it; pairs with `replace`.
        Self::value(self.0.load(Ordering::Acquire))
    }

    /// Says what is filled now, whatever thieves have made of it meanwhile.
    pub(super) fn publish(&self, value: Value) {
        // Release pairs with the Acquire in `seen`: the slots are filled.
        self.0.overwrite(value.bits, Ordering::Release);
    }

    /// For a thief.
    pub(super) fn seen(&self) -> Value {
        // Acquire pairs with `publish`.
        Self::value(self.0.load(Ordering::Acquire))
    }

    /// Makes `new` of what was `seen`, if nobody has made anything else of it.
    pub(super) fn replace(&self, seen: Value, new: Value) -> bool {
        // AcqRel: Release keeps the read of the slot before it, and passes on to the next thief what we acquired.
        self.0
            .compare_exchange(seen.bits, new.bits, Ordering::AcqRel, Ordering::Relaxed)
            .is_ok()
    }
}
