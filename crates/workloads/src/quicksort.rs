//! Quicksort: a serial partition, then both sides in parallel, down to a cutoff.
//!
//! The partitions are serial and form the critical path, so parallelism is limited. A partition
//! reads memory sequentially. From Lukas Haselsteiner, Adaptive Work-Stealing Techniques (TU Wien,
//! 2015), section 3.6, which sorts 10^7 elements with a Gaussian distribution.
//!
//! The serial version and the parallel body share the partition and, below the cutoff, the standard
//! library's unstable sort; they differ only in the join.
//!
//! The program doesn't partition in parallel or guard against adversarial inputs; its own inputs
//! are random.

use std::io;

use crate::parameter::{Kind::Integer, named, positional, seed};
use crate::program::{Answer, Field, Program, answer, field, parameters};
use crate::runtime::Runtime;
use crate::steps::{self, random};

/// The program `quicksort`, which sorts an array in place.
#[derive(Clone, Copy, Debug)]
pub struct Quicksort {
    /// Number of elements.
    pub n: usize,
    /// Up to this many elements are sorted without recursion.
    pub cutoff: usize,
    /// The seed for the elements.
    pub seed: u64,
}

/// The array to sort, and a copy from which to restore it.
#[derive(Debug)]
pub struct Input {
    original: Vec<u32>,
    elements: Vec<u32>,
}

/// Generates elements with a Gaussian distribution. Each element is the mean of four uniform
/// numbers, as in David Helman, David Bader and Joseph JáJá, A Randomized Parallel Sorting
/// Algorithm with an Experimental Study, Journal of Parallel and Distributed Computing 52, 1998.
pub(crate) fn gaussian(n: usize, seed: u64) -> Vec<u32> {
    let halves = |x: u64| (x >> 32) + (x & u64::from(u32::MAX));
    (0..n as u64)
        .map(|i| (halves(random(seed, 2 * i)) + halves(random(seed, 2 * i + 1))) / 4)
        .map(|mean| mean as u32)
        .collect()
}

/// Sorts the elements serially. Up to `cutoff` elements are left to the standard library's sort.
pub fn serial(elements: &mut [u32], cutoff: usize) {
    if elements.len() <= cutoff {
        return elements.sort_unstable();
    }
    let (less, rest) = partition(elements);
    serial(less, cutoff);
    serial(rest, cutoff);
}

/// Sorts the elements with the parallel body; each partition is followed by a fork.
pub fn parallel<R: Runtime>(fork: &mut R::Fork<'_>, elements: &mut [u32], cutoff: usize) {
    if elements.len() <= cutoff {
        return elements.sort_unstable();
    }
    let (less, rest) = partition(elements);
    R::join(
        fork,
        move |fork| parallel::<R>(fork, less, cutoff),
        move |fork| parallel::<R>(fork, rest, cutoff),
    );
}

/// Partitions the elements around a pivot. Returns the elements less than the pivot and all other
/// elements, without the pivot itself.
///
/// This is Nico Lomuto's scheme (Jon Bentley, Programming Pearls, 1986, column 11) without a branch
/// on the comparison: every element is written to the border between the two sides, and the
/// comparison only decides whether the border moves. The first element is held back, so that each
/// step is a move rather than a swap.
pub(crate) fn partition(elements: &mut [u32]) -> (&mut [u32], &mut [u32]) {
    let last = elements.len() - 1;
    elements.swap(last, near_median(elements));
    let (pivot, others) = (elements[last], &mut elements[..last]);
    let Some(&first) = others.first() else {
        return (&mut [], &mut []);
    };
    let mut border = 0;
    for next in 1..others.len() {
        let element = others[next];
        others[next - 1] = others[border];
        others[border] = element;
        border += usize::from(element < pivot);
    }
    others[last - 1] = others[border];
    others[border] = first;
    border += usize::from(first < pivot);
    elements.swap(border, last);
    let (less, rest) = elements.split_at_mut(border);
    (less, &mut rest[1..])
}

/// Returns the index of an approximate median: the median of three medians of three elements each.
fn near_median(elements: &[u32]) -> usize {
    let step = elements.len() / 9;
    let median = |a: usize, b: usize, c: usize| {
        let mut three = [a, b, c];
        three.sort_unstable_by_key(|&index| elements[index]);
        three[1]
    };
    let of_third = |third: usize| {
        let start = 3 * third * step;
        median(start, start + step, start + 2 * step)
    };
    median(of_third(0), of_third(1), of_third(2))
}

/// Returns a checksum that depends on every element and its position.
pub(crate) fn checksum(elements: &[u32]) -> u64 {
    // One is added so that zeros affect the checksum.
    steps::checksum(elements.iter().map(|element| u64::from(*element) + 1))
}

/// The answer fields of the sorting programs.
pub(crate) const SORTED: &[Field] = &[
    field("sorted", "whether the output is sorted"),
    field("checksum", "hash of the elements"),
];

/// Returns the answer fields of [`SORTED`] for these elements.
pub(crate) fn sorted(elements: &[u32]) -> Answer {
    answer([
        ("sorted", elements.is_sorted().into()),
        ("checksum", checksum(elements).into()),
    ])
}

impl Program for Quicksort {
    const NAME: &'static str = "quicksort";
    const SUMMARY: &'static str = "quicksort with serial partitioning";
    parameters! {
        n = positional("n", Integer(0, 1 << 32), ["20000", "10000000", "10000000"],
            "number of 4-byte elements");
        cutoff = named("cutoff", Integer(1, 1 << 32), ["256", "2048", "2048"],
            "elements that are sorted without recursion");
        seed = seed("seed of the elements");
    }
    const RESULT: &'static [Field] = SORTED;

    type Input = Input;
    type Output = ();

    fn prepare(&self) -> io::Result<Input> {
        let original = gaussian(self.n, self.seed);
        let elements = original.clone();
        Ok(Input { original, elements })
    }

    fn reset(&self, input: &mut Input) {
        input.elements.copy_from_slice(&input.original);
    }

    fn serial(&self, input: &mut Input) {
        serial(&mut input.elements, self.cutoff);
    }

    fn parallel<R: Runtime>(&self, input: &mut Input, fork: &mut R::Fork<'_>) {
        parallel::<R>(fork, &mut input.elements, self.cutoff);
    }

    fn answer(&self, input: &Input, (): &()) -> Answer {
        sorted(&input.elements)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_data_is_sorted() {
        for n in 0..200 {
            let kinds = [
                gaussian(n, 3),
                vec![5; n],
                (0..n as u32).collect(),
                (0..n as u32).rev().collect(),
                (0..n as u32).map(|i| i % 3).collect(),
            ];
            for mut elements in kinds {
                let mut expected = elements.clone();
                expected.sort_unstable();
                serial(&mut elements, 1);
                assert_eq!(elements, expected);
            }
        }
    }

    /// Each element is the mean of four uniform numbers, so the elements have the mean 1/2 and the
    /// variance 1/48.
    #[test]
    fn gaussian_data_has_expected_spread() {
        let data = gaussian(100_000, 1);
        let unit = |x: u32| f64::from(x) / (f64::from(u32::MAX) + 1.0);
        let mean = data.iter().map(|&x| unit(x)).sum::<f64>() / 1e5;
        let variance = data.iter().map(|&x| (unit(x) - 0.5).powi(2)).sum::<f64>() / 1e5;
        assert!((mean - 0.5).abs() < 0.002, "{mean}");
        assert!((variance - 1.0 / 48.0).abs() < 0.0005, "{variance}");
    }

    #[test]
    fn the_checksum_tells_two_orders_apart() {
        assert_ne!(checksum(&[1, 2]), checksum(&[2, 1]));
    }
}
