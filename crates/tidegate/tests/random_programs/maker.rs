//! Generates random programs.

use crate::graph::Graph;
use crate::handles::{End, Handle, Kind};
use crate::oracle::{Panic, Sizes};
use crate::program::{
    Caller, Entry, Install, Order, Program, Reservation, ReservationEnd, Spawn, Spot, Step, Task,
};
use crate::setup::Setup;
use crate::try_scope::{Stop, TryScope};
use crate::values::{Sort, Stream};
use fastrand::Rng;
use std::sync::Arc;

/// The maximum nesting depth of tasks and scopes.
const DEPTH: u32 = 5;

/// The limits on a program's number of tasks. When a program reaches its limit, further tasks do
/// almost nothing. Failures of small programs are easier to understand, and large programs fill
/// queues.
const TASKS: [usize; 4] = [10, 30, 100, 400];

const ENTRIES: [Entry; 5] = [
    Entry::Install,
    Entry::Join,
    Entry::Scope,
    Entry::Spawn,
    Entry::Late,
];

/// What surrounds a new step.
#[derive(Clone, Copy)]
pub struct Around {
    depth: u32,
    scopes: usize,
    /// Whether a step may panic because an outer step catches the panic.
    caught: bool,
    context: Option<usize>,
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

pub struct Maker {
    pub rng: Rng,
    pub sizes: Sizes,
    /// The maximum number of tasks, which is one of [`TASKS`].
    limit: usize,
    /// Whether the program may contain panics.
    panics: bool,
    /// Whether the program may contain futures. The worker that joins a future may have the task
    /// that wakes it.
    futures: bool,
    /// Whether the pools have a memory budget. If so, no task waits for another pool or keeps a
    /// reservation.
    budgeted: bool,
}

impl Program {
    pub fn random(seed: u64) -> Self {
        let mut rng = Rng::with_seed(seed);
        let memory = Setup::random_space(&mut rng);
        let budgeted = memory.starts_with("budget");
        let pools = if budgeted { 1 } else { rng.usize(1..3) };
        let setups = (0..pools).map(|_| Setup::random(&mut rng, memory));
        let setups: Vec<Setup> = setups.collect();
        let mut maker = Maker {
            futures: setups.iter().all(Setup::runs_tasks_of_joiners),
            limit: TASKS[rng.usize(..TASKS.len())],
            panics: rng.bool(),
            rng,
            sizes: Sizes::default(),
            budgeted,
        };
        let callers = if budgeted { 1 } else { maker.rng.usize(1..3) };
        let callers = (0..callers).map(|number| maker.caller(number % pools));
        Self {
            callers: callers.collect(),
            setups,
            disturbed: maker.rng.bool(),
            patient: maker.rng.bool(),
            sizes: maker.sizes,
        }
    }
}

impl Maker {
    fn caller(&mut self, pool: usize) -> Caller {
        let around = Around {
            depth: DEPTH,
            scopes: 0,
            caught: false,
            context: None,
        };
        Caller {
            pool,
            entry: ENTRIES[self.rng.usize(..ENTRIES.len())],
            task: Arc::new(self.task(around)),
        }
    }

    pub fn once_in(&mut self, times: u32) -> bool {
        self.rng.u32(..times) == 0
    }

    pub fn task(&mut self, around: Around) -> Task {
        let number = self.sizes.tasks;
        self.sizes.tasks += 1;
        Task {
            number,
            context: around.context,
            steps: self.steps(around),
        }
    }

    fn steps(&mut self, around: Around) -> Vec<Step> {
        if around.caught && self.once_in(15) {
            return vec![Step::Panic(self.panic())];
        }
        if around.depth == 0 || self.sizes.tasks >= self.limit {
            return match self.rng.u32(..200) {
                spins @ 1.. => vec![Step::Spin(spins)],
                0 => vec![Step::Broadcast(None)],
            };
        }
        // With fewer steps, every fifth program would consist of a single task.
        let least = if around.depth == DEPTH { 3 } else { 1 };
        let steps = self.rng.u32(least..least + 3);
        (0..steps).map(|_| self.step(around)).collect()
    }

    fn step(&mut self, around: Around) -> Step {
        let deeper = around.deeper();
        match self.rng.u32(..42) {
            0..5 => Step::Join(Box::new([self.task(deeper), self.task(deeper)])),
            5..9 => Step::Scope(self.scope(deeper)),
            9..11 if around.scopes > 0 => Step::Spawn(self.spawn(deeper)),
            11..13 => Step::Handle(self.handle(deeper.with_scopes(0))),
            13 => {
                let micros = [0, 0, self.rng.u64(..80)][self.rng.usize(..3)];
                Step::Blocking(micros, self.steps(deeper))
            }
            14..17 => Step::Reservation(self.reserve()),
            17 => Step::Free,
            18..20 if !self.budgeted => Step::Install(Install {
                pool: self.rng.usize(..2),
                spot: self.rng.bool().then(|| self.spot()),
                task: self.task(deeper),
            }),
            20 if self.once_in(2) => Step::Broadcast(self.perhaps_panic(around)),
            21 => Step::ForEach(self.items(deeper)),
            22 => Step::MapReduce(self.items(deeper)),
            23..25 => self.graph(deeper.deeper()),
            25 => Step::Local(self.steps(deeper)),
            26..28 if self.panics => self.catch(deeper),
            28 if around.caught => Step::Panic(self.panic()),
            29 => Step::YieldPoint,
            30 => Step::ParMap(self.items(deeper)),
            31..33 => Step::Stream(self.stream(deeper)),
            33 => {
                let task = self.task(deeper);
                Step::Sort(Sort::random(&mut self.rng, task))
            }
            34..36 => Step::TryScope(self.try_scope(deeper)),
            36..38 => self.context(deeper),
            38..42 => Step::Handle(self.handle(deeper.with_scopes(0))),
            _ => Step::Spin(self.rng.u32(..200)),
        }
    }

    /// Generates some spawns, followed by other steps. Now and then, it generates enough spawns to
    /// fill small queues.
    fn scope(&mut self, around: Around) -> Vec<Step> {
        let around = around.with_scopes(around.scopes + 1);
        let (spawns, each) = if self.once_in(60) {
            (self.limit, Around { depth: 0, ..around })
        } else {
            (self.rng.usize(..5), around)
        };
        let mut steps: Vec<Step> = (0..spawns).map(|_| Step::Spawn(self.spawn(each))).collect();
        steps.extend(self.steps(around));
        steps
    }

    fn spawn(&mut self, around: Around) -> Spawn {
        let foreign = self.once_in(6);
        let inside = Around {
            context: around.context.filter(|_| !foreign),
            ..around.with_scopes(1)
        };
        Spawn {
            outward: self.rng.usize(..around.scopes),
            order: match self.rng.u32(..8) {
                0..4 => Order::Any,
                4..7 => Order::Priority(self.rng.u64(..3)),
                _ => Order::At(self.spot()),
            },
            foreign,
            task: self.task(inside),
        }
    }

    /// A task that is not joined may panic anywhere, because the panic handler receives the panic.
    fn handle(&mut self, around: Around) -> Handle {
        let kind = match Kind::random(&mut self.rng) {
            Kind::Future(_) if !self.futures => Kind::Closure,
            kind => kind,
        };
        let end = End::random(&mut self.rng);
        let joined = matches!(end, End::Joined(_));
        let caught = around.caught || !joined && self.panics;
        let task = Arc::new(self.task(Around { caught, ..around }));
        Handle { kind, end, task }
    }

    /// Generates the items of a stream. If an item's result is not taken, the item may panic
    /// anywhere, because the panic handler receives the panic.
    fn stream(&mut self, around: Around) -> Stream {
        let count = self.rng.usize(..12);
        let taken = self.rng.usize(..=count);
        let items = (0..count).map(|position| {
            let item = Around {
                depth: if self.once_in(4) { around.depth } else { 0 },
                scopes: 0,
                caught: around.caught || position >= taken && self.panics,
                ..around
            };
            Arc::new(self.task(item))
        });
        Stream {
            items: items.collect(),
            window: self.rng.usize(1..8),
            taken,
            dropped_in_half: self.rng.bool(),
            is_scoped: self.rng.bool(),
        }
    }

    /// Tasks may panic anywhere, because the step catches their panics.
    fn try_scope(&mut self, around: Around) -> TryScope {
        let inside = Around {
            scopes: 0,
            caught: self.panics,
            ..around
        };
        let count = self.rng.usize(1..6);
        let stop = match self.rng.u32(..4) {
            0 => Some(Stop::Error(self.rng.usize(..count))),
            1 => Some(Stop::Cancel(self.rng.usize(..count))),
            _ => None,
        };
        TryScope {
            catch: self.number_of_catch(),
            tasks: (0..count).map(|_| self.task(inside)).collect(),
            stop,
        }
    }

    fn context(&mut self, around: Around) -> Step {
        let number = self.sizes.tasks;
        let inside = Around {
            context: Some(number),
            ..around
        };
        Step::Context(number, self.steps(inside))
    }

    /// Intervals may panic anywhere, because the graph returns their failures.
    fn graph(&mut self, around: Around) -> Step {
        let inside = Around {
            scopes: 0,
            caught: self.panics,
            ..around
        };
        Step::Graph(Graph::random(self, inside))
    }

    pub fn spot(&mut self) -> Spot {
        Spot {
            place: self.rng.usize(..4),
            strict: self.rng.bool(),
        }
    }

    /// Generates the items of a loop. Most of them do almost nothing.
    fn items(&mut self, around: Around) -> Vec<Task> {
        let most = if self.rng.bool() { 4 } else { self.limit };
        let count = self.rng.usize(..most);
        let mut item = || {
            let depth = if self.once_in(60) { around.depth } else { 0 };
            self.task(Around { depth, ..around })
        };
        (0..count).map(|_| item()).collect()
    }

    fn reserve(&mut self) -> Reservation {
        let moved = [
            ReservationEnd::OnForeignThread,
            ReservationEnd::InHalf,
            ReservationEnd::InTask,
        ];
        Reservation {
            bytes: self.rng.usize(..60),
            grows_by: [0, 0, self.rng.usize(..20)][self.rng.usize(..3)],
            end: match self.rng.u32(..40) {
                0 if !self.budgeted => ReservationEnd::Forgotten,
                1..5 if !self.budgeted => ReservationEnd::Kept,
                5..14 => moved[self.rng.usize(..3)],
                _ => ReservationEnd::Stays,
            },
        }
    }

    /// The inner steps cannot spawn into outer scopes: a panic that is caught here must not affect
    /// what an outer scope returns.
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
        Step::Catch(self.number_of_catch(), steps)
    }

    pub fn number_of_catch(&mut self) -> usize {
        self.sizes.catches += 1;
        self.sizes.catches - 1
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
