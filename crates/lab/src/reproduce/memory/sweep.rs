//! Peak and time for different parameters of the schedulers. The source calls the parameters
//! "voodoo" and does not print them.

use tidegate_policy::MemoryPolicy;
use tidegate_policy::memory::{DepthFirst, DfDeques, Hybrid, SleepFunction};

use super::batch::Subject;
use super::tables::Results;
use super::{DFDEQUES, HYBRID, NARLIKAR, STEALING};
use crate::engine::Interval;
use crate::reproduce::grid::{Load, Plan, Rule};
use crate::reproduce::page::{Chart, Line, Point, Section};
use tidegate_command::output::Table;

/// The values of n: the sweep sets the parameters to S1/n.
const PARTS: [u64; 6] = [1, 4, 16, 64, 256, 1024];

const NO_BETA: &str = "hybrid, beta 0";
const SQRT: &str = "hybrid, sqrt";
const SQUARE: &str = "hybrid, square";

/// Every sleep function, with the name of its line in the charts.
pub const FUNCTIONS: [(&str, SleepFunction); 3] = [
    (HYBRID, SleepFunction::Linear),
    (SQRT, SleepFunction::Sqrt),
    (SQUARE, SleepFunction::Square),
];

const LINES: [&str; 6] = [HYBRID, SQRT, SQUARE, NO_BETA, NARLIKAR, DFDEQUES];

/// Creates a plan that runs work stealing, and each scheduler with each parameter, on 16
/// processors.
pub fn plan(subject: &Subject) -> Plan {
    let s1 = subject.extent.peak_bytes;
    let swept = PARTS.into_iter().flat_map(|part| {
        let k = s1.div_ceil(part) as usize;
        let hybrid = |beta, sleep| {
            let alpha = k;
            MemoryPolicy::Hybrid(Hybrid { alpha, beta, sleep })
        };
        let [linear, sqrt, square] = FUNCTIONS.map(|(_, function)| hybrid(k / 4, function));
        let spaces = [
            linear,
            sqrt,
            square,
            hybrid(0, SleepFunction::Linear),
            MemoryPolicy::DepthFirst(DepthFirst { k }),
            MemoryPolicy::DfDeques(DfDeques { k }),
        ];
        let named = LINES.into_iter().zip(spaces);
        named.map(move |(line, memory)| Rule::with_memory(&name(line, part), memory))
    });
    Plan {
        rules: std::iter::once(Rule::with_memory(STEALING, MemoryPolicy::None))
            .chain(swept)
            .collect(),
        works: vec![subject.work.clone()],
        loads: vec![Load {
            processors: 16,
            instances: 1,
        }],
    }
}

/// Returns the name of a rule. It contains no `/`, because `/` separates the parts of cell names.
pub fn name(line: &str, part: u64) -> String {
    format!("{line} at {part}")
}

fn label(part: u64) -> String {
    match part {
        1 => "S1".to_owned(),
        part => format!("S1/{part}"),
    }
}

/// Creates a section with two charts for each program, and the table of sleep functions.
pub fn section(swept: &[Results], functions: Table) -> Section {
    let charts = swept.iter().flat_map(|results| {
        [
            chart(results, "peak memory", |name| results.peak_ratio(name, 0)),
            chart(results, "time", |name| results.time_ratio(name, 0)),
        ]
    });
    Section {
        title: "Simulated: parameters".to_owned(),
        text: "Peak and time on 16 processors in units of those of work stealing, over alpha and k \
               from S1 to S1/1024. A smaller alpha makes more requests sleep, and for more rounds. \
               \"hybrid\" has a beta of a quarter of alpha; with 16 processors it divides a request \
               by five times as much as \"hybrid, beta 0\". Where it lets a request sleep r rounds, \
               \"sqrt\" and \"square\" let it sleep as many as the square root or the square of r. \
               The other findings use S1/64 and \"hybrid\", whatever is best here; the table has \
               the three sleep functions at S1/64."
            .to_owned(),
        charts: charts.collect(),
        tables: vec![functions],
    }
}

fn chart(results: &Results, what: &str, figure: impl Fn(&str) -> Interval) -> Chart {
    let line = |line: &str| {
        let point = |(x, part): (usize, u64)| Point::new(x as f64, figure(&name(line, part)));
        Line {
            name: line.to_owned(),
            points: PARTS.into_iter().enumerate().filter_map(point).collect(),
        }
    };
    Chart {
        title: format!("{}: {what} over the parameter", results.name()),
        x: "alpha or k".to_owned(),
        y: format!("{what} / that of work stealing"),
        labels: PARTS.map(label).into(),
        log: false,
        lines: LINES.map(line).into(),
    }
}
