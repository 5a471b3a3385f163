//! Experiment P3: running times compared with the greedy bound.

mod findings;

use std::sync::Arc;

use tidegate_sim::Width;
use tidegate_workloads::Size;

use super::Part;
use super::case::{Case, Instances, Observed, Seen};
use super::job::{CHOLESKY, Job, cholesky, work};
use crate::engine::Sample;
use crate::reproduce::page::{Finding, Section};
use crate::reproduce::simulated::Work;
use tidegate_command::output::{Table, Value, show_seconds};

/// The fixed numbers of processors that the experiment tries in order to find the best one.
const WIDTHS: [usize; 6] = [1, 2, 4, 8, 12, 16];

/// A job's figures in figure 7-10, with times in seconds.
struct Published {
    processors: f64,
    bound: f64,
    time: f64,
    cilk: f64,
}

/// The programs of figure 7-10, with tasks so long that the programs take the published times under
/// Cilk.
pub struct Greedy {
    jobs: Vec<(Arc<Job>, Published)>,
}

/// The serial program.
const SERIAL: &str = "knary(11,3,3)";
/// The program whose dag differs most from the published one.
const STRASSEN: &str = "strassen(1024)";

/// Returns the programs. They have fewer levels only at size tiny, because fewer levels change the
/// shape of knary.
fn works(size: Size) -> [Work; 7] {
    type Given = &'static [(&'static str, &'static str)];
    let [serial, even, mixed]: [Given; 3] = match size {
        Size::Tiny => [
            &[("n", "6"), ("k", "3"), ("r", "3")],
            &[("n", "5"), ("k", "4"), ("r", "0")],
            &[("n", "5"), ("k", "4"), ("r", "2")],
        ],
        Size::Small | Size::Paper => [
            &[("n", "11"), ("k", "3"), ("r", "3")],
            &[("n", "11"), ("k", "4"), ("r", "0")],
            &[("n", "10"), ("k", "4"), ("r", "2")],
        ],
    };
    let fib: Given = match size {
        Size::Tiny => &[("n", "16")],
        Size::Small => &[("n", "25")],
        Size::Paper => &[("n", "33")],
    };
    let strassen: Given = match size {
        Size::Tiny => &[("n", "64")],
        Size::Small | Size::Paper => &[("n", "1024"), ("cutoff", "64")],
    };
    [
        work(SERIAL, "knary", serial),
        work("knary(11,4,0)", "knary", even),
        work("knary(10,4,2)", "knary", mixed),
        work(STRASSEN, "strassen", strassen),
        work("loopy(64)", "loopy", &[("n", "64")]),
        work("fib(33)", "fib", fib),
        work(CHOLESKY, "cholesky", cholesky(size)),
    ]
}

const PUBLISHED: [[f64; 4]; 7] = [
    [3.732, 6.242, 11.37, 10.85],
    [15.02, 8.164, 8.704, 8.166],
    [11.49, 4.540, 8.617, 8.580],
    [6.784, 4.170, 3.450, 3.906],
    [15.82, 22.01, 18.55, 18.49],
    [15.60, 13.35, 18.99, 18.93],
    [14.45, 31.85, 43.74, 45.49],
];

/// Returns the bound of theorem 3 if `processors` is the effective allotment, or the corrected
/// bound if `processors` is the trimmed mean.
fn bound(seen: &Seen, processors: f64) -> f64 {
    seen.work / processors.max(1.0) + seen.span
}

/// Returns the running time divided by the bound of theorem 3.
fn by_bound(seen: &Seen) -> f64 {
    seen.response / bound(seen, seen.effective)
}

fn by_repaired(seen: &Seen) -> f64 {
    seen.response / bound(seen, seen.trimmed)
}

impl Greedy {
    pub fn new(size: Size) -> Self {
        let job = |(work, [processors, bound, time, cilk]): (Work, [f64; 4])| {
            let published = Published {
                processors,
                bound,
                time,
                cilk,
            };
            (Job::of(work, processors.ceil() as usize, cilk), published)
        };
        Self {
            jobs: works(size).into_iter().zip(PUBLISHED).map(job).collect(),
        }
    }

    fn wsap(job: &Arc<Job>) -> Case {
        let case = Case::new("P3", job, ("WSAP", Width::Desired(super::wsap(0.75))));
        case.with(Instances::OneAndFixed)
    }

    fn fixed(job: &Arc<Job>, width: usize) -> Case {
        Case::new("P3", job, ("Cilk", Width::Fixed(width)))
    }

    /// Returns the times under Cilk on the average number of processors, and on each of the fixed
    /// numbers.
    fn fixed_and_best(observed: &Observed, job: &Arc<Job>) -> Vec<Sample> {
        let widths = WIDTHS.map(|width| observed.response(&Self::fixed(job, width)));
        std::iter::once(on_average(observed, job))
            .chain(widths)
            .collect()
    }

    fn jobs(&self) -> impl Iterator<Item = &Arc<Job>> {
        self.jobs.iter().map(|(job, _)| job)
    }

    fn job(&self, name: &str) -> &Arc<Job> {
        let found = self.jobs().find(|job| job.name == name);
        found.expect("a program of figure 7-10")
    }
}

/// Returns the time under Cilk on the average number of processors that the job had under WSAP.
fn on_average(observed: &Observed, job: &Arc<Job>) -> Sample {
    observed.sample(&Greedy::wsap(job), |seen| seen.fixed.unwrap_or(f64::NAN))
}

fn exactly(figure: f64) -> Sample {
    Sample::new([figure])
}

impl Part for Greedy {
    fn cases(&self) -> Vec<Case> {
        let cases = |job| {
            let widths = WIDTHS.map(|width| Self::fixed(job, width));
            std::iter::once(Self::wsap(job)).chain(widths)
        };
        self.jobs().flat_map(cases).collect()
    }

    fn findings(&self, observed: &Observed) -> Vec<Finding> {
        self.claims(observed)
    }

    fn sections(&self, observed: &Observed) -> Vec<Section> {
        vec![Section {
            title: "P3: the greedy bound".to_owned(),
            text: "One job alone, target efficiency 0.75. Theorem 3 of the thesis says that a \
                   greedy schedule takes no longer than T1/Pbar + Tinf, where Pbar is the average \
                   effective allotment: in the Tinf of time with the most processors it counts no \
                   more than there were tasks ready (definition 1). The theorem fails as proved: \
                   the proof supposes that all steps outside of that time have enough tasks. The \
                   tests of the simulator have a greedy schedule that takes 102,000 units of time \
                   where the bound is 98,526. With the trimmed mean of Agrawal, He, Hsu and \
                   Leiserson (\"Adaptive work stealing with parallelism feedback\", 2007), which \
                   counts nothing in that time, the bound holds for every greedy schedule; it is \
                   the repaired bound below."
                .to_owned(),
            charts: vec![],
            tables: vec![self.times(observed), self.bounds(observed)],
        }]
    }
}

impl Greedy {
    /// Creates a table that compares the times with those under Cilk.
    fn times(&self, observed: &Observed) -> Table {
        let mut table = Table::new([
            "job",
            "Pbar",
            "published",
            "WSAP",
            "Cilk on ceil(Pbar)",
            "WSAP by Cilk",
            "published",
            "best of any number",
            "T1/Tinf",
        ])
        .titled("WSAP compared with Cilk on a fixed number of processors");
        for (job, published) in &self.jobs {
            let case = Self::wsap(job);
            let median = |figure: fn(&Seen) -> f64| observed.sample(&case, figure).median();
            let fixed = Self::fixed_and_best(observed, job);
            let best = fixed.iter().map(Sample::median).fold(f64::NAN, f64::min);
            let known = |figure: f64, unit| Value::known(Some(figure), unit);
            table.row([
                Value::from(job.name),
                known(hundredths(median(|seen| seen.effective)), Value::Number),
                Value::Text(published.processors.to_string()),
                known(median(|seen| seen.response), Value::Seconds),
                known(fixed[0].median(), Value::Seconds),
                known(observed.response(&case).over(&fixed[0]).value, Value::Share),
                Value::Text(format!("{:.1} %", published.time / published.cilk * 100.0)),
                known(best, Value::Seconds),
                known(
                    hundredths(median(|seen| seen.work / seen.span)),
                    Value::Number,
                ),
            ]);
        }
        table
    }

    fn bounds(&self, observed: &Observed) -> Table {
        let mut table = Table::new([
            "job",
            "bound",
            "time by bound",
            "published",
            "time by repaired bound",
            "published bound",
        ])
        .titled("Figure 7-10: running time compared with the bounds");
        for (job, published) in &self.jobs {
            let case = Self::wsap(job);
            let median = |figure: fn(&Seen) -> f64| Some(observed.sample(&case, figure).median());
            table.row([
                Value::from(job.name),
                Value::known(median(|seen| bound(seen, seen.effective)), Value::Seconds),
                Value::known(median(by_bound), Value::Ratio),
                Value::Text(format!("{:.2}x", published.time / published.bound)),
                Value::known(median(by_repaired), Value::Ratio),
                Value::Text(show_seconds(published.bound)),
            ]);
        }
        table
    }
}

fn hundredths(figure: f64) -> f64 {
    (figure * 100.0).round() / 100.0
}
