//! How many candidates are at each distance from a thief, and which, without a look at every worker.
//!
//! Workers are put in the order of the [`PlaceTree`], in which the members of every group stand side by side. A tree of partial sums over that order (Peter
//! Fenwick, "A new data structure for cumulative frequency tables", Software: Practice and Experience 24(3), 1994) counts the candidates of a group, and finds the
//! n-th of them, in steps as many as the number of workers has bits.
//!
//! It is worth its upkeep where there are thousands of workers, as in a simulator. It says of no worker whether it has work.

use crate::places::PlaceTree;
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

/// The workers in the order of a tree.
#[derive(Clone, Debug)]
pub struct PlaceOrder {
    /// Who stands where.
    workers: Box<[u32]>,
    /// Where each worker stands.
    places: Box<[u32]>,
    /// For each distance but the largest, from 1 on, the group that each place lies in.
    groups: Box<[Box<[Range<u32>]>]>,
}

impl PlaceOrder {
    /// The order of the workers `0..workers`. Those that the tree does not know come last.
    #[must_use]
    pub fn new(tree: &PlaceTree, workers: usize) -> Self {
        let levels = tree.levels();
        let group = |level: &[usize], worker: usize| level.get(worker).copied().unwrap_or(worker);
        let mut order: Vec<u32> = (0..workers as u32).collect();
        order.sort_by_key(|&worker| {
            let path = levels.iter().rev();
            let path = path.map(|level| group(level, worker as usize));
            path.collect::<Vec<_>>()
        });
        let mut places = vec![0; workers];
        for (place, &worker) in order.iter().enumerate() {
            places[worker as usize] = place as u32;
        }
        let groups = levels.iter().map(|level| {
            let same = |&a: &u32, &b: &u32| group(level, a as usize) == group(level, b as usize);
            let mut ranges = Vec::with_capacity(workers);
            for members in order.chunk_by(same) {
                let first = ranges.len() as u32;
                let range = first..first + members.len() as u32;
                ranges.extend(members.iter().map(|_| range.clone()));
            }
            ranges.into()
        });
        Self {
            groups: groups.collect(),
            workers: order.into(),
            places: places.into(),
        }
    }

    /// The largest distance.
    const fn height(&self) -> u32 {
        self.groups.len() as u32 + 1
    }

    /// The places of those that are no further from `worker`.
    fn within(&self, worker: usize, distance: u32) -> Range<u32> {
        if distance >= self.height() {
            return 0..self.workers.len() as u32;
        }
        match (self.places.get(worker), distance) {
            (None, _) => 0..0,
            (Some(&place), 0) => place..place + 1,
            (Some(&place), _) => self.groups[distance as usize - 1][place as usize].clone(),
        }
    }
}

/// Which workers are candidates.
#[derive(Clone, Debug)]
pub struct Candidates {
    /// By number, 64 to a word.
    words: Box<[u64]>,
    /// Partial sums over places, from 1 on.
    sums: Box<[u32]>,
}

impl Candidates {
    /// None of so many workers.
    #[must_use]
    pub fn none(workers: usize) -> Self {
        Self {
            words: vec![0; workers.div_ceil(64)].into(),
            sums: vec![0; workers + 1].into(),
        }
    }

    /// Says whether `worker` is a candidate.
    ///
    /// # Panics
    /// If there is no such worker.
    pub fn set(&mut self, order: &PlaceOrder, worker: usize, is: bool) {
        let bit = 1 << (worker % 64);
        let word = &mut self.words[worker / 64];
        if (*word & bit != 0) == is {
            return;
        }
        *word ^= bit;
        let mut place = order.places[worker] as usize + 1;
        while place < self.sums.len() {
            let sum = &mut self.sums[place];
            *sum = if is { *sum + 1 } else { *sum - 1 };
            place += place & place.wrapping_neg();
        }
    }

    fn contains(&self, worker: usize) -> bool {
        let word = self.words.get(worker / 64);
        word.is_some_and(|word| word >> (worker % 64) & 1 != 0)
    }

    /// How many stand before this place.
    fn before(&self, place: u32) -> usize {
        let (mut place, mut sum) = (place as usize, 0);
        while place > 0 {
            sum += self.sums[place] as usize;
            place &= place - 1;
        }
        sum
    }

    /// The place behind which so many stand, and no more.
    fn place_of(&self, nth: usize) -> usize {
        let (mut place, mut left) = (0, nth);
        let mut step = self.sums.len().next_power_of_two();
        while step > 0 {
            let further = place + step;
            if further < self.sums.len() && self.sums[further] as usize <= left {
                left -= self.sums[further] as usize;
                place = further;
            }
            step /= 2;
        }
        place
    }
}

/// The candidates, in the order in which they stand.
#[derive(Clone, Copy, Debug)]
pub struct Census<'a> {
    /// The order of the workers.
    pub order: &'a PlaceOrder,
    /// Those that are candidates.
    pub candidates: &'a Candidates,
}

impl Census<'_> {
    /// The candidates that are no further from `thief`, as numbers among all.
    fn within(&self, thief: usize, distance: u32) -> Range<usize> {
        let places = self.order.within(thief, distance);
        self.candidates.before(places.start)..self.candidates.before(places.end)
    }

    /// The smallest distance from `thief` that is larger than `distance` and at which there are candidates other than `asked`, and how many.
    pub(super) fn beyond(
        &self,
        thief: usize,
        distance: u32,
        asked: Option<usize>,
    ) -> Option<(u32, usize)> {
        let mut nearer = self.within(thief, distance).len();
        for further in distance + 1..=self.order.height() {
            let all = self.within(thief, further).len();
            let passed = asked.and_then(|asked| self.rank(thief, further, asked));
            let candidates = all - nearer - usize::from(passed.is_some());
            if candidates > 0 {
                return Some((further, candidates));
            }
            nearer = all;
        }
        None
    }

    /// The `nth` candidate at this distance from `thief`, other than `asked`, from 0 on. There must be so many.
    pub(super) fn nth(
        &self,
        thief: usize,
        distance: u32,
        asked: Option<usize>,
        nth: usize,
    ) -> usize {
        let passed = asked.and_then(|asked| self.rank(thief, distance, asked));
        let nth = nth + usize::from(passed.is_some_and(|passed| nth >= passed));
        let nearer = self.within(thief, distance - 1);
        let mut among_all = self.within(thief, distance).start + nth;
        if among_all >= nearer.start {
            among_all += nearer.len();
        }
        self.order.workers[self.candidates.place_of(among_all)] as usize
    }

    /// Which of the candidates at this distance `worker` is, if it is one of them.
    fn rank(&self, thief: usize, distance: u32, worker: usize) -> Option<usize> {
        let place = *self.order.places.get(worker)?;
        let is_there = self.candidates.contains(worker)
            && self.order.within(thief, distance).contains(&place)
            && !self.order.within(thief, distance - 1).contains(&place);
        let before = || {
            let among_all = self.candidates.before(place);
            let nearer = self.within(thief, distance - 1);
            let passed = if among_all >= nearer.start {
                nearer.len()
            } else {
                0
            };
            among_all - self.within(thief, distance).start - passed
        };
        is_there.then(before)
    }

    /// The first candidate from this number on.
    pub(super) fn first_from(&self, worker: usize) -> Option<usize> {
        let words = &self.candidates.words;
        let mut word = words.get(worker / 64)? & (u64::MAX << (worker % 64));
        for number in worker / 64.. {
            if word != 0 {
                return Some(64 * number + word.trailing_zeros() as usize);
            }
            word = *words.get(number + 1)?;
        }
        None
    }
}
