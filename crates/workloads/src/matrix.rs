//! Square matrices in square blocks, and which block lies where.
//!
//! Blocks are numbered as a recursion into quadrants meets them (Guy Morton's order, 1966), each block row by row, so that the blocks of a
//! quadrant lie next to each other. Elements are small whole numbers: their sums are exact in any order, for [so many rows](most_rows).

use std::ops::{AddAssign, Mul};

use crate::steps::random;

/// Elements are below this.
const ELEMENTS: u64 = 16;

/// The most rows for which the elements of a product are exact in numbers with so many binary digits.
pub const fn most_rows(digits: u32) -> u64 {
    (1 << digits) / (ELEMENTS - 1).pow(2)
}

/// So many blocks by as many, of so many elements by as many.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    pub blocks: usize,
    pub block: usize,
}

impl Grid {
    /// Elements of a block.
    pub fn area(self) -> usize {
        self.block * self.block
    }

    /// Blocks of a matrix.
    pub fn count(self) -> usize {
        self.blocks * self.blocks
    }

    /// Elements of a matrix.
    pub fn elements(self) -> usize {
        self.count() * self.area()
    }

    /// The block of that number.
    pub fn of<T>(self, matrix: &[T], number: usize) -> &[T] {
        &matrix[number * self.area()..][..self.area()]
    }

    /// A matrix that follows from a seed.
    pub fn random<T: From<u8>>(self, seed: u64) -> Vec<T> {
        let elements = 0..self.elements() as u64;
        let element = |i| T::from((random(seed, i) % ELEMENTS) as u8);
        elements.map(element).collect()
    }

    /// Adds the product of two blocks to a third.
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

/// The number of the block in that row and column.
pub fn number(row: usize, column: usize) -> usize {
    spread(row) << 1 | spread(column)
}

/// Row and column of a block.
pub fn place(number: usize) -> (usize, usize) {
    (gather(number >> 1), gather(number))
}

/// Every bit at twice its position.
fn spread(bits: usize) -> usize {
    let bit = |at: u32| (bits >> at & 1) << (2 * at);
    (0..usize::BITS / 2).map(bit).sum()
}

/// The bits at even positions, each at half its position.
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
