//! Cholesky factorization of a sparse matrix stored as a tree of quadrants.
//!
//! The matrix is symmetric and positive definite, and only the elements on and below its diagonal
//! are stored. A square of zeros takes no memory, a square of [`SIDE`] rows is a dense block, and a
//! larger square consists of its four quadrants. To factor A, the program factors A's first
//! quadrant into L L', divides the quadrant below that one by L', subtracts the product of the
//! result with its transpose from the last quadrant, and factors what remains of the last quadrant.
//! Dividing and subtracting are recursive, too. If the quadrant below the first is zero, the first
//! and the last quadrant are factored in parallel.
//!
//! The program comes with Cilk (Matteo Frigo, Charles Leiserson and Keith Randall, The
//! Implementation of the Cilk-5 Multithreaded Language, PLDI 1998, section 5). Siddhartha Sen uses
//! it with 2048 rows and 10000 randomly placed elements (Dynamic Processor Allocation for
//! Adaptively Parallel Work-Stealing Jobs, MIT, 2004). In the original, the second product of every
//! quadrant waits for the first products of all quadrants. Here it waits only for the first product
//! of the same quadrant, and the upper half of a division doesn't wait for the lower half.
//!
//! The program doesn't reorder rows to reduce fill-in, so random matrices become nearly full.

use std::io;

use super::{FACTORED, Placed, entries, factored};
use crate::parameter::{Kind::Integer, ParameterError, named, positional, seed};
use crate::program::{Answer, Field, Form, Program, parameters};
use crate::runtime::{Runtime, Serial};
use crate::steps::{random, uniform};
use crate::way::{Way, each};

/// The number of rows and columns of a block.
pub const SIDE: usize = 16;

/// The elements of a block, column by column.
type Block = [[f64; SIDE]; SIDE];

/// A square part of a matrix. Two squares of the same size have the same depth, unless one is zero.
#[derive(Clone, Debug, Default)]
enum Tree {
    #[default]
    Zero,
    /// A square of the smallest size, [`SIDE`].
    Block(Box<Block>),
    /// Upper left, upper right, lower left and lower right; not all of them are zero.
    Quadrants(Box<[Tree; 4]>),
}

impl Tree {
    const fn is_zero(&self) -> bool {
        matches!(self, Self::Zero)
    }

    /// Returns the block of a square of the smallest size. If the square is zero, creates the
    /// block.
    fn block(&mut self) -> &mut Block {
        if self.is_zero() {
            *self = Self::Block(Box::new([[0.0; SIDE]; SIDE]));
        }
        match self {
            Self::Block(block) => block,
            _ => unreachable!("squares of the same size have the same depth"),
        }
    }

    /// Returns the quadrants of a larger square. If the square is zero, creates the quadrants.
    fn quadrants(&mut self) -> &mut [Self; 4] {
        if self.is_zero() {
            *self = Self::Quadrants(Box::default());
        }
        match self {
            Self::Quadrants(quadrants) => quadrants,
            _ => unreachable!("squares of the same size have the same depth"),
        }
    }

    /// Adds `value` to the element at this row and column of a square with `rows` rows.
    fn add(&mut self, rows: usize, (row, column): (usize, usize), value: f64) {
        if rows == SIDE {
            self.block()[column][row] += value;
            return;
        }
        let half = rows / 2;
        let quadrant = &mut self.quadrants()[2 * (row / half) + column / half];
        quadrant.add(half, (row % half, column % half), value);
    }

    /// Collects the blocks of a square with `rows` rows, whose first element is at the given row
    /// and column. All positions and blocks are transposed.
    fn transposed<'a>(
        &'a self,
        rows: usize,
        (row, column): (usize, usize),
        found: &mut Vec<Placed<'a, f64>>,
    ) {
        match self {
            Self::Zero => {}
            Self::Block(block) => found.push((column, row, block.as_flattened())),
            Self::Quadrants(quadrants) => {
                let half = rows / 2;
                for (number, quadrant) in quadrants.iter().enumerate() {
                    let place = (row + number / 2 * half, column + number % 2 * half);
                    quadrant.transposed(half, place, found);
                }
            }
        }
    }
}

/// Factors A = L L' and replaces A by L. `square` must be on the matrix's diagonal.
fn factor<R: Runtime>(mut way: Way<'_, '_, R>, square: &mut Tree) {
    match square {
        Tree::Zero => {}
        Tree::Block(block) => factor_block(block),
        Tree::Quadrants(quadrants) => {
            let [first, _, below, last] = &mut **quadrants;
            if below.is_zero() {
                return each(way, &mut [first, last], 1, &|way, _, square| {
                    factor(way, square[0]);
                });
            }
            factor(way.again(), first);
            divide(way.again(), below, first);
            subtract(way.again(), last, (below, below), true);
            factor(way, last);
        }
    }
}

/// Solves X L' = `square` for X and stores X in `square`.
fn divide<R: Runtime>(way: Way<'_, '_, R>, square: &mut Tree, l: &Tree) {
    match (square, l) {
        (Tree::Block(block), Tree::Block(l)) => divide_block(block, l),
        (Tree::Quadrants(quadrants), Tree::Quadrants(l)) => {
            let [first, _, below, last] = &**l;
            each(way, &mut quadrants[..], 2, &|mut way, _, half| {
                let [left, right] = half else {
                    unreachable!("a half is two quadrants");
                };
                divide(way.again(), left, first);
                subtract(way.again(), right, (left, below), false);
                divide(way, right, last);
            });
        }
        _ => {}
    }
}

/// Subtracts from `square` the product of the first factor and the transpose of the second. If
/// `on_diagonal`, elements above the diagonal of the square may be left unchanged.
fn subtract<R: Runtime>(
    way: Way<'_, '_, R>,
    square: &mut Tree,
    factors: (&Tree, &Tree),
    on_diagonal: bool,
) {
    match factors {
        (Tree::Block(a), Tree::Block(b)) => subtract_block(square.block(), a, b),
        (Tree::Quadrants(a), Tree::Quadrants(b)) => {
            let quadrants = square.quadrants();
            each(way, quadrants, 1, &|mut way, number, quadrant| {
                let (row, column) = (number / 2, number % 2);
                if on_diagonal && column > row {
                    return;
                }
                let (a, b) = (&a[2 * row..], &b[2 * column..]);
                for factors in a.iter().zip(b).take(2) {
                    let on_diagonal = on_diagonal && row == column;
                    subtract(way.again(), &mut quadrant[0], factors, on_diagonal);
                }
            });
            if quadrants.iter().all(Tree::is_zero) {
                *square = Tree::Zero;
            }
        }
        _ => {}
    }
}

// The operations on blocks are compiled once, for the serial version and every runtime. If they
// were inlined into a recursion, the compiler would no longer know that blocks don't overlap, and
// the operations would take three times as long.
#[inline(never)]
fn factor_block(block: &mut Block) {
    for j in 0..SIDE {
        let (column, later) = block[j..].split_first_mut().expect("j is a column");
        column[..j].fill(0.0);
        let root = column[j].sqrt();
        column.iter_mut().for_each(|element| *element /= root);
        for (other, factor) in later.iter_mut().zip(&column[j + 1..]) {
            subtract_column(other, *factor, column);
        }
    }
}

#[inline(never)]
fn divide_block(block: &mut Block, l: &Block) {
    for j in 0..SIDE {
        let (column, later) = block[j..].split_first_mut().expect("j is a column");
        column.iter_mut().for_each(|element| *element /= l[j][j]);
        for (other, factor) in later.iter_mut().zip(&l[j][j + 1..]) {
            subtract_column(other, *factor, column);
        }
    }
}

#[inline(never)]
fn subtract_block(block: &mut Block, a: &Block, b: &Block) {
    for (j, column) in block.iter_mut().enumerate() {
        for (a, b) in a.iter().zip(b) {
            subtract_column(column, b[j], a);
        }
    }
}

fn subtract_column(column: &mut [f64; SIDE], factor: f64, from: &[f64; SIDE]) {
    for (element, from) in column.iter_mut().zip(from) {
        *element -= factor * from;
    }
}

/// The program `cholesky`, which factors a sparse symmetric matrix.
#[derive(Clone, Copy, Debug)]
pub struct Cholesky {
    /// Number of rows and columns.
    pub n: usize,
    /// How many elements below the diagonal are drawn at random. The same element may be drawn more
    /// than once.
    pub nonzeros: usize,
    /// The seed for the matrix.
    pub seed: u64,
}

/// The matrix to factor, and a copy from which to restore it.
#[derive(Debug)]
pub struct Input {
    original: Tree,
    square: Tree,
}

impl Cholesky {
    /// Returns the positions of the random elements below the diagonal.
    pub(crate) fn places(&self) -> impl Iterator<Item = (usize, usize)> {
        let n = self.n as u64;
        let draw = move |seed, number| (random(seed, number) % n) as usize;
        let seed = !self.seed;
        let pairs = (0..).map(move |i| (draw(seed, 2 * i), draw(seed, 2 * i + 1)));
        let pairs = pairs.filter(|(one, other)| one != other);
        let below = pairs.map(|(one, other)| (one.max(other), one.min(other)));
        below.take(self.nonzeros)
    }

    /// Builds a diagonally dominant matrix, which is therefore positive definite.
    fn matrix(&self) -> Tree {
        let mut matrix = Tree::default();
        let mut diagonal = vec![1.0; self.n];
        for (number, (row, column)) in self.places().enumerate() {
            let value = uniform(self.seed, number as u64);
            matrix.add(self.n, (row, column), value);
            diagonal[row] += value.abs();
            diagonal[column] += value.abs();
        }
        for (row, value) in diagonal.into_iter().enumerate() {
            matrix.add(self.n, (row, row), value);
        }
        matrix
    }

    /// Collects the blocks of a tree; positions and blocks are transposed.
    fn blocks<'a>(&self, tree: &'a Tree) -> Vec<Placed<'a, f64>> {
        let mut blocks = Vec::new();
        tree.transposed(self.n, (0, 0), &mut blocks);
        blocks
    }
}

impl Program for Cholesky {
    const NAME: &'static str = "cholesky";
    const SUMMARY: &'static str = "sparse Cholesky factorization on a quadtree";
    parameters! {
        n = positional("n", Integer(SIDE as u64, 1 << 15), ["128", "2048", "2048"],
            "rows and columns of the matrix: 16 times a power of two");
        nonzeros = named("nonzeros", Integer(0, 1 << 32), ["100", "10000", "10000"],
            "random nonzero elements below the diagonal");
        seed = seed("seed of the matrix");
    }
    const RESULT: &'static [Field] = FACTORED;

    type Input = Input;
    type Output = ();

    fn check(&self) -> Result<(), ParameterError> {
        if self.n % SIDE == 0 && self.n.is_power_of_two() {
            return Ok(());
        }
        let expected = format!("{SIDE} times a power of two");
        Err(ParameterError::invalid(self.n, "n", expected))
    }

    fn prepare(&self) -> io::Result<Input> {
        let original = self.matrix();
        Ok(Input {
            square: original.clone(),
            original,
        })
    }

    fn reset(&self, input: &mut Input) {
        input.square.clone_from(&input.original);
    }

    fn serial(&self, input: &mut Input) {
        factor::<Serial>(Way::Call, &mut input.square);
    }

    fn parallel<R: Runtime>(&self, input: &mut Input, fork: &mut R::Fork<'_>) {
        factor(Way::<R>::new(Form::Join, fork), &mut input.square);
    }

    fn answer(&self, input: &Input, (): &()) -> Answer {
        let (original, factors) = (self.blocks(&input.original), self.blocks(&input.square));
        let swapped = |(row, column, value)| (column, row, value);
        let matrix = entries(SIDE, &original).flat_map(|entry| {
            let (row, column, _) = entry;
            // Elements off the diagonal are also listed transposed, because only half of the
            // symmetric matrix is stored.
            [entry]
                .into_iter()
                .chain((row != column).then(|| swapped(entry)))
        });
        let upper = entries(SIDE, &factors);
        factored(
            self.n,
            f64::EPSILON,
            matrix,
            upper.clone().map(swapped),
            upper,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn factored(n: usize, nonzeros: usize, seed: u64) -> (Cholesky, Input) {
        let program = Cholesky { n, nonzeros, seed };
        let mut input = program.prepare().unwrap();
        program.serial(&mut input);
        (program, input)
    }

    /// Returns all elements of a tree, including zeros, row by row.
    fn rows(program: &Cholesky, tree: &Tree) -> Vec<Vec<f64>> {
        let mut rows = vec![vec![0.0; program.n]; program.n];
        for (column, row, value) in entries(SIDE, &program.blocks(tree)) {
            rows[row][column] = value;
        }
        rows
    }

    #[test]
    fn factor_product_equals_the_matrix() {
        for (n, nonzeros) in [(16, 0), (16, 100), (32, 3), (64, 40), (128, 5), (128, 4000)] {
            let (program, input) = factored(n, nonzeros, 1);
            let [matrix, l] = [&input.original, &input.square].map(|tree| rows(&program, tree));
            for (i, j) in (0..n).flat_map(|i| (0..=i).map(move |j| (i, j))) {
                let products = l[i].iter().zip(&l[j]).map(|(a, b)| a * b);
                let error = (matrix[i][j] - products.sum::<f64>()).abs();
                assert!(error < 1e-12, "{n} {nonzeros}: {i} {j} {error}");
                assert!(i == j || l[j][i] == 0.0, "{n} {nonzeros}: {i} {j}");
            }
            assert_eq!(program.answer(&input, &())["factored"], true);
        }
    }

    #[test]
    fn wrong_cholesky_factor_is_detected() {
        let (program, mut input) = factored(64, 40, 1);
        input.square.add(64, (33, 33), 1e-9);
        assert_eq!(program.answer(&input, &())["factored"], false);
    }

    /// The factor of a diagonal matrix stores only the diagonal blocks.
    #[test]
    fn diagonal_matrix_stays_diagonal() {
        let (program, input) = factored(256, 0, 1);
        assert_eq!(program.blocks(&input.square).len(), 16);
        assert!(
            entries(SIDE, &program.blocks(&input.square))
                .all(|(row, column, value)| { value == f64::from(u8::from(row == column)) })
        );
    }

    #[test]
    fn stored_lower_half_has_requested_nonzeros() {
        let program = Cholesky {
            n: 256,
            nonzeros: 300,
            seed: 2,
        };
        let matrix = program.matrix();
        let blocks = program.blocks(&matrix);
        let below = entries(SIDE, &blocks).filter(|(column, row, _)| row > column);
        let set = below.filter(|(_, _, value)| *value != 0.0).count();
        // Some of the 300 positions may be drawn twice.
        assert!((290..=300).contains(&set), "{set}");
        assert!(entries(SIDE, &blocks).all(|(column, row, value)| row >= column || value == 0.0));
    }
}
