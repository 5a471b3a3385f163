//! Tasks that wait to be released, by their names.
//!
//! A count may be below none: releases may come before the draft.

use crate::chain::Chain;
use crate::frames::FrameId;
use std::collections::BTreeMap;

/// A name that was drafted, released, or both.
#[derive(Default)]
struct Named {
    /// How many releases are missing, as far as is known.
    missing: i64,
    /// The longest chain to any of those that came.
    chain: Chain,
    draft: Option<FrameId>,
}

/// All names that are not done with.
#[derive(Default)]
pub(crate) struct Drafts {
    named: BTreeMap<u64, Named>,
    waiting: usize,
}

impl Drafts {
    /// How many tasks wait.
    pub(crate) const fn waiting(&self) -> usize {
        self.waiting
    }

    /// A task that waits for so many releases. If all have come, it begins after this chain.
    pub(crate) fn draft(&mut self, name: u64, releases: u32, id: FrameId) -> Option<Chain> {
        let named = self.named.entry(name).or_default();
        debug_assert!(named.draft.is_none(), "two drafts have the name {name}");
        named.draft = Some(id);
        named.missing += i64::from(releases);
        self.waiting += 1;
        self.begin(name).map(|(_, chain)| chain)
    }

    /// A release, at the end of this chain. If it is the last one of a draft, that begins.
    pub(crate) fn release(&mut self, name: u64, chain: Chain) -> Option<(FrameId, Chain)> {
        let named = self.named.entry(name).or_default();
        named.missing -= 1;
        named.chain = named.chain.max(chain);
        self.begin(name)
    }

    fn begin(&mut self, name: u64) -> Option<(FrameId, Chain)> {
        let named = self.named.get(&name)?;
        let draft = named.draft.filter(|_| named.missing <= 0)?;
        let chain = named.chain;
        self.named.remove(&name);
        self.waiting -= 1;
        Some((draft, chain))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(time: u64) -> Chain {
        Chain { time, actions: 0 }
    }

    #[test]
    fn a_draft_begins_with_its_last_release_after_the_longest_chain() {
        let mut drafts = Drafts::default();
        assert_eq!(drafts.draft(7, 2, 1), None);
        assert_eq!(drafts.release(7, chain(5)), None);
        assert_eq!(drafts.waiting(), 1);
        assert_eq!(drafts.release(7, chain(3)), Some((1, chain(5))));
        assert_eq!(drafts.waiting(), 0);
    }

    #[test]
    fn releases_may_come_before_the_draft_and_a_draft_may_wait_for_none() {
        let mut drafts = Drafts::default();
        assert_eq!(drafts.release(7, chain(5)), None);
        assert_eq!(drafts.waiting(), 0);
        assert_eq!(drafts.draft(7, 1, 1), Some(chain(5)));
        assert_eq!(drafts.draft(8, 0, 2), Some(chain(0)));
    }
}
