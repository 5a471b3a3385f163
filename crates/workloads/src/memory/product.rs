//! The common part of all programs that multiply matrices by recursion into quadrants: everything
//! except the recursion itself.
//!
//! The matrices are laid out as in `matrix`, so a quadrant is a quarter of a slice. Their elements
//! are small integers, and so is everything that a [`Scheme`] computes from them: results are exact
//! in an `f64` and don't depend on the order of additions.
//!
//! The checksum weights each element of the product by one number for the element's row and one for
//! its column. So the checksum is known in advance: with weights r and s, it is (r A)(B s), which
//! requires only matrix-vector products (after Rūsiņš Freivalds, Probabilistic Machines Can Use
//! Less Running Time, 1977).

use std::io;
use std::marker::PhantomData;

use super::Way;
use crate::matrix::{self, Grid};
use crate::parameter::{Kind::Integer, ParameterError, named, positional, seed};
use crate::program::{Form, Program, Reference, answer, parameters, result, with_form};
use crate::runtime::{Runtime, Serial};
use crate::steps::random;

/// The maximum number of rows. This limit is a practical one: as each scheme explains, all results
/// are still exact for this many rows.
pub(super) const MOST_ROWS: u64 = 1 << 16;

/// A way to multiply matrices by recursion into quadrants.
pub trait Scheme: Sized + Send + Sync + 'static {
    /// The program's name.
    const NAME: &'static str;
    /// A one-line description for lists of programs.
    const SUMMARY: &'static str;
    /// The default number of rows for each size.
    const ROWS: [&'static str; 3];

    /// Sets `c` to the product of `a` and `b`. Blocks have the size that `grid` specifies, but the
    /// matrices may have fewer blocks than `grid`.
    fn multiply<R: Runtime>(way: Way<'_, '_, R>, grid: Grid, c: &mut [f64], a: &[f64], b: &[f64]);
}

/// A program that multiplies matrices with the scheme `S`.
#[derive(Clone, Copy, Debug)]
pub struct Product<S> {
    /// Number of rows and columns, a power of two.
    pub n: usize,
    /// Matrices of up to this many rows are multiplied without recursion.
    pub cutoff: usize,
    /// The seed for the matrices.
    pub seed: u64,
    /// How the parallel body creates its tasks.
    pub form: Form,
    scheme: PhantomData<S>,
}

/// The factors A and B, and their product C.
#[derive(Debug)]
pub struct Input {
    a: Vec<f64>,
    b: Vec<f64>,
    c: Vec<f64>,
}

impl<S> Product<S> {
    pub(crate) fn grid(&self) -> Grid {
        let block = 1 << self.cutoff.min(self.n).ilog2();
        Grid {
            blocks: self.n / block,
            block,
        }
    }

    fn factor(&self, number: u64) -> Vec<f64> {
        self.grid().random(self.seed.wrapping_add(number))
    }

    /// Returns the checksum's weight for a row or column. `side` must differ between rows and
    /// columns.
    fn weight(&self, side: u64, number: usize) -> u64 {
        random(!self.seed.wrapping_add(side), number as u64)
    }

    /// Returns the elements of a matrix, each with its row and column.
    fn elements<'a>(&self, matrix: &'a [f64]) -> impl Iterator<Item = (usize, usize, u64)> + 'a {
        let grid = self.grid();
        let blocks = matrix.chunks_exact(grid.area()).enumerate();
        blocks.flat_map(move |(number, block)| {
            let (row, column) = matrix::place(number);
            block.iter().enumerate().map(move |(at, element)| {
                let row = row * grid.block + at / grid.block;
                let column = column * grid.block + at % grid.block;
                (row, column, *element as u64)
            })
        })
    }
}

impl<S: Scheme> Program for Product<S> {
    const NAME: &'static str = S::NAME;
    const SUMMARY: &'static str = S::SUMMARY;
    parameters! {
        n = positional("n", Integer(1, MOST_ROWS), S::ROWS,
            "rows and columns of the matrices, a power of two");
        cutoff = named("cutoff", Integer(1, MOST_ROWS), ["8", "64", "64"],
            "rows that are multiplied without recursion");
        seed = seed("seed of the matrices");
        form = Form::parameter("join");
        ..scheme = PhantomData;
    }
    result! { self, input, () =>
        checksum "weighted sum of the product's elements, modulo 2^64" = {
            let weighed = self.elements(&input.c).map(|(row, column, element)| {
                let weight = self.weight(0, row).wrapping_mul(self.weight(1, column));
                weight.wrapping_mul(element)
            });
            weighed.fold(0, u64::wrapping_add)
        };
    }

    type Input = Input;
    type Output = ();
    with_form! {}

    fn check(&self) -> Result<(), ParameterError> {
        ParameterError::unless_power_of_two(self.n, "n")
    }

    fn prepare(&self) -> io::Result<Input> {
        Ok(Input {
            a: self.factor(0),
            b: self.factor(1),
            c: vec![0.0; self.grid().elements()],
        })
    }

    fn reset(&self, input: &mut Input) {
        input.c.fill(0.0);
    }

    fn serial(&self, Input { a, b, c }: &mut Input) {
        S::multiply::<Serial>(Way::Call, self.grid(), c, a, b);
    }

    fn parallel<R: Runtime>(&self, Input { a, b, c }: &mut Input, fork: &mut R::Fork<'_>) {
        S::multiply(Way::<R>::new(self.form, fork), self.grid(), c, a, b);
    }

    fn published(&self) -> Option<Reference> {
        let add = |sum: &mut u64, weight: u64, element| {
            *sum = sum.wrapping_add(weight.wrapping_mul(element));
        };
        let (mut left, mut right) = (vec![0; self.n], vec![0; self.n]);
        for (row, column, element) in self.elements(&self.factor(0)) {
            add(&mut left[column], self.weight(0, row), element);
        }
        for (row, column, element) in self.elements(&self.factor(1)) {
            add(&mut right[row], self.weight(1, column), element);
        }
        let mut sum = 0;
        for (left, right) in left.into_iter().zip(right) {
            add(&mut sum, left, right);
        }
        Some(Reference {
            answer: answer([("checksum", sum.into())]),
            source: "the factors, each multiplied by a vector",
        })
    }
}

/// Asserts that a scheme multiplies small matrices correctly.
#[cfg(test)]
pub(super) fn is_the_plain_product<S: Scheme>() {
    for (n, cutoff) in [(1, 1), (2, 1), (4, 3), (8, 1), (16, 4), (16, 100)] {
        let program = Product::<S> {
            n,
            cutoff,
            seed: 5,
            form: Form::Join,
            scheme: PhantomData,
        };
        let mut input = program.prepare().unwrap();
        // A scheme must overwrite the old values.
        input.c.fill(7.0);
        program.serial(&mut input);
        let rows = |matrix| {
            let mut rows = vec![vec![0; n]; n];
            for (row, column, element) in program.elements(matrix) {
                rows[row][column] = element;
            }
            rows
        };
        let (a, b, c) = (rows(&input.a), rows(&input.b), rows(&input.c));
        for (row, column) in (0..n).flat_map(|row| (0..n).map(move |column| (row, column))) {
            let expected: u64 = (0..n).map(|i| a[row][i] * b[i][column]).sum();
            assert_eq!(c[row][column], expected, "{n} {cutoff}: {row} {column}");
        }
        let known = program.published().unwrap().answer;
        assert_eq!(program.answer(&input, &()), known, "{n} {cutoff}");
    }
}
