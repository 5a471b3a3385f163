//! The initial state: a face-centred cubic lattice, and normally distributed velocities.

use super::forces::Cell;
use super::{Vector, rescale};
use crate::grande::random::in_disc;

/// Returns the initial positions of the particles: the points of the lattice.
pub fn positions(cell: &Cell) -> Vec<Vector> {
    let edge = cell.side / cell.along as f64;
    let half = edge * 0.5;
    let corners = [
        [0.0, 0.0, 0.0],
        [half, half, 0.0],
        [half, 0.0, half],
        [0.0, half, half],
    ];
    let mut positions = Vec::with_capacity(cell.particles());
    for corner in corners {
        for cube in 0..cell.along.pow(3) {
            let numbers = [
                cube / cell.along / cell.along,
                cube / cell.along % cell.along,
                cube % cell.along,
            ];
            let place = |axis| numbers[axis] as f64 * edge + corner[axis];
            positions.push(std::array::from_fn(place));
        }
    }
    positions
}

/// Returns initial velocities with zero total momentum and the target temperature.
pub fn velocities(cell: &Cell) -> Vec<Vector> {
    let particles = cell.particles();
    let mut generator = Generator(1);
    let mut velocities = vec![[0.0; 3]; particles];
    for axis in 0..3 {
        for pair in velocities.chunks_exact_mut(2) {
            let (a, b, square) = in_disc(|| generator.unit());
            let factor = (-2.0 * square.ln() / square).sqrt();
            pair[0][axis] = factor * a;
            pair[1][axis] = factor * b;
        }
    }
    let mut kinetic = 0.0;
    for axis in 0..3 {
        let sum: f64 = velocities.iter().map(|velocity| velocity[axis]).sum();
        let mean = sum / particles as f64;
        for velocity in &mut velocities {
            velocity[axis] -= mean;
            kinetic += velocity[axis] * velocity[axis];
        }
    }
    rescale(&mut velocities, cell.first_factor(kinetic));
    velocities
}

/// The benchmark's own random number generator, which computes a 32-bit product in two halves.
///
/// It is meant to be the generator of Stephen Park and Keith Miller, Random Number Generators: Good
/// Ones Are Hard to Find, 1988, without a 64-bit product, but it combines the halves differently.
struct Generator(i32);

impl Generator {
    /// Returns a random number in [0, 1).
    fn unit(&mut self) -> f64 {
        const HALF: i32 = 1 << 15;
        const FACTOR: i32 = 16_807;
        let (high, low) = (self.0.max(1) / HALF, self.0.max(1) % HALF);
        let product = low * FACTOR;
        let carried = (high * FACTOR + product / HALF) % (2 * HALF);
        self.0 = carried.wrapping_mul(HALF).wrapping_add(product % HALF) % i32::MAX;
        4.656_612_875e-10 * f64::from(self.0)
    }
}
