//! The jobs that run together, and how to run them.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use tidegate_policy::SharePolicy;
use tidegate_workloads::{Runtime, Serial, Size, Tidegate};

use super::super::job::MS;
use super::super::wsap;
use crate::bench::crew::{Estimates, Spec};
use crate::reproduce::real::Processes;
use tidegate_cli_support::failure::Failure;

pub struct Jobs {
    pub name: String,
    /// Everything that the jobs' runs depend on, as a string.
    pub in_full: String,
    jobs: Vec<Spec>,
    late: Option<Late>,
}

/// How much later the last job starts than the others.
#[derive(Clone, Copy, Debug)]
enum Late {
    /// Half of the time that the first job takes alone.
    Half,
    /// The time that a share controller needs to settle.
    Settled,
}

#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
pub struct Ran {
    /// The time from start to end of each job, in seconds.
    pub seconds: Vec<f64>,
    /// How much later the last job started than the others, in seconds.
    pub later: f64,
    pub cpu: f64,
}

impl Ran {
    pub fn response(&self) -> f64 {
        self.seconds.iter().sum::<f64>() / self.seconds.len() as f64
    }

    pub fn end(&self) -> f64 {
        let [early @ .., last] = &self.seconds[..] else {
            return f64::NAN;
        };
        early.iter().copied().fold(last + self.later, f64::max)
    }

    /// Returns throughput divided by mean response.
    pub fn power(&self) -> f64 {
        self.seconds.len() as f64 / self.end() / self.response()
    }

    /// Returns the average number of processors that the first job used.
    pub fn usage(&self) -> f64 {
        self.cpu / self.seconds[0]
    }
}

struct Workload {
    name: String,
    program: &'static str,
    /// Parameters, such as `n=16 form=join`.
    given: String,
}

impl Workload {
    fn new(name: impl Into<String>, program: &'static str, given: String) -> Self {
        Self {
            name: name.into(),
            program,
            given,
        }
    }

    fn spec(&self, runtime: &str, workers: usize) -> Spec {
        let pairs = self
            .given
            .split(' ')
            .filter_map(|pair| pair.split_once('='));
        let pairs = pairs.map(|(name, value)| (name.to_owned(), value.to_owned()));
        Spec::new(self.program, pairs.collect(), runtime, workers)
    }

    fn fixed(&self, workers: usize) -> Spec {
        self.spec(Tidegate::NAME, workers.max(1))
    }

    fn sharing(&self, workers: usize, efficiency: f64, cycle: u64) -> Spec {
        Spec {
            share: SharePolicy::On,
            estimates: Some(Estimates {
                desire: wsap(efficiency),
                est_cycle: cycle * MS,
            }),
            ..self.fixed(workers)
        }
    }
}

impl Jobs {
    fn new(name: String, jobs: Vec<Spec>) -> Self {
        let in_full = |spec: &Spec| {
            let parameters = spec
                .parameters
                .iter()
                .map(|(name, value)| format!(" {name}={value}"));
            let estimates = spec.estimates.map_or_else(String::new, |estimates| {
                format!(" desire={} cycle={}", estimates.desire, estimates.est_cycle)
            });
            let (program, runtime, workers) = (&spec.program, &spec.runtime, spec.workers);
            let parameters: String = parameters.collect();
            format!("{program}{parameters} runtime={runtime} workers={workers}{estimates}")
        };
        Self {
            name,
            in_full: jobs.iter().map(in_full).collect::<Vec<_>>().join(" + "),
            jobs,
            late: None,
        }
    }

    fn last(self, late: Late) -> Self {
        Self {
            in_full: format!("{} late={late:?}", self.in_full),
            late: Some(late),
            ..self
        }
    }
}

/// Returns all jobs to run. The findings refer to them by name.
pub fn all(size: Size, processors: usize) -> Vec<Jobs> {
    // A step takes about 1.5 ns.
    let (n, steps) = match size {
        Size::Tiny => (20, 100_000),
        Size::Small => (38, 75_000_000),
        Size::Paper => (41, 300_000_000),
    };
    let fib = Workload::new("fib", "fib", format!("n={n}"));
    let loopy = |rounds: usize| {
        let given = format!("n={} steps={steps}", rounds * processors);
        Workload::new(format!("loopy({rounds} P)"), "loopy", given)
    };
    let loops = [loopy(1), loopy(2), loopy(4)];
    let mut all = alone(&[&fib, &loops[2]], processors);
    all.extend(loops.iter().flat_map(|work| late(work, processors)));
    all.extend(new_job(&fib, processors));
    all.extend(complementary(steps, processors));
    all
}

/// Returns the jobs of experiments O2 and P3, each of which runs alone.
fn alone(works: &[&Workload], processors: usize) -> Vec<Jobs> {
    let of_work = |work: &&Workload| {
        let name = &work.name;
        let one =
            |part: &str, way: &str, spec| Jobs::new(format!("{part}/{name}/{way}"), vec![spec]);
        vec![
            one("O2", "1 ms", work.sharing(processors, 0.5, 1)),
            one("O2", "5 ms", work.sharing(processors, 0.5, 5)),
            one("O2/P3", "fixed", work.fixed(processors)),
            one("P3", "sharing", work.sharing(processors, 0.75, 5)),
            one("P3", "serial", work.spec(Serial::NAME, 1)),
        ]
    };
    works.iter().flat_map(of_work).collect()
}

/// Returns the jobs of experiment O3: the second job starts when the first has all processors.
fn late(work: &Workload, processors: usize) -> [Jobs; 2] {
    let two = |way: &str, spec: Spec| {
        Jobs::new(format!("O3/{}/{way}", work.name), vec![spec; 2]).last(Late::Settled)
    };
    [
        two("sharing", work.sharing(processors, 0.5, 5)),
        two("halves", work.fixed(processors / 2)),
    ]
}

/// Returns the jobs of experiment P1: the third job starts with the others, or half-way through the
/// first.
fn new_job(work: &Workload, processors: usize) -> Vec<Jobs> {
    let name = &work.name;
    let sharing = vec![work.sharing(processors, 0.5, 5); 3];
    let thirds = vec![work.fixed(processors / 3); 3];
    vec![
        Jobs::new(
            format!("P1/{name}/halves"),
            vec![work.fixed(processors / 2); 2],
        ),
        Jobs::new(format!("P1/{name}/sharing"), sharing.clone()),
        Jobs::new(format!("P1/{name}/thirds"), thirds.clone()),
        Jobs::new(format!("P1/{name}/sharing, third late"), sharing).last(Late::Half),
        Jobs::new(format!("P1/{name}/thirds, third late"), thirds).last(Late::Half),
    ]
}

/// Returns the jobs of experiment P2. One job has a serial phase, followed by a parallel phase with
/// twice the work. The other job has the phases in the opposite order.
fn complementary(steps: u64, processors: usize) -> [Jobs; 2] {
    let work = |first: &str| {
        let phases = format!("rounds=1 solo={steps} steps={} tasks=512", 2 * steps);
        Workload::new("phases", "phases", format!("{phases} first={first}"))
    };
    let works = ["serial", "parallel"].map(work);
    let two = |way: &str, spec: &dyn Fn(&Workload) -> Spec| {
        Jobs::new(format!("P2/phases/{way}"), works.iter().map(spec).collect())
    };
    [
        two("sharing", &|work| work.sharing(processors, 0.5, 5)),
        two("halves", &|work| work.fixed(processors / 2)),
    ]
}

/// How long a share controller needs to settle: four cycles of 5 ms.
const SETTLED: Duration = Duration::from_millis(20);

impl Jobs {
    pub fn run(&self, processes: &Processes) -> Result<Ran, Failure> {
        let later = match self.late {
            None => Duration::ZERO,
            Some(Late::Settled) => SETTLED,
            Some(Late::Half) => {
                let alone = processes.run(&[(self.jobs[0].clone(), Duration::ZERO)])?;
                Duration::from_secs_f64(alone[0].seconds / 2.0)
            }
        };
        let mut delayed: Vec<_> = self
            .jobs
            .iter()
            .map(|spec| (spec.clone(), Duration::ZERO))
            .collect();
        delayed.last_mut().expect("a job").1 = later;
        let done = processes.run(&delayed)?;
        Ok(Ran {
            seconds: done.iter().map(|done| done.seconds).collect(),
            later: later.as_secs_f64(),
            cpu: done[0].cpu(),
        })
    }
}
