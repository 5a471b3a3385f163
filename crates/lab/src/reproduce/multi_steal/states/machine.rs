//! A simulated machine whose workers gain and lose tasks as in the model.

use tidegate_policy::{IdlePolicy, Nanos, Rng, StealAmount, VictimPolicy};
use tidegate_sim::{Costs, Dag, Job, Sample, Settings, Step, Width, run};
use tidegate_workloads::Size;

use super::{ATTEMPT, BRANCHES, UNIT};
use tidegate_cli_support::failure::Failure;

/// The number of workers, and the number of tasks that one worker has at the start.
#[derive(Clone, Copy)]
pub struct Scale {
    pub workers: usize,
    pub roots: u32,
}

impl Scale {
    pub const fn of(size: Size) -> Self {
        let workers = match size {
            Size::Tiny => 256,
            Size::Small | Size::Paper => 1024,
        };
        Self {
            workers,
            roots: workers as u32 / 8,
        }
    }
}

/// At this depth and deeper, a task creates two more with probability 1 - [`BRANCHES`], so that the
/// tree ends.
const DEPTH: u32 = 26;

/// The time at which the model begins. Enough workers are busy by then for fractions of workers to
/// be meaningful.
pub const BEGIN: Nanos = 6 * UNIT;

/// The end of the run. By then, few tasks have reached the depth at which the tree thins out, which
/// the model does not cover.
const END: Nanos = BEGIN + STEPS as Nanos * STEP;
pub const STEPS: usize = 24;

/// The time between two samples. Thieves that have found nothing so far all make their attempts at
/// the same times. Each state is therefore averaged over samples at several phases of an attempt.
const SAMPLE: Nanos = ATTEMPT + ATTEMPT / PHASES as Nanos;
const PHASES: usize = 5;
pub const STEP: Nanos = PHASES as Nanos * SAMPLE;

/// A random tree whose nodes have exponentially distributed lengths.
struct Tree {
    seed: u64,
    roots: u32,
}

/// A node, given by its number and depth, or the part of a node that remains to be done.
#[derive(Clone, Copy)]
enum Task {
    Roots(u32),
    Node(u64, u32),
    Children(u64, u32),
    Over,
}

impl Dag for Tree {
    type Task = Task;

    fn root(&self) -> Task {
        Task::Roots(self.roots)
    }

    fn next(&self, task: &mut Task) -> Step<Task> {
        match std::mem::replace(task, Task::Over) {
            Task::Roots(1) => Step::Call(Task::Node(1, 0)),
            Task::Roots(roots) => {
                Step::Fork(Task::Roots(roots - 1), Task::Node(u64::from(roots), 0))
            }
            Task::Node(node, depth) => {
                *task = Task::Children(node, depth);
                let length = -(1.0 - self.uniform(node, 0)).ln();
                Step::Work((length * UNIT as f64) as Nanos)
            }
            Task::Children(node, depth) => {
                let branches = if depth < DEPTH {
                    BRANCHES
                } else {
                    1.0 - BRANCHES
                };
                if self.uniform(node, 1) >= branches {
                    return Step::End;
                }
                let child = |number| Task::Node(self.random(node, number), depth + 1);
                Step::Fork(child(2), child(3))
            }
            Task::Over => Step::End,
        }
    }
}

impl Tree {
    /// Returns a random number that depends only on the tree, the node and the purpose.
    fn random(&self, node: u64, purpose: u64) -> u64 {
        let mut rng = Rng::new(node ^ self.seed << 32 ^ purpose << 60);
        rng.draw()
    }

    fn uniform(&self, node: u64, purpose: u64) -> f64 {
        (self.random(node, purpose) >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Returns the fraction of workers with each number of tasks, for each step from [`BEGIN`] to
/// [`END`].
pub fn simulated(amount: StealAmount, scale: Scale, seed: u64) -> Result<Vec<Vec<f64>>, Failure> {
    let settings = Settings {
        seed,
        idle: IdlePolicy::AbpYield,
        steal: amount,
        victim: VictimPolicy::Hierarchical,
        costs: Costs {
            attempt: ATTEMPT,
            ..Costs::NONE
        },
        sample: SAMPLE,
        ..Settings::new(scale.workers)
    };
    let job = Job {
        dag: Tree {
            seed,
            roots: scale.roots,
        },
        arrives: 0,
        width: Width::Fixed(scale.workers),
    };
    let outcome = run(&settings, &[job]).map_err(|error| Failure::Usage(error.to_string()))?;
    let samples: Vec<&Sample> = outcome
        .samples
        .iter()
        .filter(|sample| (BEGIN..END).contains(&sample.time))
        .collect();
    Ok(samples.chunks(PHASES).map(mean).collect())
}

fn mean(samples: &[&Sample]) -> Vec<f64> {
    let most = samples.iter().map(|sample| sample.workers.len()).max();
    let mut mean = vec![0.0; most.unwrap_or(0)];
    for sample in samples {
        let all: u32 = sample.workers.iter().sum();
        for (fraction, workers) in mean.iter_mut().zip(&sample.workers) {
            *fraction += f64::from(*workers) / f64::from(all) / samples.len() as f64;
        }
    }
    mean
}
