//! A dag with its type erased, as the machine and a [walk](crate::WorkSpan) see it.
//!
//! The machine and the walk contain much code, so they are compiled once rather than for every dag.
//! Both know a task only by its number; the task itself is stored here.

use crate::dag::{Dag, Draft, Step};

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
        match self.dag.next(&mut self.tasks[task as usize]) {
            Step::Work(time) => Step::Work(time),
            Step::Rest(time) => Step::Rest(time),
            Step::Fork(first, second) => {
                let second = self.keep(second);
                Step::Fork(self.keep(first), second)
            }
            Step::Call(task) => Step::Call(self.keep(task)),
            Step::Spawn(task) => Step::Spawn(self.keep(task)),
            Step::Join => Step::Join,
            Step::Draft(Draft {
                task,
                name,
                releases,
                place,
                put,
            }) => Step::Draft(Draft {
                task: self.keep(task),
                name,
                releases,
                place,
                put,
            }),
            Step::Release(name) => Step::Release(name),
            Step::Reservation(bytes) => Step::Reservation(bytes),
            Step::Free => Step::Free,
            Step::Touch(touch) => Step::Touch(touch),
            Step::End => Step::End,
        }
    }

    fn end(&mut self, task: TaskId) {
        self.free.push(task);
    }
}
