//! MolDyn: argon atoms that attract and repel each other in a box that goes on on its other side.
//!
//! Each of the steps has phases that must wait for each other: all particles move ([`Cell::advance`]);
//! the forces between all pairs that are near enough are added up ([`Cell::interact`]); with them the
//! velocities change and the kinetic energy is known ([`kick`]); once, the velocities are brought to
//! the wanted temperature ([`Cell::correction`], [`rescale`]). Moves and velocities may be divided
//! among tasks as one likes. The forces of a range of particles act on all particles behind it too, so
//! each task needs [`Forces`] of its own, which are then added up ([`Forces::add_to`]). Ranges of equal
//! length are not equally much work: particle i is paired with those behind it.
//!
//! Forces are added up in another order then, so the figure of a parallel version differs from the
//! serial one's in its last digits.
//!
//! What it does not do: lists of neighbours, or the mean speed and the pressure, which the benchmark
//! works out and does not check.

use super::{Kernel, Mismatch, Size};
pub use forces::{Cell, Forces};
pub use lattice::{positions, velocities};

mod forces;
mod lattice;

/// Three coordinates.
pub type Vector = [f64; 3];

/// How many steps.
pub const STEPS: usize = 50;
/// After which step the velocities are corrected.
const CORRECTED: usize = 10;
/// How long a step takes, and its square.
const STEP: f64 = 0.064;
const SQUARE: f64 = STEP * STEP;
/// How many particles there are in a unit of space.
const DENSITY: f64 = 0.83134;
/// The wanted temperature.
const TEMPERATURE: f64 = 0.722;

/// How near the energy must be, as published.
const TOLERANCE: f64 = 1e-10;

/// The kernel.
#[derive(Clone, Debug)]
pub struct MolDyn {
    size: Size,
    /// The box and its laws.
    pub cell: Cell,
    /// Where the particles are.
    pub positions: Vec<Vector>,
    /// How far they go in a step.
    pub velocities: Vec<Vector>,
    /// What pulls at them.
    pub forces: Forces,
    /// The kinetic energy after the last step, in units of the temperature.
    pub kinetic: f64,
}

impl MolDyn {
    /// One step, of which `step` were before.
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

/// Changes velocities by half of what the forces do in a step, turns the forces into this change, which
/// the next move needs again, and returns the sum of the velocities' squares.
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

/// The kinetic energy for the sum of the velocities' squares.
pub fn kinetic(squares: f64) -> f64 {
    squares / SQUARE
}

/// Changes velocities by a factor.
pub fn rescale(velocities: &mut [Vector], factor: f64) {
    for speed in velocities.as_flattened_mut() {
        *speed *= factor;
    }
}

impl Kernel for MolDyn {
    const NAME: &'static str = "moldyn";

    /// The kinetic energy.
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
        let reference = self.size.choose::<fn() -> f64, _>([
            || Self::new(Size::Test).serial(),
            || 1_731.430_662_533_435_7,
            || 7_397.392_307_839_352,
        ]);
        Mismatch::unless_near("kinetic energy", *figure, reference(), TOLERANCE)
    }
}
