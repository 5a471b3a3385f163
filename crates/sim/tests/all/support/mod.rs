//! Dags for tests.

use std::cell::Cell;
use tidegate_policy::{IdlePolicy, Nanos, Rng, VictimPolicy};
use tidegate_sim::{Costs, Dag, Job, JobOutcome, Settings, Step, Width, run};

/// A random tree of tasks with every kind of step.
pub struct Random {
    pub seed: u64,
    /// How many levels fork.
    pub forks: u32,
    /// The maximum number of levels of other tasks below the forks.
    pub levels: u32,
    /// The maximum number of steps of a task.
    pub steps: u64,
    /// The maximum work of a step.
    pub work: Nanos,
    /// The maximum size of a reservation in bytes.
    pub reservation: u64,
    /// Whether tasks rest.
    pub rests: bool,
    /// Whether tasks declare memory.
    pub reservations: bool,
    pub begun: Cell<u64>,
}

/// A task of [`Random`]: its random numbers, and how many steps it has left.
pub struct RandomTask {
    rng: Rng,
    levels: u32,
    steps: u64,
}

impl Random {
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            forks: 0,
            levels: 5,
            steps: 8,
            work: 5_000,
            reservation: 99,
            rests: false,
            reservations: false,
            begun: Cell::new(0),
        }
    }

    fn task(&self, seed: u64, levels: u32) -> RandomTask {
        self.begun.set(self.begun.get() + 1);
        let mut rng = Rng::new(seed);
        let steps = 1 + rng.below(self.steps);
        RandomTask { rng, levels, steps }
    }

    fn child(&self, task: &mut RandomTask) -> RandomTask {
        self.task(task.rng.draw(), task.levels - 1)
    }
}

impl Dag for Random {
    type Task = RandomTask;

    fn root(&self) -> RandomTask {
        self.begun.set(0);
        self.task(self.seed, self.forks + self.levels)
    }

    fn next(&self, task: &mut RandomTask) -> Step<RandomTask> {
        if task.steps == 0 {
            return Step::End;
        }
        if task.levels > self.levels {
            task.steps = 0;
            let first = self.child(task);
            return Step::Fork(first, self.child(task));
        }
        task.steps -= 1;
        let work = Step::Work(1 + task.rng.below(self.work));
        match task.rng.below(8) {
            0 | 1 if task.levels > 0 => {
                let first = self.child(task);
                Step::Fork(first, self.child(task))
            }
            2 if task.levels > 0 => Step::Call(self.child(task)),
            3 | 4 if task.levels > 0 => Step::Spawn(self.child(task)),
            5 => Step::Join,
            6 if self.rests => Step::Rest(task.rng.below(20_000)),
            7 if self.reservations && task.rng.below(3) == 0 => Step::Free,
            6 | 7 if self.reservations => Step::Reservation(task.rng.below(self.reservation + 1)),
            _ => work,
        }
    }
}

/// Phases in sequence. Each is a loop that spawns a number of tasks with the same work.
#[derive(Clone, Debug)]
pub struct Phases(pub Vec<(u64, Nanos)>);

#[derive(Clone, Copy, Debug)]
pub enum PhaseTask {
    Whole { phase: usize, spawned: u64 },
    Leaf { work: Option<Nanos> },
}

impl Dag for Phases {
    type Task = PhaseTask;

    fn root(&self) -> PhaseTask {
        PhaseTask::Whole {
            phase: 0,
            spawned: 0,
        }
    }

    fn next(&self, task: &mut PhaseTask) -> Step<PhaseTask> {
        match task {
            PhaseTask::Leaf { work } => work.take().map_or(Step::End, Step::Work),
            PhaseTask::Whole { phase, spawned } => match self.0.get(*phase) {
                None => Step::End,
                Some(&(count, work)) if *spawned < count => {
                    *spawned += 1;
                    Step::Spawn(PhaseTask::Leaf { work: Some(work) })
                }
                Some(_) => {
                    (*phase, *spawned) = (*phase + 1, 0);
                    Step::Join
                }
            },
        }
    }
}

/// Returns a machine on which only the tasks take time, and whose thieves leave no work behind.
pub fn greedy(processors: usize) -> Settings {
    Settings {
        costs: Costs::NONE,
        victim: VictimPolicy::Random,
        idle: "elastic:search=0us".parse::<IdlePolicy>().unwrap(),
        ..Settings::new(processors)
    }
}

pub fn with_memory(processors: usize, policy: &str) -> Settings {
    Settings {
        memory: policy.parse().unwrap(),
        ..Settings::new(processors)
    }
}

pub fn desired(rule: &str) -> Width {
    Width::Desired(rule.parse().unwrap())
}

pub fn job<D>(dag: D, arrives: Nanos, width: Width) -> Job<D> {
    Job {
        dag,
        arrives,
        width,
    }
}

/// A job that has all processors.
pub fn whole<D>(dag: D, settings: &Settings) -> Job<D> {
    job(dag, 0, Width::Fixed(settings.processors))
}

/// Runs one job.
pub fn only<D: Dag>(settings: &Settings, job: Job<D>) -> JobOutcome {
    run(settings, &[job]).unwrap().jobs.remove(0)
}

/// Runs one job that has all processors.
pub fn alone<D: Dag>(settings: &Settings, dag: D) -> JobOutcome {
    only(settings, whole(dag, settings))
}
