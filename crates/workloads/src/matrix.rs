//! Square matrices made of square blocks, and their layout.
//!
//! Blocks are numbered in the order in which a recursion into quadrants visits them (Guy Morton's
//! order, 1966), so the blocks of a quadrant are adjacent in memory. Within a block, elements are
//! stored row by row. Elements are small integers, so that their sums of products are exact in any
//! order, up to [`most_rows`].

use std::ops::{AddAssign, Mul};

use crate::steps::random;

/// Every element is less than this.
const ELEMENTS: u64 = 16;

/// Returns the maximum number of rows for which the elements of a product are exact in
/// floating-point numbers with `digits` binary digits.
pub const fn most_rows(digits: u32) -> u64 {
    (1 << digits) / (ELEMENTS - 1).pow(2)
}

/// The shape of a matrix: `blocks` by `blocks` blocks of `block` by `block` elements.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    pub blocks: usize,
    pub block: usize,
}

impl Grid {
    pub fn area(self) -> usize {
        self.block * self.block
    }

    pub fn count(self) -> usize {
        self.blocks * self.blocks
    }

    pub fn elements(self) -> usize {
        self.count() * self.area()
    }

    /// Returns the block of `matrix` with this number.
    pub fn of<T>(self, matrix: &[T], number: usize) -> &[T] {
        &matrix[number * self.area()..][..self.area()]
    }

    /// Generates the elements of a matrix from `seed`.
    pub fn random<T: From<u8>>(self, seed: u64) -> Vec<T> {
        let elements = 0..self.elements() as u64;
        let element = |i| T::from((random(seed, i) % ELEMENTS) as u8);
        elements.map(element).collect()
    }

    pub fn multiply<T>(self, a: &[T], b: &[T], c: &mut [T])
    where
        T: Copy + Mul<Output = T> + AddAssign,
    {
        let size = self.block;
        for (c_row, a_row) in c.chunks_exact_mut(size).zip(a.chunks_exact(size)) {
            for (&a, b_row) in a_row.iter().zip(b.chunks_exact(size)) {
                for (c, &b) in c_row.iter_mut().zip(b_row) {
                    *c += a * b;
                }
            }
        }
    }
}

/// Returns the number of the block in this row and column.
pub fn number(row: usize, column: usize) -> usize {
    spread(row) << 1 | spread(column)
}

/// Returns the row and column of the block with this number.
pub fn place(number: usize) -> (usize, usize) {
    (gather(number >> 1), gather(number))
}

/// Moves the bit at each position `i` to position `2i`.
fn spread(bits: usize) -> usize {
    let bit = |at: u32| (bits >> at & 1) << (2 * at);
    (0..usize::BITS / 2).map(bit).sum()
}

/// Moves the bit at each position `2i` to position `i`.
fn gather(bits: usize) -> usize {
    let bit = |at: u32| (bits >> (2 * at) & 1) << at;
    (0..usize::BITS / 2).map(bit).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_numbered_quadrant_by_quadrant() {
        let first = [(0, 0), (0, 1), (1, 0), (1, 1), (0, 2), (0, 3), (1, 2)];
        for (expected, (row, column)) in first.into_iter().enumerate() {
            assert_eq!(number(row, column), expected);
        }
        assert!((0..4096).all(|i| number(place(i).0, place(i).1) == i));
    }
}
