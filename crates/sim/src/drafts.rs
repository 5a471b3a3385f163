//! Tasks that wait to be released by name.
//!
//! Releases may come before the draft, so the number of missing releases may be negative.

use crate::chain::Chain;
use crate::dag::Put;
use crate::frames::FrameId;
use std::collections::HashMap;
use std::collections::hash_map::{Entry, OccupiedEntry};
use std::hash::{BuildHasherDefault, Hasher};

/// A name that has been drafted, released, or both.
#[derive(Default)]
struct Named {
    /// The number of missing releases. It is negative if releases came before the draft.
    missing: i64,
    /// The longest chain to any release of this name so far.
    chain: Chain,
    draft: Option<(FrameId, Option<Put>)>,
}

/// A draft that has received all its releases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ready {
    pub(crate) draft: FrameId,
    pub(crate) put: Option<Put>,
    /// The longest chain to any of the draft's releases.
    pub(crate) chain: Chain,
}

/// Hashes names, which are often consecutive numbers, with one multiplication. Nothing depends on
/// the order of names in the table, so the hash does not influence the run.
#[derive(Default)]
struct Spread(u64);

impl Hasher for Spread {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64((*byte).into()));
    }

    fn write_u64(&mut self, name: u64) {
        // The factor is an odd number near 2^64 divided by the golden ratio. The rotation is needed
        // because the table uses both the low and the high bits.
        self.0 = (self.0 ^ name)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(32);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// Drafts that wait for releases, and releases of names that have not been drafted yet.
#[derive(Default)]
pub(crate) struct Drafts {
    named: HashMap<u64, Named, BuildHasherDefault<Spread>>,
    waiting: usize,
}

impl Drafts {
    pub(crate) const fn waiting(&self) -> usize {
        self.waiting
    }

    /// Adds a task that waits for `releases` releases. Returns the task if it has already received
    /// all of them.
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

    /// Releases `name` once, at the end of `chain`. Returns the draft if this was its last missing
    /// release.
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

/// Removes and returns this draft if it can begin.
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

    /// The draft gets the longest chain to any of its releases.
    #[test]
    fn last_release_starts_pending_task() {
        let mut drafts = Drafts::default();
        assert_eq!(drafts.draft(7, 2, 1, None), None);
        assert_eq!(drafts.release(7, chain(5)), None);
        assert_eq!(drafts.waiting(), 1);
        assert_eq!(drafts.release(7, chain(3)), ready(1, 5));
        assert_eq!(drafts.waiting(), 0);
    }

    /// All releases may come before the draft, or the draft may need none.
    #[test]
    fn pending_task_may_be_ready_immediately() {
        let mut drafts = Drafts::default();
        assert_eq!(drafts.release(7, chain(5)), None);
        assert_eq!(drafts.waiting(), 0);
        assert_eq!(drafts.draft(7, 1, 1, None), ready(1, 5));
        assert_eq!(drafts.draft(8, 0, 2, None), ready(2, 0));
    }
}
