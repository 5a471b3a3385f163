//! Matrix multiplication by eight parallel products of quadrants: four products go into the result,
//! and four into a temporary that is then added to the result.
//!
//! This is a well-known way to gain parallelism by using more memory, common in Cilk programs:
//! without the temporary, four of the products would have to wait for the other four. The serial
//! run holds one temporary per level; together they take 4/3 of a matrix's memory. On each further
//! level, eight times as many tasks are ready, and together they need twice the memory of the
//! previous level.
//!
//! Each element is a sum with one product per row, so it is exact (`matrix::most_rows`).
//!
//! The program doesn't pack or tile below the cutoff, so it is slower than a tuned library.

use std::array;

use super::product::{MOST_ROWS, Product, Scheme};
use super::{Way, block, each};
use crate::matrix::{self, Grid};
use crate::runtime::Runtime;

/// The program `matmul`, which multiplies matrices with the scheme [`Eightfold`].
pub type Matmul = Product<Eightfold>;

const _: () = assert!(MOST_ROWS <= matrix::most_rows(f64::MANTISSA_DIGITS));

/// Multiplies matrices by eight products of quadrants.
#[derive(Clone, Copy, Debug)]
pub struct Eightfold;

impl Scheme for Eightfold {
    const NAME: &'static str = "matmul";
    const SUMMARY: &'static str = "matrix multiplication with one temporary per level";
    const ROWS: [&'static str; 3] = ["64", "1024", "4096"];

    fn multiply<R: Runtime>(
        mut way: Way<'_, '_, R>,
        grid: Grid,
        c: &mut [f64],
        a: &[f64],
        b: &[f64],
    ) {
        if c.len() == grid.area() {
            c.fill(0.0);
            return grid.multiply(a, b, c);
        }
        let mut rest = block::<R, f64>(0.0, c.len());
        let quarter = c.len() / 4;
        let into = c.chunks_exact_mut(quarter);
        let mut into = into.chain(rest.values.chunks_exact_mut(quarter));
        let mut products: [_; 8] = array::from_fn(|number| {
            // Quadrants 0 and 1 are in the upper row, 2 and 3 in the lower row.
            let (middle, row, column) = (number / 4, number / 2 % 2, number % 2);
            let into = into.next().expect("two matrices have eight quadrants");
            let a = &a[(2 * row + middle) * quarter..][..quarter];
            let b = &b[(2 * middle + column) * quarter..][..quarter];
            (into, a, b)
        });
        each(way.again(), &mut products, 1, &|way, _, product| {
            let (into, a, b) = &mut product[0];
            Self::multiply(way, grid, into, a, b);
        });
        each(way, c, grid.area(), &|_, number, sums| {
            for (sum, rest) in sums.iter_mut().zip(grid.of(&rest.values, number)) {
                *sum += rest;
            }
        });
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn eightfold_product_is_correct() {
        super::super::product::is_the_plain_product::<super::Eightfold>();
    }
}
