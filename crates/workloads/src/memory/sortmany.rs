//! Loads, sorts and sums many pieces of different lengths, like the first phase of an external
//! sort.
//!
//! A piece is in memory from loading until its sum is computed, and merge sort needs the same
//! amount again while it sorts. A run that begins all pieces before it finishes any has all data in
//! memory, which an external sort exists to avoid. The program generates the pieces and keeps only
//! a checksum of the sorted pieces, so that it doesn't measure a disk.
//!
//! With `form spawn`, each piece is a task, which spawns a task for each of its halves, and so on
//! down to the cutoff. With `form join`, for runtimes without scopes, joins also halve the range of
//! pieces.
//!
//! The program doesn't merge in parallel, because the pieces provide enough parallelism. It doesn't
//! merge the sorted pieces either.

use super::{Way, block, each};
use crate::parameter::{Kind::Integer, named, positional, seed};
use crate::program::{Form, Program, parameters, result, with_form, without_input};
use crate::quicksort;
use crate::runtime::{Runtime, Serial};
use crate::steps::{checksum, random};

/// The program `sortmany`, which sorts many pieces of data.
#[derive(Clone, Copy, Debug)]
pub struct Sortmany {
    /// How many pieces to sort.
    pub pieces: usize,
    /// The maximum number of elements in a piece.
    pub length: usize,
    /// Up to this many elements are sorted without recursion.
    pub cutoff: usize,
    /// The seed for the lengths and elements.
    pub seed: u64,
    /// How the parallel body creates its tasks.
    pub form: Form,
}

impl Sortmany {
    fn all<R: Runtime>(&self, way: Way<'_, '_, R>) -> u64 {
        let mut sums = block::<R, u64>(0, self.pieces);
        each(way, &mut sums.values, 1, &|way, number, sum| {
            sum[0] = self.piece(way, number);
        });
        checksum(sums.values.iter().copied())
    }

    fn piece<R: Runtime>(&self, way: Way<'_, '_, R>, number: usize) -> u64 {
        let mut elements = block::<R, u32>(0, self.length_of(number));
        self.load(number, &mut elements.values);
        let mut buffer = block::<R, u32>(0, elements.values.len());
        sort(way, &mut elements.values, &mut buffer.values, self.cutoff);
        drop(buffer);
        quicksort::checksum(&elements.values)
    }

    pub(crate) fn length_of(&self, number: usize) -> usize {
        1 + (random(self.seed, number as u64) % self.length as u64) as usize
    }

    fn load(&self, number: usize, elements: &mut [u32]) {
        let seed = random(!self.seed, number as u64);
        for (i, element) in elements.iter_mut().enumerate() {
            *element = random(seed, i as u64) as u32;
        }
    }
}

fn sort<R: Runtime>(
    mut way: Way<'_, '_, R>,
    elements: &mut [u32],
    buffer: &mut [u32],
    cutoff: usize,
) {
    if elements.len() <= cutoff {
        return elements.sort_unstable();
    }
    let middle = elements.len() / 2;
    let (left, right) = elements.split_at_mut(middle);
    let (left_buffer, right_buffer) = buffer.split_at_mut(middle);
    let mut halves = [(left, left_buffer), (right, right_buffer)];
    each(way.again(), &mut halves, 1, &|way, _, half| {
        let (elements, buffer) = &mut half[0];
        sort(way, elements, buffer, cutoff);
    });
    merge(&elements[..middle], &elements[middle..], buffer);
    elements.copy_from_slice(buffer);
}

fn merge(left: &[u32], right: &[u32], merged: &mut [u32]) {
    let (mut l, mut r) = (0, 0);
    while l < left.len() && r < right.len() {
        // The comparison does not branch, because the branch would be unpredictable.
        let from_left = left[l] <= right[r];
        merged[l + r] = if from_left { left[l] } else { right[r] };
        l += usize::from(from_left);
        r += usize::from(!from_left);
    }
    let (left, right) = (&left[l..], &right[r..]);
    let (of_left, of_right) = merged[l + r..].split_at_mut(left.len());
    of_left.copy_from_slice(left);
    of_right.copy_from_slice(right);
}

impl Program for Sortmany {
    const NAME: &'static str = "sortmany";
    const SUMMARY: &'static str = "loads, sorts and sums many pieces";
    parameters! {
        pieces = positional("pieces", Integer(1, 1 << 30), ["8", "64", "128"], "number of pieces");
        length = named("length", Integer(1, 1 << 32), ["1000", "1048576", "4194304"],
            "maximum 4-byte elements per piece; the average is half of it");
        cutoff = named("cutoff", Integer(1, 1 << 32), ["64", "4096", "4096"],
            "elements that are sorted without recursion");
        seed = seed("seed of the lengths and elements");
        form = Form::parameter("spawn");
    }
    result! { self, (), output =>
        checksum "hash of all pieces" = *output;
    }

    without_input! {}
    type Output = u64;
    with_form! {}

    fn serial(&self, (): &mut ()) -> u64 {
        self.all::<Serial>(Way::Call)
    }

    fn parallel<R: Runtime>(&self, (): &mut (), fork: &mut R::Fork<'_>) -> u64 {
        self.all(Way::<R>::new(self.form, fork))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_piece_is_sorted() {
        for length in (0..70).chain([1000]) {
            for range in [3, u64::MAX] {
                let elements =
                    (0..length as u64).map(|i| (random(length as u64, i) % range) as u32);
                let mut elements: Vec<_> = elements.collect();
                let (mut expected, mut buffer) = (elements.clone(), vec![0; length]);
                expected.sort_unstable();
                sort::<Serial>(Way::Call, &mut elements, &mut buffer, 1);
                assert_eq!(elements, expected);
            }
        }
    }
}
