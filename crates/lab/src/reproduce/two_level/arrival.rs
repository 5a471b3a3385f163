//! A third job comes: experiment P1 of the thesis.

use tidegate_policy::Nanos;
use tidegate_sim::Width;
use tidegate_workloads::Size;

use super::Part;
use super::jobs::{
    Arrival, CYCLE, PROCESSORS, Published, mean_response, rule, seconds, settings, work,
};
use crate::reproduce::page::{Finding, Section, Sheet};
use crate::reproduce::sample::Sample;
use crate::reproduce::simulated::spread;
use tidegate_command::failure::Failure;
use tidegate_command::output::{Progress, show_ratio, show_seconds};

const HALF: usize = PROCESSORS / 2;

/// How many steps of progress there are.
pub fn steps(runs: u64) -> u64 {
    2 * runs
}

/// The findings and the section.
pub fn add(size: Size, runs: u64, progress: &Progress) -> Result<Part, Failure> {
    let arrivals = a_new_job(size, runs, progress)?;
    let findings = arrivals.iter().map(Arrived::finding).collect();
    Ok((findings, vec![arrivals_section(&arrivals)]))
}

/// Figures of some jobs: mean response and throughput.
#[derive(Clone, Copy)]
struct Figures {
    response: f64,
    throughput: f64,
}

impl Figures {
    fn power(self) -> f64 {
        self.throughput / self.response
    }
}

/// P1 for one time of the third job's arrival.
struct Arrived {
    when: &'static str,
    /// Published ratios to static halves: response, throughput, power.
    published: [f64; 3],
    /// What the power is in theory.
    theory: f64,
    fixed: Figures,
    adaptive: Figures,
}

impl Arrived {
    fn ratios(&self) -> [f64; 3] {
        [
            self.adaptive.response / self.fixed.response,
            self.adaptive.throughput / self.fixed.throughput,
            self.adaptive.power() / self.fixed.power(),
        ]
    }

    fn finding(&self) -> Finding {
        let shown = |[response, throughput, power]: [f64; 3]| {
            format!(
                "response {response:.3}, throughput {throughput:.3}, power {power:.3} of static halves"
            )
        };
        let ours = self.ratios();
        let directions = ours.iter().zip(self.published);
        let mut directions = directions.map(|(ours, published)| (*ours > 1.0) == (published > 1.0));
        Finding::new(
            format!(
                "P1: three fib(38) of at most eight processors each, the third at {}",
                self.when
            ),
            format!(
                "{} (in theory power {:.3})",
                shown(self.published),
                self.theory
            ),
            shown(ours),
            directions.all(|same| same),
            "The published ratios are a few percent from 1 where the third job comes late: what it takes to go from a half of the machine to a third, in cycles of 5 ms, can turn them.",
        )
    }
}

/// Three equal jobs that can use half of the machine each. Statically the third waits for one of the others.
fn a_new_job(size: Size, runs: u64, progress: &Progress) -> Result<Vec<Arrived>, Failure> {
    let given: &[_] = match size {
        Size::Tiny => &[("n", "16")],
        Size::Small => &[("n", "27")],
        Size::Paper => &[("n", "38")],
    };
    let job = Published {
        work: work("fib(38)", "fib", given),
        processors: HALF,
        // Under static halves, with the third job at 0, the mean response is four thirds of it.
        seconds: 21.10 * 3.0 / 4.0,
    };
    let job = job.scaled()?;
    let fixed = Arrival {
        arrives: 0,
        width: Width::Fixed(HALF),
    };
    let alone = job.run(&settings(CYCLE, 0), &[fixed; 2])?;
    let time = mean_response(&alone);
    let cases = [
        ("0", [1.102, 1.366, 1.239], 1.185, 0.0),
        ("T/2", [1.069, 1.082, 1.012], 1.067, time / 2.0),
    ];
    let row = |(when, published, theory, later): (&'static str, [f64; 3], f64, f64)| {
        let done = spread(runs as usize, progress, |run| {
            let arrival = |arrives: f64| Arrival {
                arrives: (arrives * 1e9) as Nanos,
                width: Width::Limited(rule("wsap:eta=0.5"), HALF),
            };
            let arrivals = [0.0, 0.0, later].map(arrival);
            let outcome = job.run(&settings(CYCLE, run as u64), &arrivals)?;
            Ok((mean_response(&outcome), 3.0 / seconds(outcome.end())))
        })?;
        Ok(Arrived {
            when,
            published,
            theory,
            fixed: Figures {
                response: time + (time - later) / 3.0,
                throughput: 3.0 / (2.0 * time),
            },
            adaptive: Figures {
                response: Sample::mean_of(done.iter().map(|done| done.0).collect()),
                throughput: Sample::mean_of(done.iter().map(|done| done.1).collect()),
            },
        })
    };
    cases.into_iter().map(row).collect()
}

fn arrivals_section(arrivals: &[Arrived]) -> Section {
    let row = |arrived: &Arrived| {
        let shown = |figures: Figures| {
            [
                show_seconds(figures.response),
                format!("{:.4}", figures.throughput),
                format!("{:.3e}", figures.power()),
            ]
        };
        let each = std::iter::once(arrived.when.to_owned());
        let each = each
            .chain(shown(arrived.fixed))
            .chain(shown(arrived.adaptive));
        each.chain(arrived.ratios().map(show_ratio)).collect()
    };
    let columns = [
        "third at",
        "static response",
        "throughput",
        "power",
        "WSAP response",
        "throughput",
        "power",
        "response",
        "throughput",
        "power",
    ];
    Section {
        title: "P1: a third job comes".to_owned(),
        text: "Three equal jobs that can use half of the machine each. Statically the first two have a half each and the third waits for the end of one of them; here it gets a third of the machine. Throughput is jobs a \
               second, power throughput by response."
            .to_owned(),
        charts: vec![],
        tables: vec![Sheet {
            title: "Static halves, WSAP, and the ratios".to_owned(),
            columns: columns.map(str::to_owned).into(),
            rows: arrivals.iter().map(row).collect(),
        }],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether it agrees where response and throughput are so many times those of static halves.
    fn agrees(response: f64, throughput: f64) -> bool {
        let figures = |response, throughput| Figures {
            response,
            throughput,
        };
        let arrived = Arrived {
            when: "0",
            published: [1.1, 1.3, 1.2],
            theory: 1.2,
            fixed: figures(20.0, 0.1),
            adaptive: figures(20.0 * response, 0.1 * throughput),
        };
        arrived.finding().agrees
    }

    #[test]
    fn response_throughput_and_power_must_all_point_where_the_published_ones_do() {
        assert!(agrees(1.1, 1.3));
        assert!(!agrees(0.9, 1.3), "response");
        assert!(!agrees(0.7, 0.9), "throughput");
        assert!(!agrees(1.3, 1.1), "power");
        assert!(!agrees(f64::NAN, f64::NAN));
    }
}
