//! Programs that factor a matrix into triangles, by blocks.
//!
//! | program | matrix | tasks |
//! |---|---|---|
//! | [`cholesky`] | sparse, in a tree of quadrants | a recursion with joins |
//! | [`lu`] | dense, rows are exchanged | a loop; joins that halve the later columns, and their rows |
//! | [`sparselu`] | sparse, in a square of blocks | loops with a spawn for each block |
//!
//! Serial version and parallel body are one text: the former makes no tasks. Each element is worked on in the same order in both, so the factors are the same to the last bit,
//! which a checksum shows.
//!
//! That they are the right ones is shown by a vector x: L (U x) differs from A x by rounding alone. As long as products are sums of products, in whatever order they are
//! added, each element of A and L U differs by at most n u (|L| |U|) to first order, where u is the largest relative error of one operation (Nicholas Higham, Accuracy and Stability of Numerical Algorithms, second
//! edition, 2002, theorems 9.3 and 10.3). It takes about three times as much again to compute both vectors.

pub(crate) mod block;
pub mod cholesky;
pub mod lu;
pub mod sparselu;

use crate::program::{Answer, Field, answer};
use crate::steps::{checksum, uniform};
use block::Real;

/// An element of a matrix: row, column and value.
type Entry = (usize, usize, f64);

/// A block of a matrix: the row and the column of its first element, and all of them row by row.
type Placed<'a, T> = (usize, usize, &'a [T]);

/// What the programs tell of their result.
const FACTORED: &[Field] = &[
    Field {
        name: "factored",
        meaning: "whether the product of the factors is the matrix, but for rounding",
    },
    Field {
        name: "checksum",
        meaning: "a number that depends on every bit of the factors and its place",
    },
];

/// The elements of blocks with that many rows and columns.
fn entries<'a, T: Real>(
    side: usize,
    blocks: &'a [Placed<'a, T>],
) -> impl Iterator<Item = Entry> + Clone + 'a {
    blocks.iter().flat_map(move |&(row, column, values)| {
        let values = values.iter().enumerate();
        values.map(move |(at, &value)| (row + at / side, column + at % side, value.into()))
    })
}

/// L and U, with `n` rows, from both in one matrix: L has ones in its diagonal, which are not stored.
fn triangles(
    n: usize,
    factors: impl Iterator<Item = Entry> + Clone,
) -> (
    impl Iterator<Item = Entry> + Clone,
    impl Iterator<Item = Entry> + Clone,
) {
    let ones = (0..n).map(|i| (i, i, 1.0));
    let below = factors.clone().filter(|(row, column, _)| row > column);
    let others = factors.filter(|(row, column, _)| row <= column);
    (below.chain(ones), others)
}

/// What came out of a run that made `lower` and `upper` of a matrix with `n` rows, by operations with a relative error of up to half of `epsilon`.
fn factored<M, L, U>(n: usize, epsilon: f64, matrix: M, lower: L, upper: U) -> Answer
where
    M: Iterator<Item = Entry>,
    L: Iterator<Item = Entry> + Clone,
    U: Iterator<Item = Entry> + Clone,
{
    let right = is_product(n, epsilon, matrix, lower.clone(), upper.clone());
    let bits = lower.chain(upper).map(|(_, _, value)| value.to_bits());
    answer([
        ("factored", right.into()),
        ("checksum", checksum(bits).into()),
    ])
}

fn is_product<M, L, U>(n: usize, epsilon: f64, matrix: M, lower: L, upper: U) -> bool
where
    M: Iterator<Item = Entry>,
    L: Iterator<Item = Entry> + Clone,
    U: Iterator<Item = Entry> + Clone,
{
    // Positive, so that it is its own absolute value; its seed is of no importance.
    let x: Vec<_> = (0..n as u64).map(|i| uniform(0, i) + 2.0).collect();
    let absolute = |(row, column, value): Entry| (row, column, value.abs());
    let expected = times(matrix, &x);
    let found = times(lower.clone(), &times(upper.clone(), &x));
    let sizes = times(lower.map(absolute), &times(upper.map(absolute), &x));
    let most = 2.0 * n as f64 * epsilon;
    let pairs = expected.iter().zip(&found);
    // Less and not as much: what is infinite or no number is not within any bound.
    pairs
        .zip(sizes)
        .all(|((expected, found), size)| (expected - found).abs() < most * size)
}

/// A matrix times a vector.
fn times(matrix: impl Iterator<Item = Entry>, vector: &[f64]) -> Vec<f64> {
    let mut product = vec![0.0; vector.len()];
    for (row, column, value) in matrix {
        product[row] += value * vector[column];
    }
    product
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both triangles of the same matrix, 6 3 over 4 7, in a block.
    fn told(matrix: [f64; 4], factors: [f64; 4]) -> bool {
        let (matrix, factors) = ([(0, 0, &matrix[..])], [(0, 0, &factors[..])]);
        let (lower, upper) = triangles(2, entries(2, &factors));
        is_product(2, f64::EPSILON, entries(2, &matrix), lower, upper)
    }

    #[test]
    fn factors_are_told_from_what_is_none() {
        let matrix = [6.0, 3.0, 3.0, 7.0];
        assert!(told(matrix, [6.0, 3.0, 0.5, 5.5]));
        assert!(!told(matrix, [6.0, 3.0, 0.5, 5.5 + 1e-13]));
        assert!(!told(matrix, [6.0, 3.0, 0.5, f64::NAN]));
        assert!(!told(matrix, [6.0, 3.0, 0.5, f64::INFINITY]));
    }

    #[test]
    fn the_bound_is_that_of_the_precision() {
        let found = [6.0, 3.0, 0.5, 5.5 + 1e-7];
        let (matrix, factors) = ([(0, 0, &[6.0, 3.0, 3.0, 7.0][..])], [(0, 0, &found[..])]);
        let within = |epsilon| {
            let (lower, upper) = triangles(2, entries(2, &factors));
            is_product(2, epsilon, entries(2, &matrix), lower, upper)
        };
        assert!(within(f32::EPSILON.into()));
        assert!(!within(f64::EPSILON));
    }
}
