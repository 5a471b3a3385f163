//! SOR: successive over-relaxation on a square grid whose cells are coloured like a chessboard
//! (red-black order).
//!
//! Each sweep moves every inner cell of one colour towards, and beyond, the mean of its four
//! neighbours, which have the other colour; sweeps alternate between the colours. A row ([`relax`])
//! is the smallest part: row i may be relaxed in sweep s once rows i - 1, i and i + 1 have been
//! relaxed in sweep s - 1. Every order that satisfies this gives identical bits.
//!
//! The cells of each colour are stored in separate rows ([`Sor::colours`]), so a sweep writes one
//! set of rows and reads the other. The benchmark stores both colours in one row, so one task would
//! have to read cells while another writes the cells between them. Arithmetic and result are the
//! same.
//!
//! The kernel doesn't test for convergence; the number of sweeps is fixed.

use super::random::Random;
use super::{Kernel, Mismatch, Size};

/// The relaxation factor. Because it is above 1, a cell moves beyond the mean.
const OMEGA: f64 = 1.25;
/// The number of sweeps. Each of the benchmark's iterations makes two, one for each colour.
pub const SWEEPS: usize = 200;
/// The seed for the grid's cells.
const SEED: u64 = 10_101_010;
/// The initial values of the grid's cells are less than this.
const LIMIT: f64 = 1e-6;

/// The maximum deviation of the sum from the reference, as published.
const TOLERANCE: f64 = 1e-12;

/// The state of the kernel SOR.
#[derive(Clone, Debug)]
pub struct Sor {
    size: Size,
    /// The rows of each colour. A cell has the first colour if the sum of its row and column is
    /// even, and the second otherwise. Each row lists its cells of one colour from left to right.
    pub colours: [Vec<Vec<f64>>; 2],
}

/// Relaxes the inner cells of a row that have the sweep's colour, which is the sweep's number
/// modulo 2. The neighbours have the other colour: `same` are the neighbours in the row itself,
/// `above` and `below` those in the adjacent rows.
///
/// The first and last rows of a grid must not be relaxed, because they lack a neighbouring row.
pub fn relax((sweep, row): (usize, usize), cells: &mut [f64], [above, same, below]: [&[f64]; 3]) {
    // The first cell of the row is on the border. If it has this colour, it is skipped.
    let first = 1 - (sweep + row) % 2;
    let sides = same.windows(2);
    let above_and_below = above[first..].iter().zip(&below[first..]);
    let cells = cells[first..].iter_mut().zip(sides).zip(above_and_below);
    for ((cell, sides), (above, below)) in cells {
        let neighbours = above + below + sides[0] + sides[1];
        *cell = OMEGA / 4.0 * neighbours + (1.0 - OMEGA) * *cell;
    }
}

/// Returns the cells of the benchmark's grid by colour. They are drawn row by row.
fn grid(size: Size) -> [Vec<Vec<f64>>; 2] {
    let length = size.choose([100, 1000, 1500, 2000]);
    let mut random = Random::new(SEED);
    let mut colours = [const { Vec::new() }; 2];
    for row in 0..length {
        let cells: Vec<_> = (0..length).map(|_| random.unit() * LIMIT).collect();
        for (colour, rows) in colours.iter_mut().enumerate() {
            let first = (row + colour) % 2;
            rows.push(cells.iter().skip(first).step_by(2).copied().collect());
        }
    }
    colours
}

impl Sor {
    /// Returns the number of rows, which is also the number of columns.
    pub fn length(&self) -> usize {
        self.colours[0].len()
    }

    fn cell(&self, row: usize, column: usize) -> f64 {
        self.colours[(row + column) % 2][row][column / 2]
    }
}

impl Kernel for Sor {
    const NAME: &'static str = "sor";

    /// The sum of the inner cells.
    type Figure = f64;

    fn new(size: Size) -> Self {
        let colours = grid(size);
        Self { size, colours }
    }

    fn reset(&mut self) {
        self.colours = grid(self.size);
    }

    fn serial(&mut self) -> f64 {
        let length = self.length();
        let [mut written, mut read] = self.colours.each_mut();
        for sweep in 0..SWEEPS {
            let inner = written.iter_mut().enumerate().take(length - 1).skip(1);
            for (row, cells) in inner {
                let neighbours = [row - 1, row, row + 1].map(|row| &read[row][..]);
                relax((sweep, row), cells, neighbours);
            }
            (written, read) = (read, written);
        }
        self.figure()
    }

    fn figure(&self) -> f64 {
        let inner = 1..self.length() - 1;
        let rows = inner.clone();
        rows.flat_map(|row| inner.clone().map(move |column| (row, column)))
            .map(|(row, column)| self.cell(row, column))
            .sum()
    }

    fn check(&self, figure: &f64) -> Result<(), Mismatch> {
        let reference = self.size.choose::<fn() -> f64, 4>([
            || Self::new(Size::Test).serial(),
            || 0.498_574_406_322_512,
            || 1.123_477_898_013_510_5,
            || 1.995_489_506_358_269_6,
        ]);
        Mismatch::unless_near("sum", *figure, reference(), TOLERANCE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Builds the rows of a grid with `length` rows and columns, by colour.
    fn by_colours(length: usize, cell: impl Fn(usize, usize) -> f64) -> [Vec<Vec<f64>>; 2] {
        [0, 1].map(|colour| {
            let of_row = |row| {
                let columns = (0..length).filter(|column| (row + column) % 2 == colour);
                columns.map(|column| cell(row, column)).collect()
            };
            (0..length).map(of_row).collect()
        })
    }

    /// The cells at both ends of the row are on the border and keep their values.
    #[test]
    fn row_is_relaxed_by_the_formula() {
        let cell = |row: usize, column: usize| 1.0 / (1 + 7 * row + column * column) as f64;
        for length in 3..9 {
            for (sweep, row) in [(0, 1), (1, 1), (2, length - 2), (3, length - 2)] {
                let mut colours = by_colours(length, cell);
                let [even, odd] = &mut colours;
                let (cells, read) = if sweep % 2 == 0 {
                    (even, odd)
                } else {
                    (odd, even)
                };
                let neighbours = [row - 1, row, row + 1].map(|row| &read[row][..]);
                relax((sweep, row), &mut cells[row], neighbours);
                let wanted = by_colours(length, |i, j| {
                    let border = j == 0 || j == length - 1;
                    if i != row || border || (i + j) % 2 != sweep % 2 {
                        return cell(i, j);
                    }
                    let vertical = cell(i - 1, j) + cell(i + 1, j);
                    let neighbours = vertical + cell(i, j - 1) + cell(i, j + 1);
                    0.3125 * neighbours - 0.25 * cell(i, j)
                });
                assert_eq!(colours, wanted, "{length} {sweep} {row}");
            }
        }
    }
}
