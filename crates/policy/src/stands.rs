//! Where the holders of slots stand.
//!
//! A *stand* is a position on the machine for one running thread, and lies in one or more *groups* of stands: places, and places of
//! places. Who gets a slot gets a stand, and leaves it with the slot; so a place has as many workers as it has processors, whichever threads
//! those are (docs/places.md). [`Ledger`](crate::slots::Ledger) calls the verbs; this module chooses among the stands that are free.
//!
//! It knows nothing of caches and CPUs, and binds nobody.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

/// Who stands where; see the module.
///
/// ```
/// use tidegate_policy::Stands;
///
/// // Two places of two stands each, and the group of all.
/// let mut stands = Stands::new(&[vec![0, 1], vec![2, 3], vec![0, 1, 2, 3]]);
/// stands.take(7, Some(1));
/// assert_eq!(stands.at(7), Some(2));
/// stands.leave(7);
/// stands.take(7, None);
/// assert_eq!(stands.at(7), Some(2), "the one that it had last");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Stands {
    groups: Box<[Box<[usize]>]>,
    /// The smallest group of each stand.
    leaf: Box<[usize]>,
    taken: Box<[bool]>,
    threads: Vec<Thread>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Thread {
    at: Option<usize>,
    last: Option<usize>,
    /// It takes none: it belongs to somebody else and goes where it likes.
    roams: bool,
}

impl Stands {
    /// All stands free. Each group is a list of stands `0..n`; the last group holds all of them, and of two groups with a common stand
    /// the one that comes first lies in the other.
    #[must_use]
    pub fn new(groups: &[Vec<usize>]) -> Self {
        let count = groups.last().map_or(0, Vec::len);
        let leaf_of = |stand| groups.iter().position(|group| group.contains(&stand));
        Self {
            groups: groups.iter().map(|group| group.clone().into()).collect(),
            leaf: (0..count).map(|s| leaf_of(s).unwrap_or(0)).collect(),
            taken: vec![false; count].into(),
            threads: Vec::new(),
        }
    }

    /// Where thread `t` stands.
    #[must_use]
    pub fn at(&self, t: usize) -> Option<usize> {
        self.threads.get(t)?.at
    }

    /// Whether thread `t` has stood in `group` last, or stands there.
    #[must_use]
    pub fn was_in(&self, t: usize, group: usize) -> bool {
        let last = self.threads.get(t).and_then(|thread| thread.last);
        last.is_some_and(|stand| self.groups[group].contains(&stand))
    }

    /// Whether a stand of `group` is free.
    #[must_use]
    pub fn has_free_in(&self, group: usize) -> bool {
        self.free_in(group).is_some()
    }

    fn free_in(&self, group: usize) -> Option<usize> {
        let mut stands = self.groups.get(group)?.iter().copied();
        stands.find(|stand| !self.taken[*stand])
    }

    /// Thread `t`, which has no stand, gets one if there is any: in the group `wanted` if that has one, the one that it had last, or one near
    /// that.
    pub fn take(&mut self, t: usize, wanted: Option<usize>) {
        if self.taken.is_empty() || self.thread(t).roams {
            return;
        }
        let last = self.threads[t].last;
        let fits = |group| self.was_in(t, group);
        let again = last.filter(|stand| !self.taken[*stand] && wanted.is_none_or(fits));
        let near = || self.free_in(self.leaf[last?]);
        let any = || self.free_in(self.groups.len() - 1);
        let stand = again
            .or_else(|| self.free_in(wanted?))
            .or_else(near)
            .or_else(any);
        self.set(t, stand);
    }

    fn thread(&mut self, t: usize) -> &mut Thread {
        if self.threads.len() <= t {
            self.threads.resize(t + 1, Thread::default());
        }
        &mut self.threads[t]
    }

    /// Whether thread `t` has no stand with its slots, see [`set_roaming`](Self::set_roaming).
    #[must_use]
    pub fn is_roaming(&self, t: usize) -> bool {
        self.threads.get(t).is_some_and(|thread| thread.roams)
    }

    /// Whether thread `t` is to have no stand from now on.
    pub fn set_roaming(&mut self, t: usize, roams: bool) {
        if roams {
            self.leave(t);
        }
        self.thread(t).roams = roams;
    }

    /// Thread `t` leaves its stand, if it has one.
    pub fn leave(&mut self, t: usize) {
        if let Some(stand) = self.at(t) {
            self.taken[stand] = false;
            self.threads[t].at = None;
        }
    }

    /// Thread `t`, which has no stand, gets one in place of `giver`.
    pub fn pass(&mut self, giver: usize, t: usize) {
        self.leave(giver);
        self.take(t, None);
    }

    /// Thread `t` goes to a free stand of `group`. Whether there was one for it.
    pub fn move_to(&mut self, t: usize, group: usize) -> bool {
        let roams = self.thread(t).roams;
        let Some(stand) = self.free_in(group).filter(|_| !roams) else {
            return false;
        };
        self.leave(t);
        self.set(t, Some(stand));
        true
    }

    fn set(&mut self, t: usize, stand: Option<usize>) {
        if let Some(stand) = stand {
            self.taken[stand] = true;
            let thread = &mut self.threads[t];
            (thread.at, thread.last) = (Some(stand), Some(stand));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_pairs() -> Stands {
        Stands::new(&[vec![0, 1], vec![2, 3], vec![0, 1, 2, 3]])
    }

    #[test]
    fn who_comes_back_stands_where_it_stood_or_near_by() {
        let mut stands = two_pairs();
        for t in 0..4 {
            stands.take(t, None);
        }
        assert_eq!([0, 1, 2, 3].map(|t| stands.at(t)), [0, 1, 2, 3].map(Some));
        (0..4).for_each(|t| stands.leave(t));
        stands.take(3, None);
        assert_eq!(stands.at(3), Some(3));
        stands.leave(3);
        stands.take(4, Some(1));
        stands.take(2, None);
        assert_eq!(
            (stands.at(4), stands.at(2)),
            (Some(2), Some(3)),
            "the other one of the pair"
        );
    }

    #[test]
    fn who_finds_no_stand_where_it_is_wanted_gets_another() {
        let mut stands = two_pairs();
        for t in 0..3 {
            stands.take(t, Some(0));
        }
        assert_eq!(stands.at(2), Some(2));
        assert!(!stands.has_free_in(0) && stands.has_free_in(1) && stands.has_free_in(2));
        stands.take(3, None);
        stands.take(4, None);
        assert_eq!((stands.at(3), stands.at(4)), (Some(3), None));
    }

    #[test]
    fn a_stand_is_handed_on_when_no_other_is_free() {
        let mut stands = two_pairs();
        (0..4).for_each(|t| stands.take(t, None));
        stands.pass(1, 9);
        assert_eq!((stands.at(1), stands.at(9)), (None, Some(1)));
        assert!(!stands.move_to(9, 1));
        stands.leave(3);
        assert!(stands.move_to(9, 1));
        assert_eq!(stands.at(9), Some(3));
        assert!(stands.has_free_in(0));
    }

    #[test]
    fn who_roams_takes_no_stand() {
        let mut stands = two_pairs();
        stands.set_roaming(5, true);
        stands.take(5, Some(0));
        assert!(stands.at(5).is_none() && !stands.move_to(5, 1));
        stands.take(0, None);
        stands.pass(0, 5);
        assert_eq!((stands.at(0), stands.at(5)), (None, None));
        stands.set_roaming(5, false);
        stands.take(5, Some(1));
        assert_eq!(stands.at(5), Some(2));
    }

    #[test]
    fn without_stands_nobody_stands_anywhere() {
        let mut stands = Stands::default();
        stands.take(0, None);
        stands.leave(0);
        stands.pass(0, 1);
        assert_eq!((stands.at(0), stands.at(1)), (None, None));
    }
}
