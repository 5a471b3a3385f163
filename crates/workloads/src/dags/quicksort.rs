//! `quicksort` as a dag. It partitions the elements as the tasks unfold, so the parts are as long
//! as in a real run.

use super::{Calls, CallsDag, Simulated};
use crate::quicksort::{Quicksort, gaussian, partition};
use std::cell::RefCell;
use tidegate_sim::{Nanos, Step};

/// Elements partitioned in 10 ns.
const PARTITIONED: Nanos = 6;

/// The elements at the beginning and now, and the most elements that a task sorts without a fork.
#[derive(Clone, Debug)]
pub struct Elements {
    original: Vec<u32>,
    current: RefCell<Vec<u32>>,
    cutoff: usize,
}

impl Simulated for Quicksort {
    type Dag = CallsDag<Elements>;

    fn dag(&self) -> Self::Dag {
        CallsDag(Elements {
            original: gaussian(self.n, self.seed),
            current: RefCell::default(),
            cutoff: self.cutoff,
        })
    }
}

/// Returns the time that the standard library's sort takes: 1 ns per element, multiplied by the
/// binary logarithm of the length.
fn sort(length: usize) -> Nanos {
    let halvings = length.max(1).ilog2();
    length as Nanos * Nanos::from(halvings)
}

impl Calls for Elements {
    /// A range of the elements (the end is exclusive).
    type Call = (usize, usize);

    fn first(&self) -> Self::Call {
        self.current.borrow_mut().clone_from(&self.original);
        (0, self.original.len())
    }

    fn step(&self, (start, end): Self::Call, number: usize) -> Step<Self::Call> {
        let length = end - start;
        match number {
            0 if length <= self.cutoff => Step::Work(sort(length)),
            0 => Step::Work(length as Nanos * 10 / PARTITIONED),
            1 if length > self.cutoff => {
                let mut elements = self.current.borrow_mut();
                let (less, _) = partition(&mut elements[start..end]);
                let pivot = start + less.len();
                Step::Fork((start, pivot), (pivot + 1, end))
            }
            _ => Step::End,
        }
    }
}
