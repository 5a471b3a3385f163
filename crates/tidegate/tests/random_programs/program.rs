//! Programs as data: for each task the steps that it takes, one after the other.

use crate::graph::Graph;
use crate::oracle::{Panic, Sizes};
use crate::setup::Setup;
use std::sync::Arc;

/// A program, and the pools that it runs in.
#[derive(Debug)]
pub struct Program {
    pub setups: Vec<Setup>,
    pub callers: Vec<Caller>,
    /// Whether another thread resizes the first pool and calls into it meanwhile.
    pub disturbed: bool,
    /// Whether detached tasks are waited for before the pools are dropped.
    pub patient: bool,
    pub sizes: Sizes,
}

/// A thread outside all pools that runs a task in one.
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
}

/// A closure that runs once: a half, a spawned task, a call for one item of a loop, an interval.
#[derive(Debug)]
pub struct Task {
    pub number: usize,
    pub steps: Vec<Step>,
}

#[derive(Debug)]
pub enum Step {
    Spin(u32),
    YieldPoint,
    /// If a part panics, it is part 0.
    Broadcast(Option<Panic>),
    Join(Box<[Task; 2]>),
    Scope(Vec<Step>),
    Spawn(Spawn),
    Handle(Handle),
    /// Inside `blocking`, after a sleep of this many microseconds.
    Blocking(u64, Vec<Step>),
    /// With this worker's value of a `WorkerLocal`.
    Local(Vec<Step>),
    Install(Install),
    ForEach(Vec<Task>),
    MapReduce(Vec<Task>),
    Graph(Graph),
    Reservation(Reservation),
    /// Gives back the youngest reservation of this list of steps.
    Free,
    /// Catches the panics of these steps; the number is that of the catch.
    Catch(usize, Vec<Step>),
    Panic(Panic),
}

/// A place of the pool: a number modulo the number of places.
#[derive(Clone, Copy, Debug)]
pub struct Spot {
    pub place: usize,
    pub strict: bool,
}

#[derive(Debug)]
pub struct Spawn {
    /// 0 is the innermost scope, 1 the one around it, and so on.
    pub outward: usize,
    pub order: Order,
    /// Whether a thread outside all pools spawns it.
    pub foreign: bool,
    pub task: Task,
}

#[derive(Debug)]
pub enum Order {
    Any,
    Priority(u64),
    At(Spot),
}

/// A task of no scope, joined at the end of the list of steps or detached at once.
#[derive(Debug)]
pub struct Handle {
    pub joined: bool,
    pub task: Arc<Task>,
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

/// What becomes of a reservation.
#[derive(Clone, Copy, Debug)]
pub enum ReservationEnd {
    /// Given back at the end of the list of steps, unless [`Step::Free`] comes first.
    Stays,
    Forgotten,
    /// Kept until all callers have returned.
    Kept,
    OnForeignThread,
    InHalf,
    InTask,
}

/// The order in which the handles of a list of steps are joined.
pub fn in_order_of_joins<T>(mut handles: Vec<T>) -> Vec<T> {
    if handles.len() % 2 == 0 {
        handles.reverse();
    }
    handles
}

/// A value for [`Step::MapReduce`]. Combining two is associative but not commutative.
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
