//! `knary` as a dag: each node calls some of its children in series, then runs its other children
//! in parallel with joins that halve the range.

use super::{Calls, CallsDag, Simulated};
use crate::knary::{Knary, STEPS};
use crate::steps;
use tidegate_sim::Step;

/// Sibling nodes that run in parallel, each with this many levels.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    nodes: u32,
    levels: u32,
}

impl Simulated for Knary {
    type Dag = CallsDag<Self>;

    fn dag(&self) -> CallsDag<Self> {
        CallsDag(*self)
    }
}

impl Call {
    /// Forks the nodes (at least two) as two halves.
    const fn halves(self) -> Step<Self> {
        let Self { nodes, levels } = self;
        let half = nodes / 2;
        let rest = nodes - half;
        Step::Fork(
            Self {
                nodes: half,
                levels,
            },
            Self {
                nodes: rest,
                levels,
            },
        )
    }
}

impl Calls for Knary {
    type Call = Call;

    fn first(&self) -> Call {
        let levels = self.n;
        Call { nodes: 1, levels }
    }

    fn step(&self, call: Call, number: usize) -> Step<Call> {
        let (serial, parallel) = (self.r as usize, self.k - self.r);
        let children = |nodes| Call {
            nodes,
            levels: call.levels - 1,
        };
        match number {
            0 if call.nodes == 1 => Step::Work(steps::time(STEPS)),
            0 => call.halves(),
            _ if call.nodes > 1 || call.levels == 1 => Step::End,
            _ if number <= serial => Step::Call(children(1)),
            _ if number > serial + 1 => Step::End,
            _ => match parallel {
                0 => Step::End,
                1 => Step::Call(children(1)),
                _ => children(parallel).halves(),
            },
        }
    }
}
