//! Random fork-join programs with reservations.

#![allow(dead_code, reason = "each test uses a part of it")]

use tidegate_policy::Rng;

#[derive(Clone, Debug)]
pub enum Step {
    Reservation(u64),
    /// Gives back the latest reservation.
    Free,
    /// Keeps the latest reservation until the whole program ends.
    Keep,
    Join(Vec<Step>, Vec<Step>),
    /// Pauses for a while: computes without a slot, or waits for something outside the plan.
    Pause(Pause),
    /// Spawns into an enclosing scope. The number counts outwards from the innermost scope. If it
    /// is too large, it means the outermost scope.
    Spawn(usize, Vec<Step>),
    /// Like `Spawn`, but from outside the pool: the scope expects the task, and the plan learns
    /// about it only when it begins.
    Unrelated(usize, Vec<Step>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    Blocks,
    Waits,
}

/// Returns a random body whose joins are nested up to `depth` deep. A reservation that the body
/// does not free ends with the body, after the tasks that the body has spawned.
pub fn body(rng: &mut Rng, depth: u32) -> Vec<Step> {
    let mut held = 0;
    let mut steps = Vec::new();
    for _ in 0..rng.below(6) {
        match rng.below(if depth == 0 { 2 } else { 5 }) {
            _ if rng.below(10) == 0 => {
                let pauses = [Pause::Blocks, Pause::Waits];
                steps.push(Step::Pause(pauses[rng.below(2) as usize]));
            }
            0 => {
                held += 1;
                steps.push(Step::Reservation(rng.below(100)));
            }
            1 if held > 0 => {
                held -= 1;
                steps.push(if rng.below(8) > 0 {
                    Step::Free
                } else {
                    Step::Keep
                });
            }
            1 => {}
            2 | 3 => steps.push(Step::Join(body(rng, depth - 1), body(rng, depth - 1))),
            _ => steps.push(Step::Spawn(rng.below(4) as usize, body(rng, depth - 1))),
        }
    }
    steps
}

/// Adds tasks spawned from outside the pool, at random positions. They make no reservations.
pub fn with_unrelated(rng: &mut Rng, steps: Vec<Step>) -> Vec<Step> {
    let mut all = Vec::new();
    for step in steps {
        if rng.below(6) == 0 {
            let task = without_reservations(body(rng, 2));
            all.push(Step::Unrelated(rng.below(4) as usize, task));
        }
        all.push(match step {
            Step::Join(one, other) => {
                let one = with_unrelated(rng, one);
                Step::Join(one, with_unrelated(rng, other))
            }
            Step::Spawn(outer, task) => Step::Spawn(outer, with_unrelated(rng, task)),
            other => other,
        });
    }
    all
}

pub fn without_reservations(steps: Vec<Step>) -> Vec<Step> {
    let strip = |step| match step {
        Step::Reservation(_) | Step::Free | Step::Keep => None,
        Step::Join(one, other) => Some(Step::Join(
            without_reservations(one),
            without_reservations(other),
        )),
        Step::Spawn(outer, task) => Some(Step::Spawn(outer, without_reservations(task))),
        Step::Unrelated(outer, task) => Some(Step::Unrelated(outer, without_reservations(task))),
        Step::Pause(_) => Some(step),
    };
    steps.into_iter().filter_map(strip).collect()
}

/// Returns the peak of the serial run, in bytes.
pub fn serial(steps: &[Step]) -> u64 {
    peak_and_kept(steps).0
}

/// Returns two numbers of bytes: how far a body's peak exceeds what was reserved before the body,
/// and how much the body keeps.
fn peak_and_kept(steps: &[Step]) -> (u64, u64) {
    let (mut held, mut kept, mut peak) = (vec![], 0, 0);
    for step in steps {
        let mut inside = |body: &[Step], held: &[u64]| {
            let (above, more) = peak_and_kept(body);
            peak = peak.max(held.iter().sum::<u64>() + kept + above);
            kept += more;
        };
        match step {
            Step::Reservation(bytes) => {
                held.push(*bytes);
                peak = peak.max(held.iter().sum::<u64>() + kept);
            }
            Step::Free => {
                held.pop();
            }
            Step::Keep => kept += held.pop().unwrap_or(0),
            Step::Join(one, other) => {
                inside(one, &held);
                inside(other, &held);
            }
            Step::Pause(_) => {}
            Step::Spawn(_, task) | Step::Unrelated(_, task) => inside(task, &held),
        }
    }
    (peak, kept)
}

/// Returns the length of the longest chain of steps. A request counts as one more step for each `k`
/// bytes.
pub fn span(steps: &[Step], k: u64) -> u64 {
    let (mut here, mut longest) = (2, 0);
    for step in steps {
        here += 1;
        match step {
            Step::Reservation(bytes) => here += bytes / k,
            Step::Free | Step::Keep | Step::Pause(_) => {}
            Step::Join(one, other) => here += span(one, k).max(span(other, k)),
            Step::Spawn(_, task) | Step::Unrelated(_, task) => {
                longest = longest.max(here + span(task, k))
            }
        }
    }
    here.max(longest)
}
