//! Two jobs with complementary phases: experiment P2 of the thesis.

use tidegate_sim::{Outcome, Settings, Width};
use tidegate_workloads::dags::KnaryDag;
use tidegate_workloads::knary::Knary;
use tidegate_workloads::{Simulated, Size};

use super::Part;
use super::dags::Series;
use super::jobs::{Arrival, CYCLE, PROCESSORS, mean_response, rule, run_jobs, settings};
use crate::reproduce::page::{Finding, Section, Sheet};
use crate::reproduce::sample::Sample;
use crate::reproduce::simulated::spread;
use crate::reproduce::slowed::Slowed;
use tidegate_command::failure::Failure;
use tidegate_command::output::{Progress, show_ratio, show_seconds};

const HALF: usize = PROCESSORS / 2;

/// How many steps of progress there are.
pub fn steps(runs: u64) -> u64 {
    PAIRS.len() as u64 * runs
}

/// The finding and the section.
pub fn add(size: Size, runs: u64, progress: &Progress) -> Result<Part, Failure> {
    let pairs = complementary(size, runs, progress)?;
    Ok((vec![pairs_finding(&pairs)], vec![pairs_section(&pairs)]))
}

/// How the processors of P2 are shared, and what the thesis saw: mean response in seconds, the processors of both jobs.
struct Pair {
    name: &'static str,
    width: Width,
    response: f64,
    processors: [f64; 2],
}

/// The rules by which P2 is run beside static halves.
const PAIRS: [(&str, &str); 3] = [
    ("WSAP", "wsap:eta=0.5"),
    ("WSAP, efficiency 0.75", "wsap:eta=0.75"),
    ("steady", "steady"),
];

/// A serial phase and a parallel one, in one order and in the other.
fn halves(size: Size) -> [Vec<Knary>; 2] {
    let levels = match size {
        Size::Tiny => 5,
        Size::Small => 8,
        Size::Paper => 11,
    };
    let tree = |k, r| Knary { n: levels, k, r };
    let (serial, parallel) = (tree(4, 4), tree(5, 0));
    [vec![serial, parallel], vec![parallel, serial]]
}

fn run_pair(
    size: Size,
    factor: f64,
    settings: &Settings,
    width: Width,
) -> Result<Outcome, Failure> {
    let job = |trees: Vec<Knary>| {
        let dags: Vec<KnaryDag> = trees.iter().map(Simulated::dag).collect();
        let dag = Slowed {
            dag: Series(dags),
            factor,
        };
        (dag, Arrival { arrives: 0, width })
    };
    run_jobs(settings, halves(size).map(job).into())
}

fn complementary(size: Size, runs: u64, progress: &Progress) -> Result<Vec<Pair>, Failure> {
    let fixed = Width::Fixed(HALF);
    let alone = run_pair(size, 1.0, &settings(CYCLE, 0), fixed)?;
    // What takes 31.33 seconds under static halves.
    let factor = 31.33 / mean_response(&alone);
    let widths = PAIRS.map(|(name, text)| (name, Width::Desired(rule(text))));
    let static_halves = run_pair(size, factor, &settings(CYCLE, 0), fixed)?;
    let mut pairs = vec![Pair {
        name: "static halves",
        width: fixed,
        response: mean_response(&static_halves),
        processors: [HALF as f64; 2],
    }];
    for (name, width) in widths {
        let seen = spread(runs as usize, progress, |run| {
            let outcome = run_pair(size, factor, &settings(CYCLE, run as u64), width)?;
            let [a, b] = [0, 1].map(|job| outcome.jobs[job].mean_allotment);
            Ok([mean_response(&outcome), a, b])
        })?;
        let [response, a, b] =
            [0, 1, 2].map(|figure| Sample::mean_of(seen.iter().map(|seen| seen[figure]).collect()));
        pairs.push(Pair {
            name,
            width,
            response,
            processors: [a, b],
        });
    }
    Ok(pairs)
}

fn pairs_finding(pairs: &[Pair]) -> Finding {
    let by_static = |pair: &Pair| pair.response / pairs[0].response;
    let shown: Vec<String> = pairs[1..]
        .iter()
        .map(|pair| format!("{} {:.3}", pair.name, by_static(pair)))
        .collect();
    Finding::new(
        "P2: two jobs with complementary phases, mean response by that of static halves",
        format!("WSAP {:.3}", 22.12 / 31.33),
        shown.join(", "),
        by_static(&pairs[1]) < 1.0,
        "What there is to gain are the processors that a serial phase leaves: less is left where its tree is small and is over before the other job, in cycles of 5 ms, has asked for them.",
    )
}

fn pairs_section(pairs: &[Pair]) -> Section {
    let row = |pair: &Pair| {
        let (a, b) = (pair.processors[0], pair.processors[1]);
        let ratio = match pair.width {
            Width::Fixed(_) => String::new(),
            _ => show_ratio(pair.response / pairs[0].response),
        };
        vec![
            pair.name.to_owned(),
            show_seconds(pair.response),
            ratio,
            format!("{a:.2}, {b:.2}"),
        ]
    };
    Section {
        title: "P2: complementary phases".to_owned(),
        text: "One job has a serial phase, knary(11,4,4), and then a parallel one, knary(11,5,0); the other has them the other way round. Published: 22.12 s against 31.33 s, with 8.275 and 9.756 processors in the mean."
            .to_owned(),
        charts: vec![],
        tables: vec![Sheet {
            title: "Mean response, and processors in the mean".to_owned(),
            columns: ["rule", "response", "by static", "processors"].map(str::to_owned).into(),
            rows: pairs.iter().map(row).collect(),
        }],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether it agrees where WSAP responds in so many seconds, and static halves in 30.
    fn agrees(wsap: f64) -> bool {
        let pair = |name, response| Pair {
            name,
            width: Width::Fixed(HALF),
            response,
            processors: [HALF as f64; 2],
        };
        let pairs = [
            pair("static halves", 30.0),
            pair("WSAP", wsap),
            pair("steady", 25.0),
        ];
        pairs_finding(&pairs).agrees
    }

    #[test]
    fn a_response_below_that_of_static_halves_agrees_whatever_other_rules_bring() {
        assert!(agrees(22.0));
        assert!(!agrees(30.0));
        assert!(!agrees(f64::NAN));
    }
}
