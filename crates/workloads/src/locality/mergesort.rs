//! Bottom-up merge sort: many sorters of small arrays, and a tree of mergers that each merge two
//! arrays.
//!
//! A sorter generates its array and sorts it with the standard library. A merger merges the arrays
//! of its two predecessors when both are done. With `best`, a merger runs in the place of its left
//! predecessor, and the sorters are divided among the places in array order; with `worst`, every
//! merger runs in a different place from its left predecessor. From Weibel 2010, section 5.3.2,
//! where 65,536 sorters sort 4,194,304 integers.
//!
//! The serial version and the parallel body share the sorter and the merger. The serial version
//! runs them recursively, so a merger finds its arrays in the cache.
//!
//! The program doesn't merge in parallel, so the last mergers have little parallelism. It doesn't
//! save memory either: each array is a separate vector.

use std::sync::{Mutex, PoisonError};

use super::{Hints, Locality};
use crate::parameter::{Kind::Integer, ParameterError, named, positional};
use crate::program::{Answer, Field, Program, parameters, without_input};
use crate::quicksort::{SORTED, sorted};
use crate::runtime::Runtime;
use crate::steps::random;

/// The program `mergesort`, which sorts an array bottom-up.
#[derive(Clone, Copy, Debug)]
pub struct Mergesort {
    /// Number of elements.
    pub n: usize,
    /// Number of sorters, a power of two.
    pub sorters: usize,
    /// The seed for the elements.
    pub seed: u64,
    /// Where a merger runs relative to its left predecessor.
    pub locality: Locality,
}

impl Mergesort {
    /// Generates and sorts the array of a sorter.
    fn sorted(&self, sorter: usize) -> Vec<u32> {
        let start = |sorter| sorter * self.n / self.sorters;
        let range = start(sorter) as u64..start(sorter + 1) as u64;
        let mut elements: Vec<_> = range.map(|i| random(self.seed, i) as u32).collect();
        elements.sort_unstable();
        elements
    }

    /// Computes the sorted array of a node recursively; [`Tree`] describes how nodes are numbered.
    fn below(&self, node: usize) -> Vec<u32> {
        if node >= self.sorters {
            return self.sorted(node - self.sorters);
        }
        merge(&self.below(2 * node), &self.below(2 * node + 1))
    }
}

fn merge(left: &[u32], right: &[u32]) -> Vec<u32> {
    let mut merged = Vec::with_capacity(left.len() + right.len());
    let (mut l, mut r) = (0, 0);
    while l < left.len() && r < right.len() {
        // The comparison does not branch, because the branch would be unpredictable.
        let from_left = left[l] <= right[r];
        merged.push(if from_left { left[l] } else { right[r] });
        l += usize::from(from_left);
        r += usize::from(!from_left);
    }
    merged.extend_from_slice(&left[l..]);
    merged.extend_from_slice(&right[r..]);
    merged
}

/// The data that the tasks of a parallel run share. Nodes are numbered as in a heap: the root is 1,
/// the nodes below `i` are `2i` and `2i + 1`, and the sorters come last.
struct Tree<'a> {
    program: &'a Mergesort,
    hints: Hints,
    /// For each node, the array of the predecessor that finished first. Element 0 receives the
    /// root's array.
    arrays: Vec<Mutex<Option<Vec<u32>>>>,
}

impl<'a> Tree<'a> {
    fn new<R: Runtime>(program: &'a Mergesort) -> Self {
        Self {
            program,
            hints: Hints::new::<R>(program.locality, program.seed),
            arrays: (0..program.sorters).map(|_| Mutex::default()).collect(),
        }
    }

    /// If the other predecessor of `node` has already stored its array, removes that array and
    /// returns both. Otherwise stores `array` for the other predecessor. No code panics while it
    /// holds the lock.
    fn exchange(&self, node: usize, array: Vec<u32>) -> Option<(Vec<u32>, Vec<u32>)> {
        let slot = &self.arrays[node];
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        match slot.take() {
            None => {
                *slot = Some(array);
                None
            }
            Some(other) => Some((other, array)),
        }
    }

    fn spawn<'scope, R: Runtime>(
        &'scope self,
        scope: &R::Scope<'scope>,
        node: usize,
        array: impl FnOnce() -> Vec<u32> + Send + 'scope,
    ) {
        let body = move |scope: &R::Scope<'scope>| self.climb::<R>(scope, node, array());
        Hints::spawn::<R>(scope, self.place(node), body);
    }

    fn place(&self, node: usize) -> Option<tidegate::PlaceId> {
        let sorters = self.program.sorters;
        let height = sorters.ilog2() - node.ilog2();
        // A merger gets the place of the leftmost sorter below it, shifted by the merger's height
        // with `worst`.
        let sorter = (node << height) - sorters;
        self.hints.place((sorter, sorters), height as usize, node)
    }

    /// Climbs the tree from a node whose array is ready: runs each successor whose other
    /// predecessor is also done.
    fn climb<'scope, R: Runtime>(
        &'scope self,
        scope: &R::Scope<'scope>,
        mut node: usize,
        mut array: Vec<u32>,
    ) {
        while let Some((other, own)) = self.exchange(node / 2, array) {
            node /= 2;
            if !Hints::is_here::<R>(self.place(node)) {
                return self.spawn::<R>(scope, node, move || merge(&other, &own));
            }
            array = merge(&other, &own);
        }
    }
}

impl Program for Mergesort {
    const NAME: &'static str = "mergesort";
    const SUMMARY: &'static str = "bottom-up merge sort, one task per array";
    parameters! {
        n = positional("n", Integer(0, 1 << 30), ["20000", "4194304", "4194304"],
            "number of 4-byte elements");
        sorters = named("sorters", Integer(1, 1 << 24), ["32", "65536", "65536"],
            "small arrays that are sorted and then merged, a power of two");
        locality = Locality::PARAMETER;
        seed = Locality::SEED;
    }
    const RESULT: &'static [Field] = SORTED;
    const SPAWNS: bool = true;

    without_input! {}
    type Output = Vec<u32>;

    fn check(&self) -> Result<(), ParameterError> {
        ParameterError::unless_power_of_two(self.sorters, "sorters")
    }

    fn serial(&self, (): &mut ()) -> Vec<u32> {
        self.below(1)
    }

    fn parallel<R: Runtime>(&self, (): &mut (), _: &mut R::Fork<'_>) -> Vec<u32> {
        let tree = Tree::new::<R>(self);
        R::scope(|scope| {
            for sorter in 0..self.sorters {
                tree.spawn::<R>(scope, self.sorters + sorter, move || self.sorted(sorter));
            }
        });
        let root = tree.arrays.into_iter().next().expect("there is a sorter");
        let root = root.into_inner().unwrap_or_else(PoisonError::into_inner);
        root.expect("the root is done when the scope is")
    }

    fn fits<R: Runtime>(&self, runtime: &R) -> Result<(), ParameterError> {
        self.locality.fits(runtime)
    }

    fn answer(&self, (): &(), elements: &Vec<u32>) -> Answer {
        sorted(elements)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merging_arrays_matches_standard_library() {
        for (left, right) in [(0, 0), (0, 3), (5, 0), (1, 1), (7, 40)] {
            let array = |n: u64, seed| {
                let mut array: Vec<_> = (0..n).map(|i| random(seed, i) as u32 % 16).collect();
                array.sort_unstable();
                array
            };
            let (left, right) = (array(left, 1), array(right, 2));
            let mut expected = [&left[..], &right[..]].concat();
            expected.sort_unstable();
            assert_eq!(merge(&left, &right), expected);
        }
    }

    #[test]
    fn serial_sorts_with_any_sorter_count() {
        for (n, sorters) in [(0, 1), (1, 4), (1000, 1), (1001, 8)] {
            let program = Mergesort {
                n,
                sorters,
                seed: 3,
                locality: Locality::Ignorant,
            };
            let mut expected: Vec<_> = (0..n as u64).map(|i| random(3, i) as u32).collect();
            expected.sort_unstable();
            assert_eq!(program.serial(&mut ()), expected);
        }
    }
}
