//! Prefix sums in two passes over blocks: each element becomes the sum of itself and all earlier
//! elements.
//!
//! The first pass sums each block and combines the sums up a tree. The second pass goes down the
//! tree and passes each block the sum of all elements before it, from which the prefix sums in the
//! block are computed (Guy Blelloch, Prefix Sums and Their Applications, 1990, section 1.2). From
//! Lukas Haselsteiner, Adaptive Work-Stealing Techniques (TU Wien, 2015), section 3.6, where there
//! are 10^8 elements.
//!
//! The serial version needs one pass with one addition per element, so the parallel body does twice
//! the work. The program spends more time waiting for memory than computing.
//!
//! A block doesn't stay in a cache between the passes.

use std::io;

use crate::parameter::{Kind::Integer, named, positional, seed};
use crate::program::{Program, parameters, result};
use crate::runtime::Runtime;
use crate::steps::{checksum, random};

/// The program `prefixsum`, which computes prefix sums in two passes.
#[derive(Clone, Copy, Debug)]
pub struct Prefixsum {
    /// Number of elements.
    pub n: usize,
    /// Elements per block.
    pub block: usize,
    /// The seed for the elements.
    pub seed: u64,
}

/// Replaces the elements of an array or block by their prefix sums. `before` is the sum of all
/// elements before the array or block. Sums are modulo 2^64.
fn serial(elements: &mut [u64], before: u64) {
    let mut sum = before;
    for element in elements {
        sum = sum.wrapping_add(*element);
        *element = sum;
    }
}

/// Returns the number of blocks and the number of elements in the left half.
pub(crate) fn half(elements: usize, block: usize) -> (usize, usize) {
    let blocks = elements.div_ceil(block) / 2;
    (blocks, blocks * block)
}

/// Runs the first pass: returns the sum of all elements, and stores for each node of the tree the
/// sum of its left half. `sums` has the nodes in order: those in the left half, this node, and
/// those in the right half.
fn up<R: Runtime>(fork: &mut R::Fork<'_>, elements: &[u64], sums: &mut [u64], block: usize) -> u64 {
    if elements.len() <= block {
        return elements.iter().copied().fold(0, u64::wrapping_add);
    }
    let (blocks, middle) = half(elements.len(), block);
    let (left, right) = elements.split_at(middle);
    let (left_sums, rest) = sums.split_at_mut(blocks - 1);
    let (own, right_sums) = rest.split_at_mut(1);
    let (left, right) = R::join(
        fork,
        |fork| up::<R>(fork, left, left_sums, block),
        |fork| up::<R>(fork, right, right_sums, block),
    );
    own[0] = left;
    left.wrapping_add(right)
}

/// Runs the second pass. `before` is the sum of all elements before `elements`.
fn down<R: Runtime>(
    fork: &mut R::Fork<'_>,
    elements: &mut [u64],
    sums: &[u64],
    before: u64,
    block: usize,
) {
    if elements.len() <= block {
        return serial(elements, before);
    }
    let (blocks, middle) = half(elements.len(), block);
    let (left, right) = elements.split_at_mut(middle);
    let before_right = before.wrapping_add(sums[blocks - 1]);
    R::join(
        fork,
        |fork| down::<R>(fork, left, &sums[..blocks - 1], before, block),
        |fork| down::<R>(fork, right, &sums[blocks..], before_right, block),
    );
}

fn parallel<R: Runtime>(fork: &mut R::Fork<'_>, elements: &mut [u64], block: usize) {
    let blocks = elements.len().div_ceil(block);
    let mut sums = vec![0; blocks.saturating_sub(1)];
    up::<R>(fork, elements, &mut sums, block);
    down::<R>(fork, elements, &sums, 0, block);
}

impl Program for Prefixsum {
    const NAME: &'static str = "prefixsum";
    const SUMMARY: &'static str = "prefix sums in two passes over blocks";
    parameters! {
        n = positional("n", Integer(0, 1 << 32), ["20000", "30000000", "100000000"],
            "number of 8-byte elements");
        block = named("block", Integer(1, 1 << 32), ["256", "16384", "16384"], "elements per task");
        seed = seed("seed of the elements");
    }
    result! { self, elements, () =>
        sum "sum of all elements, modulo 2^64" = elements.last().copied().unwrap_or(0);
        checksum "hash of the prefix sums" = checksum(elements.iter().copied());
    }

    type Input = Vec<u64>;
    type Output = ();

    fn prepare(&self) -> io::Result<Vec<u64>> {
        let elements = (0..self.n as u64).map(|i| random(self.seed, i));
        Ok(elements.collect())
    }

    fn reset(&self, elements: &mut Vec<u64>) {
        // This generates the elements again, because keeping a copy would take another 800 MB.
        for (i, element) in (0..).zip(elements) {
            *element = random(self.seed, i);
        }
    }

    fn serial(&self, elements: &mut Vec<u64>) {
        serial(elements, 0);
    }

    fn parallel<R: Runtime>(&self, elements: &mut Vec<u64>, fork: &mut R::Fork<'_>) {
        parallel::<R>(fork, elements, self.block);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Tidegate;

    #[test]
    fn sums_are_right_in_any_blocks() {
        let pool = Tidegate::with_workers(2).unwrap();
        for n in 0..40 {
            let program = |block| Prefixsum { n, block, seed: 5 };
            let input = program(1).prepare().unwrap();
            let sum = |end| input[..end].iter().copied().fold(0, u64::wrapping_add);
            let expected: Vec<_> = (1..=n).map(sum).collect();
            for block in [1, 2, 3, 7, 100] {
                let mut elements = input.clone();
                pool.install(|fork| parallel::<Tidegate>(fork, &mut elements, block));
                assert_eq!(elements, expected, "{n} in blocks of {block}");
            }
            let mut elements = input.clone();
            serial(&mut elements, 0);
            assert_eq!(elements, expected);
        }
    }

    #[test]
    fn a_reset_brings_back_the_elements() {
        let program = Prefixsum {
            n: 100,
            block: 8,
            seed: 2,
        };
        let mut elements = program.prepare().unwrap();
        program.serial(&mut elements);
        program.reset(&mut elements);
        assert_eq!(elements, program.prepare().unwrap());
    }
}
