//! Programs that factor a matrix into triangular matrices, by blocks.
//!
//! | program | matrix | tasks |
//! |---|---|---|
//! | [`cholesky`] | sparse, in a tree of quadrants | a recursion with joins |
//! | [`lu`] | dense, with row exchanges | a loop; joins halve the later columns and their rows |
//! | [`sparselu`] | sparse, in a square of blocks | loops with one spawn per block |
//!
//! The serial version and the parallel body share their code; the serial version creates no tasks.
//! Both work on each element in the same order, so the factors are identical to the last bit, as a
//! checksum shows.
//!
//! To verify the factors, a run compares L (U x) with A x for a vector x: they may differ only by
//! rounding errors. If every product is computed as a sum of products, in any order, each element
//! of A and L U differs by at most n u (|L| |U|) to first order, where u is the largest relative
//! error of one operation (Nicholas Higham, Accuracy and Stability of Numerical Algorithms, second
//! edition, 2002, theorems 9.3 and 10.3). Computing both vectors adds about three times that error.

pub(crate) mod block;
pub mod cholesky;
pub mod lu;
pub mod sparselu;

use crate::program::{Answer, Field, answer};
use crate::steps::{checksum, uniform};
use block::Real;

/// A matrix element: row, column and value.
type Entry = (usize, usize, f64);

/// A block of a matrix: the row and column of its first element, and its elements row by row.
type Placed<'a, T> = (usize, usize, &'a [T]);

/// The answer fields of all factorization programs.
const FACTORED: &[Field] = &[
    Field {
        name: "factored",
        meaning: "whether the factors' product is the matrix, up to rounding",
    },
    Field {
        name: "checksum",
        meaning: "hash of the factors",
    },
];

/// Returns the elements of all `blocks`, each of which has `side` columns.
fn entries<'a, T: Real>(
    side: usize,
    blocks: &'a [Placed<'a, T>],
) -> impl Iterator<Item = Entry> + Clone + 'a {
    blocks.iter().flat_map(move |&(row, column, values)| {
        let values = values.iter().enumerate();
        values.map(move |(at, &value)| (row + at / side, column + at % side, value.into()))
    })
}

/// Extracts L and U, with `n` rows, from one matrix that stores both. The ones on the diagonal of L
/// are not stored.
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

/// Returns the answer of a run that factored `matrix`, which has `n` rows, into `lower` and
/// `upper`. The relative error of each operation is at most half of `epsilon`.
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
    // All elements of x are positive, so that x equals |x|. The seed doesn't matter.
    let x: Vec<_> = (0..n as u64).map(|i| uniform(0, i) + 2.0).collect();
    let absolute = |(row, column, value): Entry| (row, column, value.abs());
    let expected = times(matrix, &x);
    let found = times(lower.clone(), &times(upper.clone(), &x));
    let sizes = times(lower.map(absolute), &times(upper.map(absolute), &x));
    let most = 2.0 * n as f64 * epsilon;
    let pairs = expected.iter().zip(&found);
    // This uses `<` rather than `<=`, so that an infinite or NaN difference is never within the
    // bound.
    pairs
        .zip(sizes)
        .all(|((expected, found), size)| (expected - found).abs() < most * size)
}

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

    /// Whether the check accepts `factors`, which stores both triangles, as the factors of
    /// `matrix`.
    fn told(matrix: [f64; 4], factors: [f64; 4]) -> bool {
        let (matrix, factors) = ([(0, 0, &matrix[..])], [(0, 0, &factors[..])]);
        let (lower, upper) = triangles(2, entries(2, &factors));
        is_product(2, f64::EPSILON, entries(2, &matrix), lower, upper)
    }

    #[test]
    fn wrong_factors_are_rejected() {
        let matrix = [6.0, 3.0, 3.0, 7.0];
        assert!(told(matrix, [6.0, 3.0, 0.5, 5.5]));
        assert!(!told(matrix, [6.0, 3.0, 0.5, 5.5 + 1e-13]));
        assert!(!told(matrix, [6.0, 3.0, 0.5, f64::NAN]));
        assert!(!told(matrix, [6.0, 3.0, 0.5, f64::INFINITY]));
    }

    #[test]
    fn error_bound_depends_on_precision() {
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
