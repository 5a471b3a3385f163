//! SOR: in each sweep, a band of rows waits for the same band and for its two neighbours in the
//! previous sweep.

use std::sync::RwLock;

use tidegate::interval::{Interval, Scope};

use super::rows::unfold;
use super::{BATCH, Composed, piece, read, write};
use crate::grande::sor::{SWEEPS, relax};
use crate::grande::{Size, Sor};
use crate::intervals::stencil::after_neighbours;
use crate::parameter::Words;
use crate::runtime::Runtime;

impl Composed for Sor {
    const SUMMARY: &'static str = "Java Grande: successive over-relaxation, by rows";

    const PROBLEMS: &'static [&'static str] = Size::NAMES;

    fn run<R: Runtime>(&mut self, fork: &mut R::Fork<'_>, pieces: usize) {
        let length = self.length();
        let colours = self
            .colours
            .each_mut()
            .map(|rows| rows.iter_mut().map(RwLock::new).collect::<Vec<_>>());
        let grid = Grid {
            colours: colours.each_ref().map(Vec::as_slice),
            band: piece(length - 2, pieces),
        };
        R::intervals(fork, |body| {
            unfold::<R, _>(body, SWEEPS as u64, BATCH, move |body, sweep, row| {
                grid.sweep::<R>(body, sweep as usize, row);
            });
        });
    }
}

/// The data shared by all sweeps.
#[derive(Clone, Copy)]
struct Grid<'a> {
    colours: [&'a [RwLock<&'a mut Vec<f64>>]; 2],
    /// Rows per band.
    band: usize,
}

impl<'a> Grid<'a> {
    /// Creates the bands of a sweep. `row` holds the bands of the previous sweep.
    fn sweep<'scope, R: Runtime>(
        self,
        body: &Scope<'scope, '_>,
        sweep: usize,
        row: &mut Vec<Interval<'scope>>,
    ) where
        'a: 'scope,
    {
        let [one, other] = self.colours;
        let (written, read_from) = match sweep % 2 {
            0 => (one, other),
            _ => (other, one),
        };
        let end = written.len() - 1;
        let bands = (1..end).step_by(self.band);
        after_neighbours(body, row, bands.len(), |body, number| {
            let first = 1 + number * self.band;
            let band = first..end.min(first + self.band);
            let next = body.interval(move |_| {
                for row in band {
                    let neighbours = [row - 1, row, row + 1].map(|row| read(&read_from[row]));
                    let neighbours = neighbours.each_ref().map(|cells| &cells[..]);
                    relax((sweep, row), &mut write(&written[row]), neighbours);
                }
            });
            R::named(next, || format!("sweep {sweep}, band {number}"))
        });
    }
}
