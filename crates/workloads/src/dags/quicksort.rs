//! `quicksort` as a dag. It partitions the elements as the tasks unfold, so the parts are as long
//! as in a real run.

use super::Simulated;
use crate::quicksort::{Quicksort, gaussian, partition};
use std::cell::RefCell;
use tidegate_sim::{Dag, Nanos, Step};

/// Elements partitioned in 10 ns.
const PARTITIONED: Nanos = 6;

/// The dag of the program `quicksort`: a serial partition, then a fork.
#[derive(Clone, Debug)]
pub struct QuicksortDag {
    original: Vec<u32>,
    elements: RefCell<Vec<u32>>,
    cutoff: usize,
}

/// What a task does next with a range of the elements (the end is exclusive).
#[derive(Clone, Copy, Debug)]
pub enum Task {
    /// Partitions the range, or sorts it if it is short.
    Part(usize, usize),
    /// Sorts the parts before and after the pivot. The second number is the pivot's index.
    Sides(usize, usize, usize),
    Over,
}

impl Simulated for Quicksort {
    type Dag = QuicksortDag;

    fn dag(&self) -> QuicksortDag {
        QuicksortDag {
            original: gaussian(self.n, self.seed),
            elements: RefCell::default(),
            cutoff: self.cutoff,
        }
    }
}

/// Returns the time that the standard library's sort takes: 1 ns per element, multiplied by the
/// binary logarithm of the length.
fn sort(length: usize) -> Nanos {
    let halvings = length.max(1).ilog2();
    length as Nanos * Nanos::from(halvings)
}

impl Dag for QuicksortDag {
    type Task = Task;

    fn root(&self) -> Task {
        self.elements.borrow_mut().clone_from(&self.original);
        Task::Part(0, self.original.len())
    }

    fn next(&self, task: &mut Task) -> Step<Task> {
        match *task {
            Task::Part(start, end) if end - start <= self.cutoff => {
                *task = Task::Over;
                Step::Work(sort(end - start))
            }
            Task::Part(start, end) => {
                let mut elements = self.elements.borrow_mut();
                let (less, _) = partition(&mut elements[start..end]);
                *task = Task::Sides(start, start + less.len(), end);
                Step::Work((end - start) as Nanos * 10 / PARTITIONED)
            }
            Task::Sides(start, pivot, end) => {
                *task = Task::Over;
                Step::Fork(Task::Part(start, pivot), Task::Part(pivot + 1, end))
            }
            Task::Over => Step::End,
        }
    }
}
