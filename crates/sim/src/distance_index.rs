//! An index of the candidates by their distance from a thief.
//!
//! The index counts the candidates at a given distance, and finds the k-th of them, without looking
//! at every worker. It sorts the workers in the order of the [`PlaceTree`], so that the members of
//! each group are adjacent. A Fenwick tree over that order (Peter Fenwick, "A new data structure
//! for cumulative frequency tables", Software: Practice and Experience 24(3), 1994) counts the
//! candidates of a group and finds the k-th of them in O(log n) steps for n workers.
//! The index does not know which workers have work.

use std::ops::Range;
use tidegate_policy::{Census, PlaceTree};

/// The workers, sorted so that the members of each group of a [`PlaceTree`] are adjacent.
#[derive(Clone, Debug)]
pub struct PlaceOrder {
    /// The worker at each position.
    workers: Box<[u32]>,
    /// The position of each worker.
    positions: Box<[u32]>,
    /// `groups[d - 1][p]` is the range of positions within distance `d` of the worker at position
    /// `p`. For the largest distance, that is the range of all positions, so it isn't stored.
    groups: Box<[Box<[Range<u32>]>]>,
}

impl PlaceOrder {
    /// Creates the order of the workers `0..workers`. Workers that are not in the tree come last.
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
        let mut positions = vec![0; workers];
        for (position, &worker) in order.iter().enumerate() {
            positions[worker as usize] = position as u32;
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
            positions: positions.into(),
        }
    }

    const fn height(&self) -> u32 {
        self.groups.len() as u32 + 1
    }

    /// Returns the positions of the workers at a distance of at most `distance` from `worker`.
    fn within(&self, worker: usize, distance: u32) -> Range<u32> {
        if distance >= self.height() {
            return 0..self.workers.len() as u32;
        }
        match (self.positions.get(worker), distance) {
            (None, _) => 0..0,
            (Some(&position), 0) => position..position + 1,
            (Some(&position), _) => self.groups[distance as usize - 1][position as usize].clone(),
        }
    }
}

/// The set of workers that may currently be victims.
#[derive(Clone, Debug)]
pub struct Candidates {
    /// One bit for each worker, 64 in a word; set if the worker is a candidate.
    words: Box<[u64]>,
    /// The nodes of the Fenwick tree over the positions, starting at index 1.
    sums: Box<[u32]>,
}

impl Candidates {
    /// Creates an empty set of candidates among `workers` workers.
    #[must_use]
    pub fn none(workers: usize) -> Self {
        Self {
            words: vec![0; workers.div_ceil(64)].into(),
            sums: vec![0; workers + 1].into(),
        }
    }

    /// Sets whether `worker` is a candidate.
    ///
    /// # Panics
    /// Panics if there is no such worker.
    pub fn set(&mut self, order: &PlaceOrder, worker: usize, is: bool) {
        let bit = 1 << (worker % 64);
        let word = &mut self.words[worker / 64];
        if (*word & bit != 0) == is {
            return;
        }
        *word ^= bit;
        let mut position = order.positions[worker] as usize + 1;
        while position < self.sums.len() {
            let sum = &mut self.sums[position];
            *sum = if is { *sum + 1 } else { *sum - 1 };
            position += position & position.wrapping_neg();
        }
    }

    fn contains(&self, worker: usize) -> bool {
        let word = self.words.get(worker / 64);
        word.is_some_and(|word| word >> (worker % 64) & 1 != 0)
    }

    /// Returns the number of candidates before this position.
    fn before(&self, position: u32) -> usize {
        let (mut position, mut sum) = (position as usize, 0);
        while position > 0 {
            sum += self.sums[position] as usize;
            position &= position - 1;
        }
        sum
    }

    /// Returns the position of the `nth` candidate, counted from 0.
    fn place_of(&self, nth: usize) -> usize {
        let (mut position, mut left) = (0, nth);
        let mut step = self.sums.len().next_power_of_two();
        while step > 0 {
            let further = position + step;
            if further < self.sums.len() && self.sums[further] as usize <= left {
                left -= self.sums[further] as usize;
                position = further;
            }
            step /= 2;
        }
        position
    }
}

/// The candidates and the order of the workers, which together answer queries by distance.
#[derive(Clone, Copy, Debug)]
pub struct DistanceIndex<'a> {
    /// The order of the workers.
    pub order: &'a PlaceOrder,
    /// Which of these workers are candidates.
    pub candidates: &'a Candidates,
}

impl DistanceIndex<'_> {
    /// Returns the candidates at a distance of at most `distance` from `thief`, as a range of ranks
    /// among all candidates.
    fn within(&self, thief: usize, distance: u32) -> Range<usize> {
        let positions = self.order.within(thief, distance);
        self.candidates.before(positions.start)..self.candidates.before(positions.end)
    }

    /// Returns the rank of `worker` among the candidates at this distance, or `None` if it is not
    /// one of them.
    fn rank(&self, thief: usize, distance: u32, worker: usize) -> Option<usize> {
        let position = *self.order.positions.get(worker)?;
        let is_there = self.candidates.contains(worker)
            && self.order.within(thief, distance).contains(&position)
            && !self.order.within(thief, distance - 1).contains(&position);
        let before = || {
            let among_all = self.candidates.before(position);
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
}

impl Census for DistanceIndex<'_> {
    fn beyond(&self, thief: usize, distance: u32, asked: Option<usize>) -> Option<(u32, usize)> {
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

    fn nth(&self, thief: usize, distance: u32, asked: Option<usize>, nth: usize) -> usize {
        let passed = asked.and_then(|asked| self.rank(thief, distance, asked));
        let nth = nth + usize::from(passed.is_some_and(|passed| nth >= passed));
        let nearer = self.within(thief, distance - 1);
        let mut among_all = self.within(thief, distance).start + nth;
        if among_all >= nearer.start {
            among_all += nearer.len();
        }
        self.order.workers[self.candidates.place_of(among_all)] as usize
    }

    fn first_from(&self, worker: usize) -> Option<usize> {
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
