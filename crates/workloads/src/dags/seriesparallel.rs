//! `seriesparallel` as a dag: each part is a task. A part with several leaves forks its two halves
//! or calls them in series.

use super::Simulated;
use crate::seriesparallel::{Part, Seriesparallel, Shape};
use crate::steps::time;
use tidegate_sim::{Dag, Step};

/// The dag of the program `seriesparallel`: one task per part of the graph.
#[derive(Clone, Copy, Debug)]
pub struct SeriesparallelDag {
    graph: Seriesparallel,
}

#[derive(Clone, Copy, Debug)]
pub struct Task(Next);

#[derive(Clone, Copy, Debug)]
enum Next {
    Part(Part),
    Second(Part),
    End,
}

impl Simulated for Seriesparallel {
    type Dag = SeriesparallelDag;

    fn dag(&self) -> SeriesparallelDag {
        SeriesparallelDag { graph: *self }
    }
}

impl Dag for SeriesparallelDag {
    type Task = Task;

    fn root(&self) -> Task {
        Task(Next::Part(self.graph.whole()))
    }

    fn next(&self, task: &mut Task) -> Step<Task> {
        let (next, step) = match task.0 {
            Next::Part(part) => match self.graph.shape(part) {
                Shape::Leaf(steps) => (Next::End, Step::Work(time(steps))),
                Shape::Parallel(first, second) => {
                    let [first, second] = [first, second].map(|part| Task(Next::Part(part)));
                    (Next::End, Step::Fork(first, second))
                }
                Shape::Series(first, second) => {
                    (Next::Second(second), Step::Call(Task(Next::Part(first))))
                }
            },
            Next::Second(part) => (Next::End, Step::Call(Task(Next::Part(part)))),
            Next::End => (Next::End, Step::End),
        };
        task.0 = next;
        step
    }
}
