//! The simulation box and the forces between its particles: the Lennard-Jones potential with a
//! cutoff distance.

use std::ops::Range;

use super::{CORRECTED, DENSITY, STEP, TEMPERATURE, Vector};

/// A cube with periodic boundaries. It is initially divided into smaller cubes with four particles
/// each, which form a lattice.
#[derive(Clone, Copy, Debug)]
pub struct Cell {
    /// Number of small cubes along an edge.
    pub(super) along: usize,
    /// Length of an edge.
    pub(super) side: f64,
    /// The square of the largest distance at which particles interact.
    reach: f64,
}

/// Sums over all pairs of particles that interact. Constant factors are left out: 48 for the forces
/// and the virial, 4 for the potential.
#[derive(Clone, Debug, PartialEq)]
pub struct Forces {
    /// The force on each particle.
    pub each: Vec<Vector>,
    /// The potential energy.
    pub potential: f64,
    /// The virial, from which the pressure follows.
    pub virial: f64,
}

impl Cell {
    pub(super) fn new(along: usize) -> Self {
        let particles = (4 * along * along * along) as f64;
        let cutoff = along as f64 / 4.0;
        Self {
            along,
            // The published exponent is 1/3, rounded to seven decimal places.
            side: (particles / DENSITY).powf(0.333_333_3),
            reach: cutoff * cutoff,
        }
    }

    /// Returns the number of particles in the cube, four for each small cube.
    pub fn particles(&self) -> usize {
        4 * self.along.pow(3)
    }

    /// Returns the temperature per unit of kinetic energy.
    pub(super) fn temperature(&self) -> f64 {
        16.0 / (self.particles() as f64 - 1.0)
    }

    /// Moves particles by one step, and applies half of the forces' effect to their velocities.
    /// [`super::kick`] applies the other half.
    pub fn advance(&self, positions: &mut [Vector], velocities: &mut [Vector], forces: &[Vector]) {
        let of_particles = positions.iter_mut().zip(velocities).zip(forces);
        for ((position, velocity), force) in of_particles {
            for axis in 0..3 {
                let place = &mut position[axis];
                *place = *place + velocity[axis] + force[axis];
                if *place < 0.0 {
                    *place += self.side;
                }
                if *place > self.side {
                    *place -= self.side;
                }
                velocity[axis] += force[axis];
            }
        }
    }

    /// Adds the forces between each particle of a range and all particles after it.
    pub fn interact(&self, positions: &[Vector], range: Range<usize>, forces: &mut Forces) {
        for number in range {
            let behind = number + 1;
            let (before, after) = forces.each.split_at_mut(behind);
            let mut own = [0.0; 3];
            for (position, force) in positions[behind..].iter().zip(after) {
                let away = self.nearest(positions[number], *position);
                let square = away[0] * away[0] + away[1] * away[1] + away[2] * away[2];
                if square > self.reach {
                    continue;
                }
                let inverse = 1.0 / square;
                let second = inverse * inverse;
                let third = second * inverse;
                let fourth = second * second;
                let sixth = second * fourth;
                let strength = sixth * inverse - 0.5 * fourth;
                forces.potential += sixth - third;
                forces.virial -= square * strength;
                for axis in 0..3 {
                    own[axis] += away[axis] * strength;
                    force[axis] -= away[axis] * strength;
                }
            }
            for (force, own) in before[number].iter_mut().zip(own) {
                *force += own;
            }
        }
    }

    /// Returns the shortest vector from `to` to `from`, which may cross a periodic boundary. Without
    /// optimization, a loop over the axes takes most of the time of the tests that run the kernel.
    fn nearest(&self, [x, y, z]: Vector, to: Vector) -> Vector {
        let half = 0.5 * self.side;
        let along = |mut way: f64| {
            if way < -half {
                way += self.side;
            }
            if way > half {
                way -= self.side;
            }
            way
        };
        [along(x - to[0]), along(y - to[1]), along(z - to[2])]
    }

    /// If velocities are corrected after this step, returns the factor by which to scale them, and
    /// sets `kinetic` to the target value.
    pub fn correction(&self, step: usize, kinetic: &mut f64) -> Option<f64> {
        (step + 1 == CORRECTED).then(|| {
            let factor = (TEMPERATURE / (self.temperature() * *kinetic)).sqrt();
            *kinetic = TEMPERATURE / self.temperature();
            factor
        })
    }

    /// Returns the factor that converts velocities from distance per unit of time to distance per
    /// step and scales them to the target temperature. `kinetic` is the sum of the squared
    /// velocities.
    pub(super) fn first_factor(&self, kinetic: f64) -> f64 {
        STEP * (TEMPERATURE / (self.temperature() * kinetic)).sqrt()
    }
}

impl Forces {
    /// Creates the sums for `particles` particles, all of them zero.
    pub fn new(particles: usize) -> Self {
        Self {
            each: vec![[0.0; 3]; particles],
            potential: 0.0,
            virial: 0.0,
        }
    }

    /// Resets all forces to zero.
    pub fn clear(&mut self) {
        self.each.fill([0.0; 3]);
        self.potential = 0.0;
        self.virial = 0.0;
    }

    /// Adds the forces on the particles from index `first` onwards to `others`, which holds forces
    /// on the same particles.
    pub fn add_to(&self, first: usize, others: &mut [Vector]) {
        for (sum, force) in others.iter_mut().zip(&self.each[first..]) {
            for (sum, force) in sum.iter_mut().zip(force) {
                *sum += force;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grande::{Kernel, MolDyn, Size};

    /// Returns a state in which some particles have come close to each other, and its forces.
    fn state() -> (MolDyn, Forces) {
        let mut state = MolDyn::new(Size::Test);
        (0..20).for_each(|step| state.step(step));
        let forces = forces(&state);
        (state, forces)
    }

    fn forces(state: &MolDyn) -> Forces {
        let mut forces = Forces::new(state.positions.len());
        let everywhere = 0..state.positions.len();
        state
            .cell
            .interact(&state.positions, everywhere, &mut forces);
        forces
    }

    #[test]
    fn forces_are_slope_of_the_potential() {
        let (mut state, forces_there) = state();
        let h = 1e-6;
        for number in [0, 99, 321, 499] {
            for axis in 0..3 {
                let mut potential_at = |offset: f64| {
                    let before = state.positions[number][axis];
                    state.positions[number][axis] += offset;
                    let potential = forces(&state).potential;
                    state.positions[number][axis] = before;
                    potential
                };
                let slope = (potential_at(h) - potential_at(-h)) / (2.0 * h);
                // The missing factors are 4 for the potential and 48 for the force.
                let force = -12.0 * forces_there.each[number][axis];
                assert!((slope - force).abs() < 1e-3, "{slope} {force}");
            }
        }
    }

    /// The forces of disjoint ranges also sum to zero, because every force has an equal
    /// counterforce.
    #[test]
    fn partial_forces_sum_to_whole() {
        let (state, whole) = state();
        let mut sum = vec![[0.0; 3]; whole.each.len()];
        for range in [0..70, 70..300, 300..500] {
            let mut part = Forces::new(whole.each.len());
            state.cell.interact(&state.positions, range, &mut part);
            let (front, back) = sum.split_at_mut(250);
            part.add_to(0, front);
            part.add_to(250, back);
        }
        let pairs = sum.as_flattened().iter().zip(whole.each.as_flattened());
        assert!(pairs.clone().all(|(a, b)| (a - b).abs() < 1e-9));
        assert!(pairs.clone().any(|(a, _)| a.abs() > 0.1));
        for axis in 0..3 {
            let total: f64 = sum.iter().map(|force| force[axis]).sum();
            assert!(total.abs() < 1e-9, "{total}");
        }
    }
}
