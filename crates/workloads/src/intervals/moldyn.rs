//! MolDyn: each phase is an inline interval and waits for the whole previous phase.
//!
//! The pieces of a phase are intervals inside it. Forces are added up in the order of the pieces,
//! so the figure depends on the number of pieces but not on the schedule.

use super::{Composed, piece};
use crate::grande::MolDyn;
use crate::grande::moldyn::{Forces, STEPS, kick, kinetic, rescale};
use crate::runtime::Runtime;

impl Composed for MolDyn {
    const SUMMARY: &'static str = "Java Grande: molecular dynamics of argon";

    // There are few pieces, because the forces of every piece are stored separately and then added
    // up.
    const PIECES: [&'static str; 3] = ["5", "16", "16"];

    fn run<R: Runtime>(&mut self, fork: &mut R::Fork<'_>, pieces: usize) {
        let piece = piece(self.positions.len(), pieces);
        let pieces = self.positions.len().div_ceil(piece);
        let mut private = vec![Forces::new(self.positions.len()); pieces];
        let mut squares = vec![0.0; pieces];
        for step in 0..STEPS {
            advance::<R>(fork, self, piece);
            interact::<R>(fork, self, piece, &mut private);
            add_up::<R>(fork, self, piece, &private, &mut squares);
            self.kinetic = kinetic(squares.iter().sum());
            if let Some(factor) = self.cell.correction(step, &mut self.kinetic) {
                R::intervals(fork, |body| {
                    for (number, velocities) in self.velocities.chunks_mut(piece).enumerate() {
                        let next = body.interval(move |_| rescale(velocities, factor));
                        R::named(next, || format!("rescale {number}")).schedule();
                    }
                });
            }
        }
    }
}

fn advance<R: Runtime>(fork: &mut R::Fork<'_>, kernel: &mut MolDyn, piece: usize) {
    let cell = &kernel.cell;
    let velocities = kernel.velocities.chunks_mut(piece);
    let moved = kernel.positions.chunks_mut(piece).zip(velocities);
    let moved = moved.zip(kernel.forces.each.chunks(piece));
    R::intervals(fork, |body| {
        for (number, ((positions, velocities), forces)) in moved.enumerate() {
            let next = body.interval(move |_| cell.advance(positions, velocities, forces));
            R::named(next, || format!("advance {number}")).schedule();
        }
    });
}

/// For each piece of particles, computes the forces between these particles and all later ones.
fn interact<R: Runtime>(
    fork: &mut R::Fork<'_>,
    kernel: &MolDyn,
    piece: usize,
    private: &mut [Forces],
) {
    let (cell, positions) = (&kernel.cell, &kernel.positions[..]);
    R::intervals(fork, |body| {
        for (number, forces) in private.iter_mut().enumerate() {
            let first = number * piece;
            let range = first..positions.len().min(first + piece);
            let next = body.interval(move |_| {
                forces.clear();
                cell.interact(positions, range, forces);
            });
            R::named(next, || format!("interact {number}")).schedule();
        }
    });
}

/// For each piece of particles, adds up the forces on these particles and updates their velocities.
fn add_up<R: Runtime>(
    fork: &mut R::Fork<'_>,
    kernel: &mut MolDyn,
    piece: usize,
    private: &[Forces],
    squares: &mut [f64],
) {
    let velocities = kernel.velocities.chunks_mut(piece);
    let kicked = kernel.forces.each.chunks_mut(piece).zip(velocities);
    R::intervals(fork, |body| {
        for (number, ((total, velocities), squares)) in kicked.zip(squares).enumerate() {
            let next = body.interval(move |_| {
                total.fill([0.0; 3]);
                let all = private.iter();
                all.for_each(|forces| forces.add_to(number * piece, total));
                *squares = kick(velocities, total);
            });
            R::named(next, || format!("add up {number}")).schedule();
        }
    });
}
