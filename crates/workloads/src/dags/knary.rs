//! `knary` as a dag: each node calls some of its children in series, then runs its other children
//! in parallel with joins that halve the range; or it spawns all children, and joins after each
//! serial one.

use super::calls::{Calls, halves};
use crate::knary::{Knary, STEPS};
use crate::program::Form;
use crate::steps;
use tidegate_sim::Step;

/// Sibling nodes that run in parallel: how many there are, and the number of levels of each.
#[derive(Clone, Copy, Debug)]
pub struct Call(usize, u32);

impl Calls for Knary {
    type Call = Call;

    fn first(&self) -> Call {
        Call(1, self.n)
    }

    fn step(&self, Call(nodes, levels): Call, number: usize) -> Step<Call> {
        let (serial, parallel) = (self.r as usize, (self.k - self.r) as usize);
        let children = |nodes| Call(nodes, levels - 1);
        match number {
            0 if nodes == 1 => Step::Work(steps::time(STEPS)),
            0 => halves(nodes, |nodes| Call(nodes, levels)),
            _ if nodes > 1 || levels == 1 => Step::End,
            _ if self.form == Form::Spawn => match number - 1 {
                at if at < 2 * serial && at % 2 == 1 => Step::Join,
                at if at < 2 * serial + parallel => Step::Spawn(children(1)),
                at if at == 2 * serial + parallel => Step::Join,
                _ => Step::End,
            },
            _ if number <= serial => Step::Call(children(1)),
            _ if number > serial + 1 => Step::End,
            _ => match parallel {
                0 => Step::End,
                1 => Step::Call(children(1)),
                _ => halves(parallel, children),
            },
        }
    }
}
