//! MolDyn: argon atoms that attract and repel each other in a box with periodic boundaries.
//!
//! Each step has phases that must run in order. First, all particles move ([`Cell::advance`]). Then
//! the forces between all sufficiently close pairs of particles are added up ([`Cell::interact`]).
//! They change the velocities, from which the kinetic energy follows ([`kick`]). After one of the
//! steps, the velocities are scaled to the target temperature ([`Cell::correction`], [`rescale`]).
//!
//! Moves and velocity updates may be divided among tasks in any way. The forces of a range of
//! particles also act on all later particles, so each task needs its own [`Forces`], which are then
//! added up ([`Forces::add_to`]). Ranges of equal length are not equal work: each particle is
//! paired with all particles after it. A parallel version adds up the forces in another order, so
//! its figure differs from the serial version's in the last digits.
//!
//! The kernel has no neighbour lists. It doesn't compute the mean speed and the pressure, which the
//! benchmark computes but doesn't check.

use super::{Kernel, Mismatch, Size};
pub use forces::{Cell, Forces};
pub use lattice::{positions, velocities};

mod forces;
mod lattice;

/// A vector with three coordinates.
pub type Vector = [f64; 3];

/// Number of time steps.
pub const STEPS: usize = 50;
/// The velocities are corrected after this step; the first step is 1.
const CORRECTED: usize = 10;
/// The length of a time step.
const STEP: f64 = 0.064;
const SQUARE: f64 = STEP * STEP;
/// Particles per unit of volume.
const DENSITY: f64 = 0.83134;
/// The target temperature.
const TEMPERATURE: f64 = 0.722;

/// The maximum deviation of the kinetic energy from the reference, as published.
const TOLERANCE: f64 = 1e-10;

/// The state of the kernel MolDyn.
#[derive(Clone, Debug)]
pub struct MolDyn {
    size: Size,
    /// The box and its parameters.
    pub cell: Cell,
    /// The position of each particle in the box.
    pub positions: Vec<Vector>,
    /// The distance that each particle moves per step.
    pub velocities: Vec<Vector>,
    /// The forces on all particles.
    pub forces: Forces,
    /// The kinetic energy after the last step. The figure is 24 times as large.
    pub kinetic: f64,
}

impl MolDyn {
    /// Runs the step with the index `step`; the first is 0.
    pub fn step(&mut self, step: usize) {
        let everywhere = 0..self.positions.len();
        self.cell
            .advance(&mut self.positions, &mut self.velocities, &self.forces.each);
        self.forces.clear();
        self.cell
            .interact(&self.positions, everywhere, &mut self.forces);
        self.kinetic = kinetic(kick(&mut self.velocities, &mut self.forces.each));
        if let Some(factor) = self.cell.correction(step, &mut self.kinetic) {
            rescale(&mut self.velocities, factor);
        }
    }
}

/// Applies half of the forces' effect in a step to the velocities, and returns the sum of the
/// squared velocities. Replaces each force by that change of velocity, because the next move
/// applies it again.
pub fn kick(velocities: &mut [Vector], forces: &mut [Vector]) -> f64 {
    let mut sum = 0.0;
    for (velocity, force) in velocities.iter_mut().zip(forces) {
        for (speed, force) in velocity.iter_mut().zip(force) {
            *force *= SQUARE * 0.5;
            *speed += *force;
        }
        let [x, y, z] = velocity;
        sum += *x * *x + *y * *y + *z * *z;
    }
    sum
}

/// Converts the sum of the squared velocities to the kinetic energy.
pub fn kinetic(squares: f64) -> f64 {
    squares / SQUARE
}

/// Multiplies all velocities by `factor`, which changes the temperature.
pub fn rescale(velocities: &mut [Vector], factor: f64) {
    for speed in velocities.as_flattened_mut() {
        *speed *= factor;
    }
}

impl Kernel for MolDyn {
    const NAME: &'static str = "moldyn";

    /// The kinetic energy, multiplied by 24 as in the benchmark.
    type Figure = f64;

    fn new(size: Size) -> Self {
        let cell = Cell::new(size.choose([5, 8, 13]));
        let positions = positions(&cell);
        Self {
            size,
            cell,
            velocities: velocities(&cell),
            forces: Forces::new(positions.len()),
            positions,
            kinetic: 0.0,
        }
    }

    fn reset(&mut self) {
        *self = Self::new(self.size);
    }

    fn serial(&mut self) -> f64 {
        for step in 0..STEPS {
            self.step(step);
        }
        self.figure()
    }

    fn figure(&self) -> f64 {
        24.0 * self.kinetic
    }

    fn check(&self, figure: &f64) -> Result<(), Mismatch> {
        let reference = self.size.choose::<fn() -> f64, 3>([
            || Self::new(Size::Test).serial(),
            || 1_731.430_662_533_435_7,
            || 7_397.392_307_839_352,
        ]);
        Mismatch::unless_near("kinetic energy", *figure, reference(), TOLERANCE)
    }
}
