//! Random fork-join programs with leases.

use tidegate_policy::Rng;

#[derive(Clone, Debug)]
pub enum Step {
    Lease(u64),
    /// Gives the youngest lease back.
    Free,
    Join(Vec<Step>, Vec<Step>),
    /// Into so many-th scope around, the innermost first, or the outermost.
    Spawn(usize, Vec<Step>),
}

/// A body with so many steps at most; leases that it does not free end with it, after what it has spawned.
pub fn body(rng: &mut Rng, depth: u32) -> Vec<Step> {
    let mut held = 0;
    let mut steps = Vec::new();
    for _ in 0..rng.below(6) {
        match rng.below(if depth == 0 { 2 } else { 5 }) {
            0 => {
                held += 1;
                steps.push(Step::Lease(rng.below(100)));
            }
            1 if held > 0 => {
                held -= 1;
                steps.push(Step::Free);
            }
            1 => {}
            2 | 3 => steps.push(Step::Join(body(rng, depth - 1), body(rng, depth - 1))),
            _ => steps.push(Step::Spawn(rng.below(4) as usize, body(rng, depth - 1))),
        }
    }
    steps
}

/// The peak of the serial run, above what is held already.
pub fn serial(steps: &[Step]) -> u64 {
    let (mut held, mut peak) = (vec![], 0);
    for step in steps {
        let now = held.iter().sum::<u64>();
        peak = peak.max(match step {
            Step::Lease(bytes) => {
                held.push(*bytes);
                now + bytes
            }
            Step::Free => {
                held.pop();
                now
            }
            Step::Join(one, other) => now + serial(one).max(serial(other)),
            Step::Spawn(_, task) => now + serial(task),
        });
    }
    peak
}
