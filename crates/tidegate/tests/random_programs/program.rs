//! Programs as data: each task is a list of steps, which it takes in order.

use crate::graph::Graph;
use crate::handles::Handle;
use crate::oracle::{Panic, Sizes};
use crate::setup::Setup;
use crate::try_scope::TryScope;
use crate::values::{Sort, Stream};
use std::sync::Arc;

/// A program, and the pools in which it runs.
#[derive(Debug)]
pub struct Program {
    pub setups: Vec<Setup>,
    pub callers: Vec<Caller>,
    /// Whether another thread resizes the first pool and calls into it while the program runs.
    pub disturbed: bool,
    /// Whether the test waits for detached tasks before it drops the pools.
    pub patient: bool,
    pub sizes: Sizes,
}

/// A thread outside all pools that runs a task in one of them.
#[derive(Debug)]
pub struct Caller {
    pub pool: usize,
    pub entry: Entry,
    pub task: Arc<Task>,
}

#[derive(Clone, Copy, Debug)]
pub enum Entry {
    Install,
    Join,
    Scope,
    Spawn,
    /// Like `Spawn`, but joins the task after the pools were dropped.
    Late,
}

/// A closure that is called once: a half, a spawned task, an item of a loop, or an interval.
#[derive(Debug)]
pub struct Task {
    pub number: usize,
    /// The value of the task-local variable that the task must see.
    pub context: Option<usize>,
    pub steps: Vec<Step>,
}

#[derive(Debug)]
pub enum Step {
    Spin(u32),
    YieldPoint,
    /// Makes a broadcast. Only the call on thread 0 may panic.
    Broadcast(Option<Panic>),
    Join(Box<[Task; 2]>),
    Scope(Vec<Step>),
    Spawn(Spawn),
    Handle(Handle),
    /// Sleeps for this many microseconds inside `blocking`, and then runs the steps there.
    Blocking(u64, Vec<Step>),
    /// Runs the steps while it borrows the worker's value of a `WorkerLocal`.
    Local(Vec<Step>),
    /// Runs the steps with this value of the task-local variable.
    Context(usize, Vec<Step>),
    Install(Install),
    ForEach(Vec<Task>),
    MapReduce(Vec<Task>),
    ParMap(Vec<Task>),
    Stream(Stream),
    Sort(Sort),
    TryScope(TryScope),
    Graph(Graph),
    Reservation(Reservation),
    /// Releases the youngest reservation that this list of steps holds.
    Free,
    /// Catches the panics of these steps. The number identifies the catch.
    Catch(usize, Vec<Step>),
    Panic(Panic),
}

/// A place of the pool: `place` modulo the number of places.
#[derive(Clone, Copy, Debug)]
pub struct Spot {
    pub place: usize,
    pub strict: bool,
}

#[derive(Debug)]
pub struct Spawn {
    /// 0 is the innermost scope, 1 is the scope around it, and so on.
    pub outward: usize,
    pub order: Order,
    /// Whether a thread outside all pools spawns the task.
    pub foreign: bool,
    pub task: Task,
}

#[derive(Debug)]
pub enum Order {
    Any,
    Priority(u64),
    At(Spot),
}

#[derive(Debug)]
pub struct Install {
    pub pool: usize,
    pub spot: Option<Spot>,
    pub task: Task,
}

#[derive(Debug)]
pub struct Reservation {
    pub bytes: usize,
    pub grows_by: usize,
    pub end: ReservationEnd,
}

#[derive(Clone, Copy, Debug)]
pub enum ReservationEnd {
    /// The reservation is released at the end of the list of steps, unless [`Step::Free`] releases
    /// it earlier.
    Stays,
    Forgotten,
    /// The reservation is kept until all callers have returned.
    Kept,
    OnForeignThread,
    InHalf,
    InTask,
}

/// Returns the handles of a list of steps in the order in which they are joined.
pub fn in_order_of_joins<T>(mut handles: Vec<T>) -> Vec<T> {
    if handles.len() % 2 == 0 {
        handles.reverse();
    }
    handles
}

/// A value for [`Step::MapReduce`]. The operation that combines two values is associative but not
/// commutative.
#[derive(Clone, Copy)]
pub struct Affine(pub u64, pub u64);

impl Affine {
    pub fn of(value: u64) -> Self {
        Self(value | 1, value)
    }

    pub fn then(self, next: Self) -> Self {
        let Self(factor, offset) = next;
        Self(
            self.0.wrapping_mul(factor),
            self.1.wrapping_mul(factor).wrapping_add(offset),
        )
    }
}
