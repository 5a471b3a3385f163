//! What it costs a job to start with one processor and request more: figure 7-1, and experiments O1
//! and O2 of the thesis.

mod programs;
mod running;
mod startup;

use std::sync::Arc;

use tidegate_policy::Nanos;
use tidegate_sim::Width;
use tidegate_workloads::Size;

use super::Part;
use super::case::{Case, Observed};
use super::cycle::CYCLES;
use super::job::{CHOLESKY, Job, PROCESSORS, cholesky, work};
use crate::engine::Sample;
use crate::reproduce::page::{Finding, Section};

/// A plausible cost of an estimate on the published machine, in nanoseconds: with this cost, the
/// times in figure 7-5 fall by as much as the thesis claims.
const DEAR: Nanos = 40_000;

/// The programs of figure 7-1 on 16 processors, indexed by the constants below.
pub struct Overhead {
    jobs: [Arc<Job>; 4],
    size: Size,
}

const FIB: usize = 0;
const LOOPY: usize = 1;
const KNARY: usize = 2;
const CHOL: usize = 3;
const JOBS: [usize; 4] = [FIB, LOOPY, KNARY, CHOL];

impl Overhead {
    pub fn new(size: Size) -> Self {
        let (fib, knary): (&[_], &[_]) = match size {
            Size::Tiny => (&[("n", "16")], &[("n", "5"), ("k", "6"), ("r", "1")]),
            Size::Small => (&[("n", "25")], &[("n", "7"), ("k", "6"), ("r", "1")]),
            Size::Paper => (&[("n", "33")], &[("n", "10"), ("k", "6"), ("r", "1")]),
        };
        let jobs = [
            (work("fib(33)", "fib", fib), 1.044),
            (work("loopy(64)", "loopy", &[("n", "64")]), 18.15),
            (work("knary(10,6,1)", "knary", knary), 12.89),
            (work(CHOLESKY, "cholesky", cholesky(size)), 11.17),
        ];
        Self {
            jobs: jobs.map(|(work, seconds)| Job::of(work, PROCESSORS, seconds)),
            size,
        }
    }

    /// Creates a case in which a program has all processors from the start.
    fn fixed(&self, job: usize) -> Case {
        let width = Width::Fixed(PROCESSORS);
        Case::new("O1/O2", &self.jobs[job], ("Cilk", width))
    }

    fn wsap(&self, job: usize, cycle: usize) -> Case {
        let width = Width::Desired(super::wsap(0.5));
        Case {
            cycle: CYCLES[cycle],
            ..Case::new("O1/O2", &self.jobs[job], ("WSAP", width))
        }
    }

    /// Creates a case in which the desire of loopy(64) is simply its number of ready tasks.
    fn counting(&self, cycle: usize) -> Case {
        let width = Width::Desired("instantaneous".parse().expect("a rule of this program"));
        Case {
            cycle: CYCLES[cycle],
            ..Case::new("O1", &self.jobs[LOOPY], ("counting", width))
        }
    }

    /// Creates a case in which a program runs under WSAP and its estimates cost [`DEAR`].
    fn dear(&self, job: usize, cycle: usize) -> Case {
        Case {
            parts: "O2",
            estimate: DEAR,
            ..self.wsap(job, cycle)
        }
    }

    fn names(&self) -> [&'static str; 4] {
        JOBS.map(|job| self.jobs[job].name)
    }
}

impl Part for Overhead {
    fn cases(&self) -> Vec<Case> {
        let cycles = 0..CYCLES.len();
        let of_job = |job| {
            let cycles = cycles.clone();
            let each = cycles.flat_map(move |cycle| [self.wsap(job, cycle), self.dear(job, cycle)]);
            std::iter::once(self.fixed(job)).chain(each)
        };
        let jobs = JOBS.into_iter().flat_map(of_job);
        jobs.chain(cycles.clone().map(|cycle| self.counting(cycle)))
            .collect()
    }

    fn findings(&self, observed: &Observed) -> Vec<Finding> {
        [
            programs::findings(self, observed),
            startup::findings(self, observed),
            running::findings(self, observed),
        ]
        .concat()
    }

    fn sections(&self, observed: &Observed) -> Vec<Section> {
        vec![
            programs::section(self, observed),
            startup::section(self, observed),
            running::section(self, observed),
        ]
    }
}

/// Creates a sample of a figure that is the same in all runs.
fn exactly(figure: f64) -> Sample {
    Sample::new([figure])
}
