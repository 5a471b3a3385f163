//! Combines programs that run one after the other into a single program.
//!
//! The published machine took about a hundred times as long for a step as ours does. With a cycle
//! of a few milliseconds, a program behaves as it did on that machine only if its tasks take as
//! long as they did there.

use tidegate_sim::{Dag, Step};

/// Programs of the same type, run one after the other.
pub struct Series<D>(pub Vec<D>);

/// A task of a series: either the task that calls the parts one by one, or a task of a part.
pub enum SeriesTask<T> {
    Next(usize),
    Of(usize, T),
}

impl<D: Dag> Dag for Series<D> {
    type Task = SeriesTask<D::Task>;

    fn root(&self) -> Self::Task {
        SeriesTask::Next(0)
    }

    fn next(&self, task: &mut Self::Task) -> Step<Self::Task> {
        match task {
            SeriesTask::Next(part) => match self.0.get(*part) {
                Some(dag) => {
                    *part += 1;
                    Step::Call(SeriesTask::Of(*part - 1, dag.root()))
                }
                None => Step::End,
            },
            SeriesTask::Of(part, task) => {
                let part = *part;
                // Parts run one after the other, so two waiting drafts never have the same name.
                let step = self.0[part].next(task);
                step.map(|task| SeriesTask::Of(part, task))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_sim::WorkSpan;
    use tidegate_workloads::Simulated;
    use tidegate_workloads::dags::Slowed;
    use tidegate_workloads::loopy::Loopy;
    use tidegate_workloads::program::Form;

    fn loopy() -> impl Dag {
        let loopy = Loopy {
            n: 8,
            steps: 600_000,
            form: Form::Spawn,
        };
        loopy.dag()
    }

    /// The work and span of a series are the sums over its parts.
    #[test]
    fn slowing_scales_work_and_span() {
        let one = WorkSpan::of(&loopy());
        let slowed = WorkSpan::of(&Slowed {
            dag: loopy(),
            factor: 3.0,
        });
        assert_eq!((slowed.work, slowed.span), (3 * one.work, 3 * one.span));
        let twice = WorkSpan::of(&Series(vec![loopy(), loopy()]));
        assert_eq!((twice.work, twice.span), (2 * one.work, 2 * one.span));
    }
}
