//! Dags of programs in which the steps of a call depend only on the call.

use super::Simulated;
use crate::program::Program;
use tidegate_sim::{Dag, Step};

/// A program as calls, each of which takes a sequence of steps.
pub trait Calls {
    /// A call, with its arguments.
    type Call: Clone;

    /// Returns the call that runs the whole program.
    fn first(&self) -> Self::Call;

    /// Returns the step at index `number` of a call. After its last step, a call ends.
    fn step(&self, call: Self::Call, number: usize) -> Step<Self::Call>;
}

/// Forks the `count` parts of a loop (at least two) as two halves.
pub(super) fn halves<C>(count: usize, part: impl Fn(usize) -> C) -> Step<C> {
    let half = count / 2;
    Step::Fork(part(half), part(count - half))
}

/// The dag of a program that is described by [`Calls`].
#[derive(Clone, Copy, Debug)]
pub struct CallsDag<P>(pub(super) P);

/// A call, and the index of its next step.
#[derive(Clone, Copy, Debug)]
pub struct Task<C>(C, usize);

impl<P: Program + Calls + Clone> Simulated for P {
    type Dag = CallsDag<P>;

    fn dag(&self) -> CallsDag<P> {
        CallsDag(self.clone())
    }
}

impl<P: Calls> Dag for CallsDag<P> {
    type Task = Task<P::Call>;

    fn root(&self) -> Self::Task {
        Task(self.0.first(), 0)
    }

    fn next(&self, Task(call, number): &mut Self::Task) -> Step<Self::Task> {
        let step = self.0.step(call.clone(), *number);
        *number += 1;
        step.map(|call| Task(call, 0))
    }
}
