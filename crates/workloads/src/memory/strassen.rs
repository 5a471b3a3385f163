//! Strassen's matrix multiplication: seven products of sums of quadrants instead of eight products
//! (Volker Strassen, Gaussian Elimination is not Optimal, Numerische Mathematik 13, 1969).
//!
//! A level holds its seven products until the last one is done, and each product holds the sums
//! that it multiplies. The serial run holds three matrices in all. If all seven products of each
//! level run at once, each level needs 7/4 times the memory of the previous one.
//!
//! All numbers are integers. An element of a sum of two quadrants is at most twice as large as the
//! elements of these quadrants. So d levels down, the elements of a factor have grown by 2^d, and
//! those of a product, which has n / 2^d rows, by n 2^d. Sums of two factors and of four products
//! make these elements eight times as large. Since 2^d is at most n, no number exceeds 8 n^2 times
//! the product of two elements. So everything, including subtractions, is exact, in whatever order
//! tasks run.
//!
//! The program doesn't add in parallel within a quadrant, and it is slower than a tuned library.
//! Unlike versions that save memory, it doesn't reuse a temporary for the next product.

use super::product::{MOST_ROWS, Product, Scheme};
use super::{Block, Way, block, each};
use crate::matrix::{self, Grid};
use crate::runtime::Runtime;

/// The program `strassen`, which multiplies matrices with the scheme [`Sevenfold`].
pub type Strassen = Product<Sevenfold>;

const _: () = assert!(8 * MOST_ROWS.pow(2) <= matrix::most_rows(f64::MANTISSA_DIGITS));

/// Multiplies two matrices using seven products of sums of their quadrants.
#[derive(Clone, Copy, Debug)]
pub struct Sevenfold;

/// A sum: for each term, its index and its sign.
pub(crate) type Sum = &'static [(usize, f64)];

/// The factors of each product, as sums of quadrants.
pub(crate) const FACTORS: [(Sum, Sum); 7] = [
    (&[(0, 1.0), (3, 1.0)], &[(0, 1.0), (3, 1.0)]),
    (&[(2, 1.0), (3, 1.0)], &[(0, 1.0)]),
    (&[(0, 1.0)], &[(1, 1.0), (3, -1.0)]),
    (&[(3, 1.0)], &[(2, 1.0), (0, -1.0)]),
    (&[(0, 1.0), (1, 1.0)], &[(3, 1.0)]),
    (&[(2, 1.0), (0, -1.0)], &[(0, 1.0), (1, 1.0)]),
    (&[(1, 1.0), (3, -1.0)], &[(2, 1.0), (3, 1.0)]),
];

/// The quadrants of the result, as sums of products.
pub(crate) const RESULT: [Sum; 4] = [
    &[(0, 1.0), (3, 1.0), (4, -1.0), (6, 1.0)],
    &[(2, 1.0), (4, 1.0)],
    &[(1, 1.0), (3, 1.0)],
    &[(0, 1.0), (1, -1.0), (2, 1.0), (5, 1.0)],
];

/// A factor of a product: a quadrant, or a computed sum of quadrants.
enum Factor<'a, L> {
    Quadrant(&'a [f64]),
    Sum(Block<L, f64>),
}

impl<'a, L> Factor<'a, L> {
    fn new<R: Runtime<Reservation = L>>(sum: Sum, matrix: &'a [f64]) -> Self {
        let quarter = matrix.len() / 4;
        if let [(one, _)] = *sum {
            return Self::Quadrant(&matrix[one * quarter..][..quarter]);
        }
        let mut block = block::<R, f64>(0.0, quarter);
        add_up(&mut block.values, sum, matrix);
        Self::Sum(block)
    }

    fn values(&self) -> &[f64] {
        match self {
            Self::Quadrant(values) => values,
            Self::Sum(block) => &block.values,
        }
    }
}

fn add_up(into: &mut [f64], sum: Sum, parts: &[f64]) {
    into.fill(0.0);
    for (number, sign) in sum {
        let part = &parts[number * into.len()..];
        for (into, value) in into.iter_mut().zip(part) {
            *into += sign * value;
        }
    }
}

impl Scheme for Sevenfold {
    const NAME: &'static str = "strassen";
    const SUMMARY: &'static str = "Strassen's matrix multiplication with temporaries";
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
        let quarter = c.len() / 4;
        let mut products = block::<R, f64>(0.0, FACTORS.len() * quarter);
        let values = &mut products.values;
        each(way.again(), values, quarter, &|way, number, product| {
            let (left, right) = FACTORS[number];
            let left = Factor::new::<R>(left, a);
            let right = Factor::new::<R>(right, b);
            Self::multiply(way, grid, product, left.values(), right.values());
        });
        each(way, c, quarter, &|_, number, quadrant| {
            add_up(quadrant, RESULT[number], &products.values);
        });
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn sevenfold_product_is_correct() {
        super::super::product::is_the_plain_product::<super::Sevenfold>();
    }
}
