//! Programs as data: each task is a list of steps that run in order.

use crate::oracle::{Panic, Sizes};
use fastrand::Rng;
use std::sync::Arc;

/// The maximum nesting depth of tasks and scopes.
const DEPTH: u32 = 5;

/// The possible limits on the number of tasks in a program. Once a program has reached its limit,
/// further tasks do almost nothing.
const TASKS: [usize; 3] = [10, 50, 300];

#[derive(Debug)]
pub struct Program {
    /// The number of threads of each pool.
    pub pools: Vec<usize>,
    pub callers: Vec<Caller>,
    pub sizes: Sizes,
}

/// A thread outside all pools, and how it enters a pool.
#[derive(Debug)]
pub struct Caller {
    pub entry: Entry,
    pub task: Task,
}

#[derive(Clone, Copy, Debug)]
pub enum Entry {
    Install,
    /// Through an in-place scope: its tasks run in the pool, but its body runs on the caller.
    InPlace,
    Global,
    /// As the first thread of a new pool with this many threads.
    Member(usize),
}

#[derive(Debug)]
pub struct Task {
    pub number: usize,
    pub steps: Vec<Step>,
}

#[derive(Debug)]
pub enum Step {
    Spin(u32),
    YieldNow,
    YieldLocal,
    /// Broadcasts to all threads. If a panic is given, the call on thread 0 panics.
    Broadcast(Option<Panic>),
    Join {
        with_context: bool,
        halves: Box<[Task; 2]>,
    },
    Scope {
        kind: Kind,
        steps: Vec<Step>,
    },
    /// Spawns a task into the scope that is `outward` levels outside the innermost scope.
    Spawn {
        outward: usize,
        task: Task,
    },
    /// Like `Spawn`, but spawns one task on each thread.
    SpawnBroadcast {
        outward: usize,
        panic: Option<Panic>,
    },
    Detached {
        pool: Option<usize>,
        fifo: bool,
        task: Arc<Task>,
    },
    Install {
        pool: usize,
        task: Task,
    },
    OwnPool {
        threads: usize,
        task: Task,
    },
    /// Runs these steps and catches their panics. The number identifies this step.
    Catch(usize, Vec<Step>),
    Panic(Panic),
}

/// Where the tasks of a scope run, and in which order they start.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// The pool in which the scope runs. `None` means the pool of the thread that runs this step.
    pub pool: Option<usize>,
    pub in_place: bool,
    pub fifo: bool,
}

/// The surroundings of the step that is being generated.
#[derive(Clone, Copy)]
struct Around {
    depth: u32,
    scopes: usize,
    /// Whether a step may panic, because an outer step catches the panic.
    caught: bool,
}

impl Around {
    fn deeper(self) -> Self {
        Self {
            depth: self.depth.saturating_sub(1),
            ..self
        }
    }

    fn with_scopes(self, scopes: usize) -> Self {
        Self { scopes, ..self }
    }
}

struct Maker {
    rng: Rng,
    sizes: Sizes,
    /// The maximum number of tasks, which is one of [`TASKS`].
    limit: usize,
    pools: usize,
}

impl Program {
    pub fn random(seed: u64) -> Self {
        let mut rng = Rng::with_seed(seed);
        let pools: Vec<usize> = (0..rng.usize(1..4)).map(|_| rng.usize(1..5)).collect();
        let mut maker = Maker {
            limit: TASKS[rng.usize(..TASKS.len())],
            rng,
            sizes: Sizes::default(),
            pools: pools.len(),
        };
        let callers = maker.rng.usize(1..3);
        let callers = (0..callers).map(|_| maker.caller());
        Self {
            callers: callers.collect(),
            pools,
            sizes: maker.sizes,
        }
    }
}

impl Maker {
    fn caller(&mut self) -> Caller {
        let around = Around {
            depth: DEPTH,
            scopes: 0,
            caught: false,
        };
        Caller {
            entry: match self.rng.u32(..32) {
                0..18 => Entry::Install,
                18..26 => Entry::InPlace,
                26..31 => Entry::Global,
                // Rare, because such a pool, including its threads' stacks, stays in memory until
                // the process ends.
                _ => Entry::Member(self.rng.usize(1..4)),
            },
            task: self.task(around),
        }
    }

    fn once_in(&mut self, times: u32) -> bool {
        self.rng.u32(..times) == 0
    }

    fn task(&mut self, around: Around) -> Task {
        let number = self.sizes.tasks;
        self.sizes.tasks += 1;
        Task {
            number,
            steps: self.steps(around),
        }
    }

    fn steps(&mut self, around: Around) -> Vec<Step> {
        if around.caught && self.once_in(15) {
            return vec![Step::Panic(self.panic())];
        }
        if around.depth == 0 || self.sizes.tasks >= self.limit {
            return match self.rng.u32(..100) {
                0 => vec![Step::YieldLocal],
                spins => vec![Step::Spin(spins)],
            };
        }
        let least = if around.depth == DEPTH { 3 } else { 1 };
        let steps = self.rng.u32(least..least + 3);
        (0..steps).map(|_| self.step(around)).collect()
    }

    fn step(&mut self, around: Around) -> Step {
        let deeper = around.deeper();
        match self.rng.u32(..30) {
            0..6 => Step::Join {
                with_context: self.rng.bool(),
                halves: Box::new([self.task(deeper), self.task(deeper)]),
            },
            6..13 => self.scope(deeper),
            13..15 if around.scopes > 0 => self.spawn(deeper),
            15..18 => self.detached(deeper.deeper()),
            18..21 => Step::Install {
                pool: self.rng.usize(..self.pools),
                task: self.task(deeper),
            },
            21 if self.once_in(4) => Step::OwnPool {
                threads: self.rng.usize(1..3),
                task: self.task(deeper),
            },
            22 if self.once_in(2) => Step::Broadcast(self.perhaps_panic(around)),
            23 if around.scopes > 0 => Step::SpawnBroadcast {
                outward: self.rng.usize(..around.scopes),
                panic: self.perhaps_panic(around),
            },
            24..26 => self.catch(deeper),
            26 if around.caught => Step::Panic(self.panic()),
            27 => Step::YieldLocal,
            28 => Step::YieldNow,
            _ => Step::Spin(self.rng.u32(..200)),
        }
    }

    fn scope(&mut self, around: Around) -> Step {
        let kind = Kind {
            pool: self.once_in(3).then(|| self.rng.usize(..self.pools)),
            in_place: self.rng.bool(),
            fifo: self.rng.bool(),
        };
        let around = around.with_scopes(around.scopes + 1);
        let mut steps: Vec<Step> = (0..self.rng.usize(..5))
            .map(|_| self.spawn(around))
            .collect();
        steps.extend(self.steps(around));
        Step::Scope { kind, steps }
    }

    fn spawn(&mut self, around: Around) -> Step {
        Step::Spawn {
            outward: self.rng.usize(..around.scopes),
            task: self.task(around.with_scopes(1)),
        }
    }

    /// Generates a detached task. It may panic anywhere, because the panic handler receives the
    /// panic.
    fn detached(&mut self, around: Around) -> Step {
        let inside = Around {
            scopes: 0,
            caught: true,
            ..around
        };
        Step::Detached {
            pool: self.rng.bool().then(|| self.rng.usize(..self.pools)),
            fifo: self.rng.bool(),
            task: Arc::new(self.task(inside)),
        }
    }

    /// Generates a step that catches panics. Its inner steps cannot spawn into outer scopes: a
    /// caught panic must not change what an outer scope returns.
    fn catch(&mut self, around: Around) -> Step {
        let inside = Around {
            scopes: 0,
            caught: true,
            ..around
        };
        let mut steps = self.steps(inside);
        if self.once_in(3) {
            steps.push(Step::Panic(self.panic()));
        }
        self.sizes.catches += 1;
        Step::Catch(self.sizes.catches - 1, steps)
    }

    fn perhaps_panic(&mut self, around: Around) -> Option<Panic> {
        (around.caught && self.once_in(3)).then(|| self.panic())
    }

    fn panic(&mut self) -> Panic {
        self.sizes.payloads += 1;
        Panic {
            payload: self.sizes.payloads - 1,
            drop_panics: self.once_in(4),
        }
    }
}
