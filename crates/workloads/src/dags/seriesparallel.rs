//! `seriesparallel` as a dag: each part is a task. A part with several leaves forks its two halves
//! or calls them in series.

use super::Calls;
use crate::seriesparallel::{Part, Seriesparallel, Shape};
use crate::steps::time;
use tidegate_sim::Step;

impl Calls for Seriesparallel {
    type Call = Part;

    fn first(&self) -> Part {
        self.whole()
    }

    fn step(&self, part: Part, number: usize) -> Step<Part> {
        match (self.shape(part), number) {
            (Shape::Leaf(steps), 0) => Step::Work(time(steps)),
            (Shape::Parallel(first, second), 0) => Step::Fork(first, second),
            (Shape::Series(first, _), 0) => Step::Call(first),
            (Shape::Series(_, second), 1) => Step::Call(second),
            _ => Step::End,
        }
    }
}
