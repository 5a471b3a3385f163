//! Stencil: heat flow in a rod, divided into blocks. Each block waits only for its neighbours.
//!
//! Each step computes every cell's next value from the cell and its neighbours; two buffers
//! alternate. Block b of step t waits for blocks b - 1, b and b + 1 of step t - 1: they have
//! written what block b reads, and have read what block b overwrites. With a barrier after each
//! step instead, all blocks would wait for the slowest one.
//!
//! The order of blocks doesn't depend on data: every run has the same graph.

use std::io;
use std::sync::RwLock;

use tidegate::interval::{Interval, IntervalBuilder, Scope};

use super::rows::unfold;
use super::{BATCH, follow, piece, put, read, write};
use crate::parameter::{Kind::Integer, named, positional};
use crate::program::{Program, parameters, result};
use crate::runtime::Runtime;
use crate::steps::{checksum, random};

/// The fraction of a temperature difference that flows to the neighbouring cell per step.
const FLOW: f64 = 0.25;
/// The constant temperature at both ends of the rod.
const ENDS: f64 = 0.0;
const SEED: u64 = 1;

/// The program `stencil`, which simulates heat flow in a rod.
#[derive(Clone, Copy, Debug)]
pub struct Stencil {
    /// Cells in the rod.
    pub cells: usize,
    /// How many blocks the rod is divided into.
    pub blocks: usize,
    /// How many time steps to compute.
    pub steps: u64,
}

/// The rod's cells, and the buffer that receives their next values.
pub type Rod = [Vec<f64>; 2];

/// Computes the next values of `cells`. `left` and `right` are the cells adjacent to them.
fn advance(left: f64, cells: &[f64], right: f64, to: &mut [f64]) {
    let beside = |left: f64, own: f64, right: f64| own + FLOW * (left - 2.0 * own + right);
    let last = cells.len() - 1;
    if last == 0 {
        to[0] = beside(left, cells[0], right);
        return;
    }
    to[0] = beside(left, cells[0], cells[1]);
    for (to, cells) in to[1..last].iter_mut().zip(cells.windows(3)) {
        *to = beside(cells[0], cells[1], cells[2]);
    }
    to[last] = beside(cells[last - 1], cells[last], right);
}

/// Replaces the intervals in a row with new intervals from `draft`. Each new interval waits for the
/// old interval at its own index and for that interval's neighbours.
pub(super) fn after_neighbours<'scope, 'env>(
    body: &Scope<'scope, 'env>,
    row: &mut Vec<Interval<'scope>>,
    places: usize,
    draft: impl Fn(&Scope<'scope, 'env>, usize) -> IntervalBuilder<'scope>,
) {
    let mut left: Option<Interval<'scope>> = None;
    for place in 0..places {
        let next = draft(body, place);
        let own = row.get(place).cloned();
        let right = row.get(place + 1);
        let before = [left.as_ref(), own.as_ref(), right];
        before
            .into_iter()
            .flatten()
            .for_each(|it| follow(it, &next));
        put(row, place, next.schedule());
        left = own;
    }
}

/// Computes the block with the index `number` for one step.
fn block(from: &[RwLock<&mut [f64]>], to: &RwLock<&mut [f64]>, number: usize) {
    let beside = |number: Option<usize>| from.get(number?).map(read);
    let left = beside(number.checked_sub(1)).and_then(|cells| cells.last().copied());
    let right = beside(Some(number + 1)).and_then(|cells| cells.first().copied());
    let (left, right) = (left.unwrap_or(ENDS), right.unwrap_or(ENDS));
    advance(left, &read(&from[number]), right, &mut write(to));
}

impl Program for Stencil {
    const NAME: &'static str = "stencil";
    const SUMMARY: &'static str = "heat in a rod; each block waits only for its neighbors";
    parameters! {
        cells = positional("cells", Integer(1, 1 << 32), ["1000", "1000000", "4000000"],
            "number of cells in the rod");
        steps = positional("steps", Integer(0, 1_000_000_000), ["50", "300", "1000"],
            "number of steps");
        blocks = named("blocks", Integer(1, 1_000_000), ["7", "64", "256"],
            "number of blocks; each block is one interval per step");
    }
    result! { self, rod, () =>
        heat "final sum of all cells" = rod[(self.steps % 2) as usize].iter().sum::<f64>();
        checksum "hash of the cells"
            = checksum(rod[(self.steps % 2) as usize].iter().map(|cell| cell.to_bits()));
    }
    const INTERVALS: bool = true;

    type Input = Rod;
    type Output = ();

    fn prepare(&self) -> io::Result<Rod> {
        let mut rod = [vec![0.0; self.cells], vec![0.0; self.cells]];
        self.reset(&mut rod);
        Ok(rod)
    }

    fn reset(&self, [rod, _]: &mut Rod) {
        for (number, cell) in (0..).zip(rod) {
            *cell = random(SEED, number) as f64 / u64::MAX as f64;
        }
    }

    fn serial(&self, [from, to]: &mut Rod) {
        let (mut from, mut to) = (from, to);
        for _ in 0..self.steps {
            advance(ENDS, from, ENDS, to);
            (from, to) = (to, from);
        }
    }

    fn parallel<R: Runtime>(&self, rod: &mut Rod, fork: &mut R::Fork<'_>) {
        let length = piece(self.cells, self.blocks);
        let blocks = rod.each_mut().map(|cells| {
            cells
                .chunks_mut(length)
                .map(RwLock::new)
                .collect::<Vec<_>>()
        });
        let [one, other] = blocks.each_ref().map(Vec::as_slice);
        R::intervals(fork, |body| {
            unfold::<R, _>(body, self.steps, BATCH, move |body, step, row| {
                let (from, to) = match step % 2 {
                    0 => (one, other),
                    _ => (other, one),
                };
                after_neighbours(body, row, from.len(), |body, number| {
                    let next = body.interval(move |_| block(from, &to[number], number));
                    R::named(next, || format!("step {step}, block {number}"))
                });
            });
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn block_length_does_not_change_cells() {
        let cells: Vec<f64> = (0..12).map(|number| f64::from(number * number)).collect();
        let mut whole = vec![0.0; 12];
        advance(7.0, &cells, 9.0, &mut whole);
        assert_eq!(whole[0], 0.25 * 7.0 + 0.25 * 1.0);
        for length in 1..=12 {
            let mut parts = vec![0.0; 12];
            for (number, to) in parts.chunks_mut(length).enumerate() {
                let (start, end) = (number * length, number * length + to.len());
                let left = if start == 0 { 7.0 } else { cells[start - 1] };
                let right = cells.get(end).copied().unwrap_or(9.0);
                advance(left, &cells[start..end], right, to);
            }
            assert_eq!(parts, whole, "{length}");
        }
    }

    #[test]
    fn heat_spreads_evenly_without_loss() {
        let mut from = vec![0.0; 101];
        from[50] = 1.0;
        let mut to = from.clone();
        for _ in 0..40 {
            advance(ENDS, &from, ENDS, &mut to);
            std::mem::swap(&mut from, &mut to);
        }
        assert!((from.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        for cell in 0..50 {
            assert!((from[cell] - from[100 - cell]).abs() < 1e-15);
            assert!(from[cell] <= from[cell + 1]);
        }
    }
}
