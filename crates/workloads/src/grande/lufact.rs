//! LUFact: solves a dense system of linear equations by Gaussian elimination with partial pivoting.
//!
//! This is Jack Dongarra's Linpack benchmark: it factors a square matrix, stored by columns, and
//! solves for one right-hand side. Step k has two parts: [`pivot`] computes the multipliers of
//! column k, then [`eliminate`] applies them to each later column. In step k, column j must wait
//! for the pivot of step k and for its own elimination in step k - 1. The pivot of step k + 1 needs
//! only column k + 1, so it doesn't wait for the rest of step k.
//!
//! As in Linpack, step k exchanges rows only in column k and later columns, not in earlier columns,
//! which hold multipliers. The solver therefore applies the exchanges one by one.
//!
//! The kernel doesn't divide the matrix into blocks, which would be faster.

use super::{Kernel, Mismatch, Size};

/// The state of the kernel LUFact.
#[derive(Clone, Debug)]
pub struct LuFact {
    size: Size,
    /// The matrix by columns. After a run, it holds the factors, with the multipliers below the
    /// diagonal.
    pub columns: Vec<Vec<f64>>,
    /// The row that was exchanged with row k in step k.
    pub pivots: Vec<usize>,
    /// The right-hand side; after a run, the solution.
    pub right: Vec<f64>,
}

/// Chooses the pivot row of step `k`, exchanges it with row `k` in column `k`, and computes the
/// multipliers below row `k`.
///
/// If there is no nonzero pivot, the column is left unchanged. The matrix is then singular, and the
/// residual will show it.
pub fn pivot(k: usize, column: &mut [f64]) -> usize {
    let below = column.iter().enumerate().skip(k);
    let largest = below.fold((k, 0.0), |largest, (row, entry)| {
        if entry.abs() > largest.1 {
            (row, entry.abs())
        } else {
            largest
        }
    });
    let (pivot, size) = largest;
    if size > 0.0 {
        column.swap(k, pivot);
        let factor = -1.0 / column[k];
        column[k + 1..]
            .iter_mut()
            .for_each(|entry| *entry *= factor);
    }
    pivot
}

/// Exchanges rows `k` and `pivot` in a later column, and adds multiples of row `k` to the rows
/// below.
pub fn eliminate(k: usize, pivot: usize, multipliers: &[f64], column: &mut [f64]) {
    column.swap(k, pivot);
    add_multiple(column[k], &multipliers[k + 1..], &mut column[k + 1..]);
}

fn add_multiple(factor: f64, from: &[f64], to: &mut [f64]) {
    for (entry, add) in to.iter_mut().zip(from) {
        *entry += factor * add;
    }
}

/// Replaces the right-hand side with the solution.
pub fn solve(columns: &[Vec<f64>], pivots: &[usize], right: &mut [f64]) {
    for (k, (multipliers, &pivot)) in columns.iter().zip(pivots).enumerate() {
        eliminate(k, pivot, multipliers, right);
    }
    for (k, column) in columns.iter().enumerate().rev() {
        right[k] /= column[k];
        let (above, rest) = right.split_at_mut(k);
        add_multiple(-rest[0], column, above);
    }
}

/// Returns the benchmark's matrix by columns. Its entries are drawn row by row.
fn matrix(size: Size) -> Vec<Vec<f64>> {
    let order = size.choose([100, 500, 1000]);
    let mut columns = vec![vec![0.0; order]; order];
    let mut state = 1325;
    for row in 0..order {
        for column in &mut columns {
            state = 3125 * state % 65536;
            column[row] = f64::from(state - 32768) / 16384.0;
        }
    }
    columns
}

/// Returns the sums of the rows: the right-hand side whose solution is all ones.
fn sums(columns: &[Vec<f64>]) -> Vec<f64> {
    let mut sums = vec![0.0; columns.len()];
    for column in columns {
        add_multiple(1.0, column, &mut sums);
    }
    sums
}

fn largest(entries: &[f64]) -> f64 {
    entries
        .iter()
        .fold(0.0, |most, entry| most.max(entry.abs()))
}

impl Kernel for LuFact {
    const NAME: &'static str = "lufact";

    /// The largest residual in absolute value, in units of the expected rounding error.
    type Figure = f64;

    fn new(size: Size) -> Self {
        let columns = matrix(size);
        let right = sums(&columns);
        let pivots = vec![0; columns.len()];
        Self {
            size,
            columns,
            pivots,
            right,
        }
    }

    fn reset(&mut self) {
        *self = Self::new(self.size);
    }

    fn serial(&mut self) -> f64 {
        for k in 0..self.columns.len() {
            let (done, later) = self.columns.split_at_mut(k + 1);
            let column = &mut done[k];
            self.pivots[k] = pivot(k, column);
            for other in later {
                eliminate(k, self.pivots[k], column, other);
            }
        }
        solve(&self.columns, &self.pivots, &mut self.right);
        self.figure()
    }

    fn figure(&self) -> f64 {
        let columns = matrix(self.size);
        let mut residual = sums(&columns);
        for (column, &solution) in columns.iter().zip(&self.right) {
            add_multiple(-solution, column, &mut residual);
        }
        // As published, the unit depends on the largest entry, not on the largest absolute value.
        let entry = columns.iter().flatten().copied().fold(0.0, f64::max);
        let unit = columns.len() as f64 * entry * largest(&self.right) * f64::EPSILON;
        largest(&residual) / unit
    }

    fn check(&self, figure: &f64) -> Result<(), Mismatch> {
        let bound = self.size.choose([6.0, 6.0, 12.0]);
        Mismatch::unless_at_most("residual", *figure, bound)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_system_is_solved_with_pivoting() {
        // The equations are 2y = 4 and 3x + y = 5.
        let mut columns = vec![vec![0.0, 3.0], vec![2.0, 1.0]];
        let mut right = [4.0, 5.0];
        let first = pivot(0, &mut columns[0]);
        let [multipliers, later] = &mut columns[..] else {
            unreachable!()
        };
        eliminate(0, first, multipliers, later);
        let pivots = [first, pivot(1, later)];
        assert_eq!(pivots, [1, 1]);
        solve(&columns, &pivots, &mut right);
        assert_eq!(right, [1.0, 2.0]);
    }

    #[test]
    fn column_of_zeros_has_no_multipliers() {
        let mut column = [7.0, 0.0, 0.0];
        assert_eq!(pivot(1, &mut column), 1);
        assert_eq!(column, [7.0, 0.0, 0.0]);
    }
}
