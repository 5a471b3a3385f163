//! Peak and time over the parameters of the schedulers, which the source calls "voodoo" and does not print.

use tidegate_policy::Space;
use tidegate_policy::space::{DepthFirst, DfDeques, Hybrid};

use super::batch::Subject;
use super::tables::Results;
use super::{DFDEQUES, HYBRID, NARLIKAR, STEALING};
use crate::engine::Interval;
use crate::reproduce::grid::{Load, Plan, Rule};
use crate::reproduce::page::{Chart, Line, Point, Section};

/// The parameters, as parts of S1.
const PARTS: [u64; 6] = [1, 4, 16, 64, 256, 1024];

const NO_BETA: &str = "hybrid, beta 0";

const SCHEDULERS: [&str; 4] = [HYBRID, NO_BETA, NARLIKAR, DFDEQUES];

/// Work stealing, and each scheduler with each parameter, on 16 processors.
pub fn plan(subject: &Subject) -> Plan {
    let s1 = subject.extent.peak_bytes;
    let swept = PARTS.into_iter().flat_map(|part| {
        let k = s1.div_ceil(part) as usize;
        let hybrid = |beta| Space::Hybrid(Hybrid { alpha: k, beta });
        let spaces = [
            hybrid(k / 4),
            hybrid(0),
            Space::DepthFirst(DepthFirst { k }),
            Space::DfDeques(DfDeques { k }),
        ];
        let named = SCHEDULERS.into_iter().zip(spaces);
        named.map(move |(scheduler, space)| Rule::with_memory(&name(scheduler, part), space))
    });
    Plan {
        rules: std::iter::once(Rule::with_memory(STEALING, Space::None))
            .chain(swept)
            .collect(),
        works: vec![subject.work.clone()],
        loads: vec![Load {
            processors: 16,
            instances: 1,
        }],
    }
}

/// What a rule is called in names of cells, which `/` separates.
fn name(scheduler: &str, part: u64) -> String {
    format!("{scheduler} at {part}")
}

fn label(part: u64) -> String {
    match part {
        1 => "S1".to_owned(),
        part => format!("S1/{part}"),
    }
}

/// Two charts for each program.
pub fn section(swept: &[Results]) -> Section {
    let charts = swept.iter().flat_map(|results| {
        [
            chart(results, "peak memory", |name| results.peak_ratio(name, 0)),
            chart(results, "time", |name| results.time_ratio(name, 0)),
        ]
    });
    Section {
        title: "Simulated: parameters".to_owned(),
        text:
            "Peak and time on 16 processors in units of those of work stealing, over alpha and k \
               from S1 to S1/1024. A smaller alpha makes more requests sleep, and for more rounds. \
               The two lines of the hybrid have a beta of a quarter of alpha and of 0; with 16 \
               processors the first divides a request by five times as much. The findings use \
               S1/64 and the first line, whatever is best here."
                .to_owned(),
        charts: charts.collect(),
        tables: vec![],
    }
}

fn chart(results: &Results, what: &str, figure: impl Fn(&str) -> Interval) -> Chart {
    let line = |scheduler: &str| {
        let point = |(x, part): (usize, u64)| Point::new(x as f64, figure(&name(scheduler, part)));
        Line {
            name: scheduler.to_owned(),
            points: PARTS.into_iter().enumerate().filter_map(point).collect(),
        }
    };
    Chart {
        title: format!("{}: {what} over the parameter", results.name()),
        x: "alpha or k".to_owned(),
        y: format!("{what} / that of work stealing"),
        labels: PARTS.map(label).into(),
        log: false,
        lines: SCHEDULERS.map(line).into(),
    }
}
