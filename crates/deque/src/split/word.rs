//! The packed word `P` and the arithmetic of positions.
//!
//! `top` and `split` are the low [`INDEX_BITS`] bits of positions that count up to 2^64. [`near`]
//! computes the full position from a known position at most a ring's length away.
//! [`Public::top_above`] counts upwards from a known position.

use crate::ring::CAPACITY;
use std::fmt;

/// One bit more than the positions in a ring need. The rings under loom and Miri are small, so that
/// the tests also cover wrapping.
const INDEX_BITS: u32 = CAPACITY.ilog2() + 1;
const GEN_BITS: u32 = 27;
const INDEX_MASK: u64 = (1 << INDEX_BITS) - 1;
const GEN_MASK: u64 = (1 << GEN_BITS) - 1;
const EXPOSING: u64 = 1 << 63;

const _: () = assert!(1 + GEN_BITS + 2 * INDEX_BITS <= u64::BITS);

/// Identifies the task at the base of the owner's stack; see `docs/waiting.md`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Gen(u32);

impl Gen {
    /// Returns the generation as a number of at most [`Gen::BITS`] bits, for packing.
    #[must_use]
    pub fn bits(self) -> u32 {
        self.0
    }

    /// Returns the generation with these [`bits`](Gen::bits). Higher bits are dropped.
    #[must_use]
    pub fn from_bits(bits: u32) -> Self {
        Self(bits & GEN_MASK as u32)
    }

    /// The number of bits in a generation.
    pub const BITS: u32 = GEN_BITS;
}

/// `P` = (X, gen, top, split). Only these methods decode it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Public(pub(super) u64);

impl Public {
    pub(super) const EMPTY: Self = Self(0);

    fn pack(exposing: u64, generation: u64, top: u64, split: u64) -> Self {
        Self(
            exposing
                | (generation & GEN_MASK) << (2 * INDEX_BITS)
                | (top & INDEX_MASK) << INDEX_BITS
                | (split & INDEX_MASK),
        )
    }

    fn generation_bits(self) -> u64 {
        self.0 >> (2 * INDEX_BITS) & GEN_MASK
    }

    fn top(self) -> u64 {
        self.0 >> INDEX_BITS & INDEX_MASK
    }

    fn split(self) -> u64 {
        self.0 & INDEX_MASK
    }

    pub(super) fn generation(self) -> Gen {
        Gen(self.generation_bits() as u32)
    }

    pub(super) fn is_exposing(self) -> bool {
        self.0 & EXPOSING != 0
    }

    /// Returns the number of public tasks.
    pub(super) fn len(self) -> u64 {
        self.split().wrapping_sub(self.top()) & INDEX_MASK
    }

    /// Returns the number of tasks that wait below `bottom`. It is at least the number of public
    /// tasks: while the owner tries to pop a public task, `bottom` may be too low.
    pub(super) fn waiting_below(self, bottom: u64) -> u64 {
        bottom.saturating_sub(self.top_near(bottom)).max(self.len())
    }

    /// Returns the full position of `top`, given a position at most the capacity away from it.
    pub(super) fn top_near(self, position: u64) -> u64 {
        near(self.top(), position)
    }

    /// Returns the distance from `position` up to `top`, which must be less than two rings.
    pub(super) fn top_above(self, position: u64) -> u64 {
        self.top().wrapping_sub(position) & INDEX_MASK
    }

    /// Returns the full position of `split`, given a position at most the capacity away from it.
    pub(super) fn split_near(self, position: u64) -> u64 {
        near(self.split(), position)
    }

    /// Returns the word after the `k` oldest tasks were stolen.
    pub(super) fn stolen(self, k: u64) -> Self {
        debug_assert!(k <= self.len() && !self.is_exposing(), "{self:?}");
        Self::pack(0, self.generation_bits(), self.top() + k, self.split())
    }

    /// Returns the word with X set, which announces that a thief is about to move the border.
    pub(super) fn announced(self) -> Self {
        debug_assert!(self.len() == 0, "{self:?}");
        Self(self.0 | EXPOSING)
    }

    /// Returns the word with this border and with X cleared.
    pub(super) fn with_split(self, split: u64) -> Self {
        Self::pack(0, self.generation_bits(), self.top(), split)
    }

    /// Returns the word without public tasks, with the border at `position` and X cleared.
    pub(super) fn emptied_at(self, position: u64) -> Self {
        Self::pack(0, self.generation_bits(), position, position)
    }

    /// Returns the word with this generation and with X cleared.
    pub(super) fn with_generation(self, generation: Gen) -> Self {
        Self::pack(0, u64::from(generation.bits()), self.top(), self.split())
    }
}

/// Returns the position nearest to `position` whose low bits are `low`.
fn near(low: u64, position: u64) -> u64 {
    let ahead = low.wrapping_sub(position) & INDEX_MASK;
    let signed = if ahead > INDEX_MASK / 2 {
        ahead as i64 - (INDEX_MASK as i64 + 1)
    } else {
        ahead as i64
    };
    position.wrapping_add_signed(signed)
}

impl fmt::Debug for Public {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let x = if self.is_exposing() { "X " } else { "" };
        write!(
            f,
            "{x}gen {} public [{}, {})",
            self.generation_bits(),
            self.top(),
            self.split()
        )
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn positions_survive_packed_bit_wraparound() {
        for at in [
            0,
            1,
            INDEX_MASK,
            INDEX_MASK + 1,
            5 * INDEX_MASK + 77,
            1 << 40,
        ] {
            for distance in [-1i64, 0, 1, CAPACITY as i64 / 2, CAPACITY as i64 - 1] {
                let Some(position) = at.checked_add_signed(distance) else {
                    continue;
                };
                assert_eq!(near(position & INDEX_MASK, at), position);
            }
        }
    }

    #[test]
    fn each_operation_changes_only_its_fields() {
        let word = Public::pack(0, 9, INDEX_MASK, INDEX_MASK + 3);
        assert_eq!(word.len(), 3);
        assert_eq!(word.stolen(2).len(), 1);
        assert_eq!(word.stolen(2).generation(), Gen(9));
        assert_eq!(word.with_generation(Gen(10)).generation(), Gen(10));
        assert_eq!(word.with_generation(Gen(10)).len(), 3);
        assert_eq!(word.emptied_at(7).len(), 0);
        assert!(word.emptied_at(7).announced().is_exposing());
        assert!(!word.emptied_at(7).announced().with_split(9).is_exposing());
    }
}
