//! Operations on square blocks of numbers, stored row by row, for matrix factorization.
//!
//! Every operation works on the elements in a fixed order, so results are identical to the last bit
//! no matter which program calls it.
//!
//! The operations use neither register tiling nor explicit vector instructions, so they are slower
//! than a tuned library.

use std::ops::{Div, Mul, SubAssign};

pub trait Real:
    Copy + Div<Output = Self> + Into<f64> + Mul<Output = Self> + SubAssign + Send + Sync
{
}

impl Real for f32 {}
impl Real for f64 {}

/// Eliminates column `k` below row `k`: subtracts multiples of row `k` from the rows below, and
/// stores the multipliers in place of the resulting zeros. The block may have more rows than
/// columns.
pub fn eliminate<T: Real>(side: usize, k: usize, rows: &mut [T]) {
    let (above, below) = rows.split_at_mut((k + 1) * side);
    let row = &above[k * side..];
    for other in below.chunks_exact_mut(side) {
        let multiplier = other[k] / row[k];
        other[k] = multiplier;
        subtract(multiplier, &row[k + 1..], &mut other[k + 1..]);
    }
}

/// Factors a block A = L U: replaces it by L and U. The ones on the diagonal of L are not stored.
pub fn factor<T: Real>(side: usize, block: &mut [T]) {
    (0..side).for_each(|k| eliminate(side, k, block));
}

/// Solves L X = `block` for X and stores X in `block`. L is the lower triangle of `factors`.
pub fn solve_lower<T: Real>(side: usize, factors: &[T], block: &mut [T]) {
    for k in 0..side {
        let (above, below) = block.split_at_mut((k + 1) * side);
        let multipliers = factors.chunks_exact(side).skip(k + 1);
        for (row, multipliers) in below.chunks_exact_mut(side).zip(multipliers) {
            subtract(multipliers[k], &above[k * side..], row);
        }
    }
}

/// Solves X U = `block` for X and stores X in `block`. U is the upper triangle of `factors`.
pub fn solve_upper<T: Real>(side: usize, factors: &[T], block: &mut [T]) {
    for row in block.chunks_exact_mut(side) {
        for (k, upper) in factors.chunks_exact(side).enumerate() {
            let solved = row[k] / upper[k];
            row[k] = solved;
            subtract(solved, &upper[k + 1..], &mut row[k + 1..]);
        }
    }
}

pub fn subtract_product<T: Real>(side: usize, a: &[T], b: &[T], c: &mut [T]) {
    for (c_row, a_row) in c.chunks_exact_mut(side).zip(a.chunks_exact(side)) {
        for (&a, b_row) in a_row.iter().zip(b.chunks_exact(side)) {
            subtract(a, b_row, c_row);
        }
    }
}

fn subtract<T: Real>(factor: T, from: &[T], to: &mut [T]) {
    for (to, &from) in to.iter_mut().zip(from) {
        *to -= factor * from;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // The values are small enough for exact arithmetic.
    const LOWER: [f64; 9] = [1.0, 0.0, 0.0, 2.0, 1.0, 0.0, -3.0, 4.0, 1.0];
    const UPPER: [f64; 9] = [2.0, 1.0, -1.0, 0.0, 4.0, 3.0, 0.0, 0.0, -2.0];
    const OTHER: [f64; 9] = [5.0, -1.0, 2.0, 0.0, 3.0, 7.0, 1.0, 1.0, -6.0];

    fn product(a: &[f64], b: &[f64]) -> Vec<f64> {
        let mut c = vec![0.0; 9];
        subtract_product(3, a, b, &mut c);
        c.iter().map(|element| -element).collect()
    }

    /// Returns both triangles in one block, as the factorizations store them.
    fn factors() -> Vec<f64> {
        let mut block = product(&LOWER, &UPPER);
        factor(3, &mut block);
        block
    }

    #[test]
    fn product_is_subtracted_row_by_column() {
        let mut c = [1.0; 4];
        subtract_product(2, &[1.0, 2.0, 3.0, 4.0], &[5.0, 6.0, 7.0, 8.0], &mut c);
        assert_eq!(c, [-18.0, -21.0, -42.0, -49.0]);
    }

    #[test]
    fn block_factors_into_its_triangles() {
        assert_eq!(factors(), [2.0, 1.0, -1.0, 2.0, 4.0, 3.0, -3.0, 4.0, -2.0]);
    }

    #[test]
    fn solving_undoes_multiplying_by_triangle() {
        let mut block = product(&LOWER, &OTHER);
        solve_lower(3, &factors(), &mut block);
        assert_eq!(block, OTHER);
        let mut block = product(&OTHER, &UPPER);
        solve_upper(3, &factors(), &mut block);
        assert_eq!(block, OTHER);
    }
}
