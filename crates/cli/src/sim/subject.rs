//! A program that is simulated, without its type: what is done with it is compiled once and not for every program.

use tidegate_sim::{Extent, Job, Nanos, Outcome, Refusal, Settings, Width, run_telling};
use tidegate_workloads::{Answer, Program, Simulated};

/// A program that is simulated.
pub trait Subject: Sync {
    /// What it is called.
    fn name(&self) -> &'static str;

    /// Its parameters.
    fn parameters(&self) -> Answer;

    /// Runs a job of it for each of these times of arrival; `tell` hears how far the run has come.
    fn run(
        &self,
        settings: &Settings,
        arrivals: &[Nanos],
        width: Width,
        tell: &mut dyn FnMut(u64, Nanos),
    ) -> Result<Outcome, Refusal>;

    /// How large it is where an action counts for every `k` bytes.
    fn extent(&self, k: u64) -> Extent;
}

impl<P: Simulated> Subject for P {
    fn name(&self) -> &'static str {
        P::NAME
    }

    fn parameters(&self) -> Answer {
        Program::parameters(self)
    }

    fn run(
        &self,
        settings: &Settings,
        arrivals: &[Nanos],
        width: Width,
        tell: &mut dyn FnMut(u64, Nanos),
    ) -> Result<Outcome, Refusal> {
        let job = |&arrives| Job {
            dag: self.dag(),
            arrives,
            width,
        };
        let jobs: Vec<_> = arrivals.iter().map(job).collect();
        run_telling(settings, &jobs, tell)
    }

    fn extent(&self, k: u64) -> Extent {
        Extent::with_k(&self.dag(), k)
    }
}
