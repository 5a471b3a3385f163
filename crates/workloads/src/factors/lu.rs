//! LU factorization of a dense matrix by blocks, with partial pivoting.
//!
//! The matrix is stored in panels. A panel is as wide as a block and extends from the first row to
//! the last. Step k serially factors the part of panel k below the finished rows. Then, in each
//! later panel, the step makes the same row exchanges, solves for the panel's block of U, and
//! updates the panel's other blocks by subtracting products; all these blocks are independent.
//! Finished panels exchange their rows at the end. So the factorizations of the panels form the
//! critical path, and more blocks give more parallelism. From Lukas Haselsteiner, Adaptive
//! Work-Stealing Techniques (TU Wien, 2015), chapter 3, which factors a matrix of 1024 rows with
//! numbers between -1 and 1.
//!
//! Joins halve the range of later panels and, within each panel, the range of blocks.
//!
//! The program doesn't factor the next panel while other panels still run the previous step, and it
//! doesn't factor a panel in parallel.

use std::io;

use super::{FACTORED, Placed, block, entries, factored, triangles};
use crate::parameter::{Kind::Integer, ParameterError, named, positional, seed};
use crate::program::{Answer, Field, Form, Program, parameters};
use crate::runtime::{Runtime, Serial};
use crate::steps::uniform;
use crate::way::{Way, each};

/// The maximum number of rows; such a matrix takes 8 GiB.
const MOST_ROWS: u64 = 1 << 15;

/// The program `lu`, which factors a dense matrix.
#[derive(Clone, Copy, Debug)]
pub struct Lu {
    /// Number of rows and columns, a multiple of `side`.
    pub n: usize,
    /// Rows per block, which is also the number of columns per block.
    pub side: usize,
    /// The seed for the matrix.
    pub seed: u64,
}

/// The matrix, panel by panel, and a copy from which to restore it.
#[derive(Debug)]
pub struct Input {
    original: Vec<Vec<f64>>,
    panels: Vec<Vec<f64>>,
    /// For each row, the index of the row with which it was exchanged. Within each step, indices
    /// count from the step's first row.
    pivots: Vec<usize>,
}

impl Lu {
    /// Returns the number of blocks per row.
    pub(crate) const fn blocks(&self) -> usize {
        self.n / self.side
    }

    const fn area(&self) -> usize {
        self.side * self.side
    }

    fn panel(&self, number: usize) -> Vec<f64> {
        let elements = 0..self.n * self.side;
        let element = |at: usize| {
            let (row, column) = (at / self.side, number * self.side + at % self.side);
            uniform(self.seed, (row * self.n + column) as u64)
        };
        elements.map(element).collect()
    }

    fn factor<R: Runtime>(
        &self,
        mut way: Way<'_, '_, R>,
        panels: &mut [Vec<f64>],
        pivots: &mut [usize],
    ) {
        for (step, pivots) in pivots.chunks_exact_mut(self.side).enumerate() {
            let (done, later) = panels.split_at_mut(step + 1);
            let panel = &mut done[step][step * self.area()..];
            self.factor_panel(panel, pivots);
            each(way.again(), later, 1, &|way, _, later| {
                self.update(way, (panel, pivots), &mut later[0][step * self.area()..]);
            });
        }
        each(way, panels, 1, &|_, number, panel| {
            let steps = pivots.chunks_exact(self.side).enumerate();
            for (step, pivots) in steps.skip(number + 1) {
                self.exchange(pivots, &mut panel[0][step * self.area()..]);
            }
        });
    }

    /// Factors the unfinished rows of a panel, and records its row exchanges in `pivots`.
    fn factor_panel(&self, panel: &mut [f64], pivots: &mut [usize]) {
        for (k, pivot) in pivots.iter_mut().enumerate() {
            *pivot = self.largest(k, panel);
            self.swap_rows(k, *pivot, panel);
            block::eliminate(self.side, k, panel);
        }
    }

    /// Returns the pivot row: the row, at or below row `k`, with the largest absolute value in
    /// column `k`.
    fn largest(&self, k: usize, panel: &[f64]) -> usize {
        let rows = panel.chunks_exact(self.side).enumerate().skip(k);
        let sizes = rows.map(|(row, values)| (row, values[k].abs()));
        let larger =
            |most: (usize, f64), next: (usize, f64)| if next.1 > most.1 { next } else { most };
        sizes.fold((k, 0.0), larger).0
    }

    /// Updates a later panel with the row exchanges and the factors of `panel`.
    fn update<R: Runtime>(
        &self,
        way: Way<'_, '_, R>,
        (panel, pivots): (&[f64], &[usize]),
        later: &mut [f64],
    ) {
        self.exchange(pivots, later);
        let (diagonal, multipliers) = panel.split_at(self.area());
        let (upper, below) = later.split_at_mut(self.area());
        block::solve_lower(self.side, diagonal, upper);
        each(way, below, self.area(), &|_, number, block| {
            let multipliers = &multipliers[number * self.area()..][..self.area()];
            block::subtract_product(self.side, multipliers, upper, block);
        });
    }

    /// Applies a step's row exchanges to another panel.
    fn exchange(&self, pivots: &[usize], panel: &mut [f64]) {
        for (row, &pivot) in pivots.iter().enumerate() {
            self.swap_rows(row, pivot, panel);
        }
    }

    fn swap_rows(&self, row: usize, pivot: usize, panel: &mut [f64]) {
        if pivot > row {
            let (above, below) = panel.split_at_mut(pivot * self.side);
            above[row * self.side..][..self.side].swap_with_slice(&mut below[..self.side]);
        }
    }

    /// Returns where each row of the matrix is after all exchanges.
    fn places(&self, pivots: &[usize]) -> Vec<usize> {
        let mut rows: Vec<_> = (0..self.n).collect();
        for (row, pivot) in pivots.iter().enumerate() {
            rows.swap(row, row - row % self.side + pivot);
        }
        let mut places = vec![0; rows.len()];
        for (place, row) in rows.into_iter().enumerate() {
            places[row] = place;
        }
        places
    }

    fn placed<'a>(&self, panels: &'a [Vec<f64>]) -> Vec<Placed<'a, f64>> {
        let panels = panels.iter().enumerate();
        panels
            .map(|(number, panel)| (0, number * self.side, &panel[..]))
            .collect()
    }
}

impl Program for Lu {
    const NAME: &'static str = "lu";
    const SUMMARY: &'static str = "blocked dense LU factorization with pivoting";
    parameters! {
        n = positional("n", Integer(1, MOST_ROWS), ["96", "1024", "1024"],
            "rows and columns of the matrix, a multiple of block");
        side = named("block", Integer(1, MOST_ROWS), ["16", "32", "32"],
            "rows and columns of a block");
        seed = seed("seed of the matrix");
    }
    const RESULT: &'static [Field] = FACTORED;

    type Input = Input;
    type Output = ();

    fn check(&self) -> Result<(), ParameterError> {
        let Self { n, side, .. } = *self;
        if n % side == 0 {
            return Ok(());
        }
        let expected = format!("a multiple of block, which is {side}");
        Err(ParameterError::invalid(n, "n", expected))
    }

    fn prepare(&self) -> io::Result<Input> {
        let original: Vec<_> = (0..self.blocks())
            .map(|number| self.panel(number))
            .collect();
        Ok(Input {
            panels: original.clone(),
            original,
            pivots: vec![0; self.n],
        })
    }

    fn reset(&self, input: &mut Input) {
        input.panels.clone_from(&input.original);
    }

    fn serial(&self, input: &mut Input) {
        self.factor::<Serial>(Way::Call, &mut input.panels, &mut input.pivots);
    }

    fn parallel<R: Runtime>(&self, input: &mut Input, fork: &mut R::Fork<'_>) {
        let way = Way::<R>::new(Form::Join, fork);
        self.factor(way, &mut input.panels, &mut input.pivots);
    }

    fn answer(&self, input: &Input, (): &()) -> Answer {
        let places = self.places(&input.pivots);
        let (original, panels) = (self.placed(&input.original), self.placed(&input.panels));
        let matrix = entries(self.side, &original);
        let matrix = matrix.map(|(row, column, value)| (places[row], column, value));
        let (lower, upper) = triangles(self.n, entries(self.side, &panels));
        factored(self.n, f64::EPSILON, matrix, lower, upper)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(blocks: usize, side: usize) -> (Lu, Input) {
        let program = Lu {
            n: blocks * side,
            side,
            seed: 3,
        };
        let input = program.prepare().unwrap();
        (program, input)
    }

    #[test]
    fn small_matrix_is_factored_with_pivoting() {
        let (program, mut input) = program(2, 1);
        // The columns of the matrix are (0, 3) and (2, 1).
        input.original = vec![vec![0.0, 3.0], vec![2.0, 1.0]];
        program.reset(&mut input);
        program.serial(&mut input);
        assert_eq!(input.panels, [[3.0, 0.0], [1.0, 2.0]]);
        assert_eq!(input.pivots, [1, 0]);
        assert_eq!(program.places(&input.pivots), [1, 0]);
    }

    #[test]
    fn lu_factors_reproduce_the_matrix() {
        for (blocks, side) in [(1, 1), (1, 7), (2, 3), (5, 4), (20, 1)] {
            let (program, mut input) = program(blocks, side);
            let factored = program.n == 1;
            assert_eq!(program.answer(&input, &())["factored"], factored);
            program.serial(&mut input);
            assert_eq!(
                program.answer(&input, &())["factored"],
                true,
                "{blocks} {side}"
            );
        }
    }

    #[test]
    fn wrong_lu_factors_are_detected() {
        let (program, mut input) = program(3, 4);
        program.serial(&mut input);
        for (panel, at) in [(0, 0), (0, 47), (1, 20), (2, 3)] {
            let element = input.panels[panel][at];
            input.panels[panel][at] += 1e-9;
            assert_eq!(program.answer(&input, &())["factored"], false);
            input.panels[panel][at] = element;
            assert_eq!(program.answer(&input, &())["factored"], true);
        }
        input.pivots.fill(0);
        input.pivots[0] = 1;
        assert_eq!(program.answer(&input, &())["factored"], false);
    }

    #[test]
    fn no_multiplier_is_larger_than_one() {
        let (program, mut input) = program(6, 5);
        program.serial(&mut input);
        let panels = program.placed(&input.panels);
        let below = entries(5, &panels).filter(|(row, column, _)| row > column);
        assert!(
            below
                .map(|(_, _, value)| value.abs())
                .all(|value| value <= 1.0)
        );
    }

    #[test]
    fn blocks_do_not_change_the_pivots() {
        let (whole, mut in_one) = program(1, 24);
        let (parted, mut in_many) = program(6, 4);
        whole.serial(&mut in_one);
        parted.serial(&mut in_many);
        let places = whole.places(&in_one.pivots);
        assert_eq!(places, parted.places(&in_many.pivots));
    }
}
