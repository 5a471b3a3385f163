//! Dags of programs whose parts become tasks in one of several [ways](crate::way::Way): serially,
//! by joins that halve the range, or by one spawn per part.

use crate::program::Form;
use tidegate_sim::{Dag, Nanos, Step};

/// What the calls of a recursive program do, no matter how their parts become tasks.
pub trait Recipe: Sync {
    /// A call in the recursion.
    type Node: Copy + Send;

    /// Returns the call that runs the whole program.
    fn root(&self) -> Self::Node;

    /// Returns the action at index `act` of the call `node`.
    fn act(&self, node: Self::Node, act: usize) -> Act;

    /// Returns the call for one part of the action at index `act`, which must be an [`Act::Each`].
    fn part(&self, node: Self::Node, act: usize, number: usize) -> Self::Node;
}

/// An action of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Reserves this many bytes of memory.
    Reservation(u64),
    /// Frees the call's most recent reservation.
    Free,
    /// Computes for this long.
    Work(Nanos),
    /// Handles this many parts, which may become tasks.
    Each(usize),
    End,
}

/// The dag of a program that is described by a `Recipe`.
#[derive(Clone, Debug)]
pub struct RecipeDag<R> {
    pub(super) recipe: R,
    pub(super) form: Form,
}

/// What a task does next. The first two fields are a call and the index of one of its actions.
#[derive(Clone, Copy, Debug)]
pub enum Task<N> {
    /// Performs the action.
    Act(N, usize),
    /// Spawns a range of the action's parts, one task per part (the end is exclusive).
    Spawn(N, usize, usize, usize),
    /// Handles a range of the action's parts (the end is exclusive) with joins that halve the
    /// range.
    Halves(N, usize, usize, usize),
    Over,
}

impl<R: Recipe> Dag for RecipeDag<R> {
    type Task = Task<R::Node>;

    fn root(&self) -> Self::Task {
        Task::Act(self.recipe.root(), 0)
    }

    fn next(&self, task: &mut Self::Task) -> Step<Self::Task> {
        let (next, step) = match *task {
            Task::Act(node, act) => self.act(node, act),
            Task::Spawn(node, act, from, to) if from == to => {
                (Task::Act(node, act + 1), Step::Join)
            }
            Task::Spawn(node, act, from, to) => {
                let part = Task::Act(self.recipe.part(node, act, from), 0);
                (Task::Spawn(node, act, from + 1, to), Step::Spawn(part))
            }
            Task::Halves(node, act, from, to) if to - from == 1 => {
                self.act(self.recipe.part(node, act, from), 0)
            }
            Task::Halves(node, act, from, to) => {
                let middle = from + (to - from) / 2;
                let half = |from, to| Task::Halves(node, act, from, to);
                (Task::Over, Step::Fork(half(from, middle), half(middle, to)))
            }
            Task::Over => (Task::Over, Step::End),
        };
        *task = next;
        step
    }
}

impl<R: Recipe> RecipeDag<R> {
    /// Returns the dag's step for an action, and the task that continues after that step.
    fn act(&self, node: R::Node, act: usize) -> (Task<R::Node>, Step<Task<R::Node>>) {
        let next = Task::Act(node, act + 1);
        match (self.recipe.act(node, act), self.form) {
            (Act::Reservation(bytes), _) => (next, Step::Reservation(bytes)),
            (Act::Free, _) => (next, Step::Free),
            (Act::Work(time), _) => (next, Step::Work(time)),
            (Act::Each(0), _) => self.act(node, act + 1),
            (Act::Each(parts), Form::Join) => (next, Step::Call(Task::Halves(node, act, 0, parts))),
            (Act::Each(parts), Form::Spawn) => {
                let first = Task::Act(self.recipe.part(node, act, 0), 0);
                (Task::Spawn(node, act, 1, parts), Step::Spawn(first))
            }
            (Act::End, _) => (Task::Over, Step::End),
        }
    }
}
