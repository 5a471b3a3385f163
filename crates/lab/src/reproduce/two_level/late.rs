//! Experiment O3: a job that must give up processors keeps its workers running, so there are more
//! workers than processors.

use std::sync::Arc;

use tidegate_sim::Width;

use super::Part;
use super::case::{Case, Instances, Observed};
use super::job::{Job, PROCESSORS, work};
use crate::engine::ratios::{farthest, of_ratios};
use crate::engine::{Claim, Refuted, Sample};
use crate::reproduce::page::{Finding, Section};
use crate::reproduce::two_level::show;
use tidegate_command::output::{Table, Value};

const HALF: usize = PROCESSORS / 2;

/// A job's published mean responses, in seconds.
struct Published {
    wsap: f64,
    /// The response if each instance has half of the machine.
    halves: f64,
    /// The ratios that agree. On a logarithmic scale, they are nearer to this job's published ratio
    /// than to that of any other job.
    agrees: std::ops::RangeInclusive<f64>,
}

const PUBLISHED: [Published; 3] = [
    Published {
        wsap: 12.31,
        halves: 9.035,
        agrees: 1.195..=1.68,
    },
    Published {
        wsap: 19.70,
        halves: 17.83,
        agrees: 1.065..=1.195,
    },
    Published {
        wsap: 37.68,
        halves: 36.21,
        agrees: 1.025..=1.065,
    },
];

/// Two equal jobs, the second of which arrives when the first has all processors. The jobs are
/// small at every size.
pub struct Late {
    jobs: [Arc<Job>; 3],
}

impl Late {
    pub fn new() -> Self {
        let loopy = |name, given, rounds: f64| {
            // A subtask takes equally long in all three jobs; loopy(64) has four rounds of sixteen
            // subtasks.
            Job::of(work(name, "loopy", given), PROCESSORS, 18.15 / 4.0 * rounds)
        };
        Self {
            jobs: [
                loopy("loopy(16)", &[("n", "16")], 1.0),
                loopy("loopy(32)", &[("n", "32")], 2.0),
                loopy("loopy(64)", &[("n", "64")], 4.0),
            ],
        }
    }

    fn case(job: &Arc<Job>, contender: (&'static str, Width)) -> Case {
        Case::new("O3", job, contender).with(Instances::SecondWhenAllWork)
    }

    fn halves(job: &Arc<Job>) -> Case {
        Self::case(job, ("halves", Width::Fixed(HALF)))
    }

    fn wsap(job: &Arc<Job>) -> Case {
        Self::case(job, ("WSAP", Width::Desired(super::wsap(0.5))))
    }

    fn limited(job: &Arc<Job>) -> Case {
        Self::case(
            job,
            ("WSAP, limit 8", Width::Limited(super::wsap(0.5), HALF)),
        )
    }

    fn ratio(observed: &Observed, case: &Case, job: &Arc<Job>) -> [Sample; 2] {
        [case, &Self::halves(job)].map(|case| observed.response(case))
    }
}

impl Part for Late {
    fn cases(&self) -> Vec<Case> {
        let cases = |job| [Self::halves(job), Self::wsap(job), Self::limited(job)];
        self.jobs.iter().flat_map(cases).collect()
    }

    fn findings(&self, observed: &Observed) -> Vec<Finding> {
        let finding = |(job, published): (&Arc<Job>, Published)| {
            let [ours, halves] = Self::ratio(observed, &Self::wsap(job), job);
            let ratio = published.wsap / published.halves;
            Claim::new(
                format!("O3-{}", job.name),
                format!(
                    "Two {}, the second of which comes when the first has all 16 processors, \
                     respond {:.0} % later than with 8 processors each",
                    job.name,
                    (ratio - 1.0) * 100.0
                ),
                "7.1.3, figure 7-6",
                published.agrees,
                Refuted::AtMost(1.0),
            )
            .published(ratio)
            .finding(ours.over(&halves), show)
            .because(
                "The first job's workers leave at the ends of their subtasks only. Until then \
                 workers of both jobs take turns on the processors, which costs a simulated \
                 processor microseconds and nothing of its caches.",
            )
        };
        let mut findings: Vec<Finding> = self.jobs.iter().zip(PUBLISHED).map(finding).collect();
        findings.push(self.with_limits(observed));
        findings
    }

    fn sections(&self, observed: &Observed) -> Vec<Section> {
        let mut table = Table::new([
            "jobs",
            "half each",
            "WSAP",
            "by half each",
            "published",
            "WSAP, limit 8",
            "by half each",
        ])
        .titled("Figure 7-6: mean response");
        for (job, published) in self.jobs.iter().zip(PUBLISHED) {
            let time =
                |case: &Case| Value::known(Some(observed.response(case).median()), Value::Seconds);
            let ratio = |case: Case| {
                let [ours, halves] = Self::ratio(observed, &case, job);
                Value::known(Some(ours.over(&halves).value), Value::Share)
            };
            table.row([
                Value::from(job.name),
                time(&Self::halves(job)),
                time(&Self::wsap(job)),
                ratio(Self::wsap(job)),
                Value::Text(format!(
                    "{:.1} %",
                    published.wsap / published.halves * 100.0
                )),
                time(&Self::limited(job)),
                ratio(Self::limited(job)),
            ]);
        }
        vec![Section {
            title: "O3: more workers than processors".to_owned(),
            text: "The second of two equal jobs comes when the first has all sixteen processors. \
                   The first job's workers leave at the ends of their subtasks, so for a while \
                   there are more workers than processors."
                .to_owned(),
            charts: vec![],
            tables: vec![table],
        }]
    }
}

impl Late {
    fn with_limits(&self, observed: &Observed) -> Finding {
        let jobs = self.jobs.iter();
        let pairs: Vec<_> = jobs
            .map(|job| Self::ratio(observed, &Self::limited(job), job))
            .collect();
        Claim::new(
            "O3-limited",
            "With a limit of 8 processors for each job nothing is lost (the ratio of three that \
             is farthest from 1)",
            "7.1.3, figure 7-6",
            0.98..=1.01,
            Refuted::Outside(0.96, 1.04),
        )
        .published(1.0)
        .finding(of_ratios(&pairs, farthest), show)
        .because("The thesis has 0.994, 1.000 and 0.989, and calls less than 1 % none.")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Verdict;
    use crate::reproduce::two_level::case::Seen;

    /// Returns the verdicts if the responses are these multiples of the responses with halves.
    fn verdicts(free: [f64; 3], limited: f64) -> Vec<Verdict> {
        let late = Late::new();
        let observed = Observed::made_up(&late.cases(), |case| {
            let number = late.jobs.iter().position(|job| job.name == case.job.name);
            let ratio = match case.contender {
                "halves" => 1.0,
                "WSAP" => free[number.unwrap()],
                _ => limited,
            };
            Seen {
                response: 10.0 * ratio,
                ..Seen::default()
            }
        });
        let findings = late.findings(&observed).into_iter();
        findings.map(|finding| finding.verdict).collect()
    }

    #[test]
    fn published_responses_agree() {
        assert_eq!(verdicts([1.363, 1.105, 1.041], 0.99), [Verdict::Agrees; 4]);
    }

    #[test]
    fn constant_or_missing_loss_disagrees() {
        let equal = [
            Verdict::Weaker,
            Verdict::Agrees,
            Verdict::Stronger,
            Verdict::Contradicts,
        ];
        assert_eq!(verdicts([1.1; 3], 1.1), equal);
        assert_eq!(verdicts([1.0; 3], 1.0)[..3], [Verdict::Contradicts; 3]);
    }
}
