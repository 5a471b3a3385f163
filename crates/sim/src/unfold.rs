//! A dag with its type erased, as the machine and a [walk](crate::WorkSpan) see it.
//!
//! The machine and the walk contain much code, so they are compiled once rather than for every dag.
//! Both know a task only by its number; the task itself is stored here.

use crate::dag::{Dag, Step};

/// The number of a task that has begun or been drafted, and has not ended.
pub type TaskId = u32;

/// A dag whose tasks are identified by numbers.
pub trait Unfold {
    /// Returns the number of the root task.
    fn root(&mut self) -> TaskId;

    /// Returns the task's next step.
    fn next(&mut self, task: TaskId) -> Step<TaskId>;

    /// Ends the task and frees its number.
    fn end(&mut self, task: TaskId);
}

/// Any [`Dag`], regardless of its task type, so that the jobs of a run may be different programs.
pub trait AnyDag {
    /// Returns the dag with its type erased.
    #[doc(hidden)]
    fn unfold(&self) -> Box<dyn Unfold + '_>;
}

impl<D: Dag> AnyDag for D {
    fn unfold(&self) -> Box<dyn Unfold + '_> {
        Box::new(Unfolded {
            dag: self,
            tasks: Vec::new(),
            free: Vec::new(),
        })
    }
}

struct Unfolded<'a, D: Dag> {
    dag: &'a D,
    tasks: Vec<D::Task>,
    free: Vec<TaskId>,
}

impl<D: Dag> Unfolded<'_, D> {
    #[inline]
    fn keep(&mut self, task: D::Task) -> TaskId {
        match self.free.pop() {
            Some(id) => {
                self.tasks[id as usize] = task;
                id
            }
            None => {
                self.tasks.push(task);
                (self.tasks.len() - 1) as TaskId
            }
        }
    }
}

impl<D: Dag> Unfold for Unfolded<'_, D> {
    fn root(&mut self) -> TaskId {
        self.keep(self.dag.root())
    }

    fn next(&mut self, task: TaskId) -> Step<TaskId> {
        let step = self.dag.next(&mut self.tasks[task as usize]);
        step.map(|task| self.keep(task))
    }

    fn end(&mut self, task: TaskId) {
        self.free.push(task);
    }
}
