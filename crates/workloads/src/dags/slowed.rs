//! Slows programs down, for example to match published ones, which ran on other machines and with
//! other kernels.

use tidegate_sim::{Dag, Nanos, Step};

/// A program in which all work takes `factor` times as long.
#[derive(Clone, Copy, Debug)]
pub struct Slowed<D> {
    /// The program.
    pub dag: D,
    /// How many times as long its work takes.
    pub factor: f64,
}

impl<D: Dag> Dag for Slowed<D> {
    type Task = D::Task;

    fn root(&self) -> D::Task {
        self.dag.root()
    }

    fn next(&self, task: &mut D::Task) -> Step<D::Task> {
        match self.dag.next(task) {
            Step::Work(time) => Step::Work((time as f64 * self.factor) as Nanos),
            step => step,
        }
    }
}
