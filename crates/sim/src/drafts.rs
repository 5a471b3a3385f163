//! Tasks that wait to be released, by their names.
//!
//! A count may be below none: releases may come before the draft.

use crate::chain::Chain;
use crate::dag::Put;
use crate::frames::FrameId;
use std::collections::HashMap;
use std::collections::hash_map::{Entry, OccupiedEntry};
use std::hash::{BuildHasherDefault, Hasher};

/// A name that was drafted, released, or both.
#[derive(Default)]
struct Named {
    /// How many releases are missing, as far as is known.
    missing: i64,
    /// The longest chain to any of those that came.
    chain: Chain,
    draft: Option<(FrameId, Option<Put>)>,
}

/// A draft for which all releases have come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ready {
    pub(crate) draft: FrameId,
    pub(crate) put: Option<Put>,
    /// After which it begins.
    pub(crate) chain: Chain,
}

/// Spreads names, which are often numbers in a row, by one multiplication. Nobody asks for their order, so it decides nothing.
#[derive(Default)]
struct Spread(u64);

impl Hasher for Spread {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64((*byte).into()));
    }

    fn write_u64(&mut self, name: u64) {
        // An odd number near 2^64 divided by the golden ratio; the table takes its places from the low bits and from the high ones.
        self.0 = (self.0 ^ name)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(32);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// All names that are not done with.
#[derive(Default)]
pub(crate) struct Drafts {
    named: HashMap<u64, Named, BuildHasherDefault<Spread>>,
    waiting: usize,
}

impl Drafts {
    /// How many tasks wait.
    pub(crate) const fn waiting(&self) -> usize {
        self.waiting
    }

    /// A task that waits for so many releases; if all have come, it begins.
    pub(crate) fn draft(
        &mut self,
        name: u64,
        releases: u32,
        draft: FrameId,
        put: Option<Put>,
    ) -> Option<Ready> {
        if releases == 0 {
            let chain = Chain::default();
            return Some(Ready { draft, put, chain });
        }
        let mut named = self.named(name);
        debug_assert!(named.get().draft.is_none(), "two drafts are called {name}");
        named.get_mut().draft = Some((draft, put));
        named.get_mut().missing += i64::from(releases);
        let ready = ready(named);
        self.waiting += usize::from(ready.is_none());
        ready
    }

    /// A release, at the end of this chain. If it is the last one of a draft, that begins.
    pub(crate) fn release(&mut self, name: u64, chain: Chain) -> Option<Ready> {
        let mut named = self.named(name);
        named.get_mut().missing -= 1;
        named.get_mut().chain = named.get().chain.max(chain);
        let ready = ready(named);
        self.waiting -= usize::from(ready.is_some());
        ready
    }

    fn named(&mut self, name: u64) -> OccupiedEntry<'_, u64, Named> {
        match self.named.entry(name) {
            Entry::Occupied(named) => named,
            Entry::Vacant(free) => free.insert_entry(Named::default()),
        }
    }
}

/// The draft of this name, if it can begin.
fn ready(named: OccupiedEntry<'_, u64, Named>) -> Option<Ready> {
    let (draft, put) = named.get().draft.filter(|_| named.get().missing <= 0)?;
    let chain = named.remove().chain;
    Some(Ready { draft, put, chain })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(time: u64) -> Chain {
        Chain { time, actions: 0 }
    }

    fn ready(draft: FrameId, time: u64) -> Option<Ready> {
        Some(Ready {
            draft,
            put: None,
            chain: chain(time),
        })
    }

    #[test]
    fn a_draft_begins_with_its_last_release_after_the_longest_chain() {
        let mut drafts = Drafts::default();
        assert_eq!(drafts.draft(7, 2, 1, None), None);
        assert_eq!(drafts.release(7, chain(5)), None);
        assert_eq!(drafts.waiting(), 1);
        assert_eq!(drafts.release(7, chain(3)), ready(1, 5));
        assert_eq!(drafts.waiting(), 0);
    }

    #[test]
    fn releases_may_come_before_the_draft_and_a_draft_may_wait_for_none() {
        let mut drafts = Drafts::default();
        assert_eq!(drafts.release(7, chain(5)), None);
        assert_eq!(drafts.waiting(), 0);
        assert_eq!(drafts.draft(7, 1, 1, None), ready(1, 5));
        assert_eq!(drafts.draft(8, 0, 2, None), ready(2, 0));
    }
}
