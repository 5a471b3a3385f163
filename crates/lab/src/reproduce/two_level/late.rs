//! More workers than processors, because those of a job that has to give some back work on: experiment O3 of the thesis.

use tidegate_sim::Width;
use tidegate_workloads::Size;

use super::Part;
use super::jobs::{Arrival, CYCLE, MS, PROCESSORS, Published, mean_response, rule, settings, work};
use crate::reproduce::page::{Finding, Section, Sheet};
use crate::reproduce::sample::{Mean, Sample};
use crate::reproduce::simulated::spread;
use tidegate_command::failure::Failure;
use tidegate_command::output::{Progress, show_seconds};

/// How many steps of progress there are.
pub fn steps(runs: u64) -> u64 {
    3 * SUBTASKS.len() as u64 * runs
}

/// The finding and the section; the jobs are small whatever the size.
pub fn add(_: Size, runs: u64, progress: &Progress) -> Result<Part, Failure> {
    let late = late(runs, progress)?;
    Ok((vec![late_is_dear(&late)], vec![late_section(&late)]))
}

/// An overhead in percent that is none.
const NONE: f64 = 1.0;

/// How many subtasks each job has in O3, and the published overheads in percent.
const SUBTASKS: [(&str, f64); 3] = [("16", 36.26), ("32", 10.47), ("64", 4.078)];

/// A row of O3: mean responses in seconds.
struct Late {
    subtasks: &'static str,
    published: f64,
    fixed: Mean,
    free: Mean,
    limited: Mean,
}

impl Late {
    fn overhead(&self, mean: Mean) -> f64 {
        (mean.value / self.fixed.value - 1.0) * 100.0
    }
}

/// Two equal jobs, of which the second comes when the first has all processors and none of its subtasks is over.
fn late(runs: u64, progress: &Progress) -> Result<Vec<Late>, Failure> {
    let row = |(subtasks, published): (&'static str, f64)| {
        let given: &'static [_] = match subtasks {
            "16" => &[("n", "16")],
            "32" => &[("n", "32")],
            _ => &[("n", "64")],
        };
        // A subtask takes as long in all of them: four rounds of sixteen in the published time of loopy(64).
        let rounds: f64 = subtasks.parse::<f64>().expect("a number") / PROCESSORS as f64;
        let job = Published {
            work: work("loopy", "loopy", given),
            processors: PROCESSORS,
            seconds: 18.15 / 4.0 * rounds,
        };
        let job = job.scaled()?;
        let (half, wsap) = (PROCESSORS / 2, rule("wsap:eta=0.5"));
        let widths = [
            Width::Fixed(half),
            Width::Desired(wsap),
            Width::Limited(wsap, half),
        ];
        let runs = runs as usize;
        let seen = spread(widths.len() * runs, progress, |number| {
            let width = widths[number / runs];
            let settings = settings(CYCLE, (number % runs) as u64);
            let first = Arrival { arrives: 0, width };
            let alone = job.run(&settings, &[first])?;
            let arrives = alone.jobs[0].all_processors.unwrap_or(MS);
            let outcome = job.run(&settings, &[first, Arrival { arrives, width }])?;
            Ok(mean_response(&outcome))
        })?;
        let means: Vec<Mean> = seen
            .chunks(runs)
            .map(|seen| Sample::new(seen.to_vec()).mean())
            .collect();
        Ok(Late {
            subtasks,
            published,
            fixed: means[0],
            free: means[1],
            limited: means[2],
        })
    };
    SUBTASKS.into_iter().map(row).collect()
}

fn late_is_dear(late: &[Late]) -> Finding {
    let free: Vec<f64> = late.iter().map(|row| row.overhead(row.free)).collect();
    let shown: Vec<String> = free
        .iter()
        .map(|percent| format!("{percent:.1} %"))
        .collect();
    let with_limits = late.iter().map(|row| row.overhead(row.limited));
    let none_limited = with_limits.clone().all(|percent| percent < NONE);
    let limited: Vec<String> = with_limits
        .map(|percent| format!("{percent:.1} %"))
        .collect();
    let falls = free.windows(2).all(|two| two[1] <= two[0]);
    let published: Vec<String> = late
        .iter()
        .map(|row| format!("{:.1} %", row.published))
        .collect();
    Finding::new(
        "O3: two loopy(16), (32), (64), the second coming when the first has all processors: mean response beyond that of two halves of the machine",
        format!(
            "{}; with limits of a half, none (here: below {NONE} %)",
            published.join(", ")
        ),
        format!("{}; with limits {}", shown.join(", "), limited.join(", ")),
        free[0] > 0.0 && falls && none_limited,
        "The first job's workers leave at the end of their subtasks, of which each runs on a whole processor until the second job's workers stand in line for it; the slices in \
              which they take turns cost a simulated processor microseconds, and nothing of its caches.",
    )
}

fn late_section(late: &[Late]) -> Section {
    let row = |row: &Late| {
        vec![
            format!("loopy({})", row.subtasks),
            show_seconds(row.fixed.value),
            show_seconds(row.free.value),
            format!("{:.2} %", row.overhead(row.free)),
            format!("{:.2} %", row.published),
            show_seconds(row.limited.value),
            format!("{:.2} %", row.overhead(row.limited)),
        ]
    };
    let columns = [
        "jobs",
        "half each",
        "WSAP",
        "overhead",
        "published",
        "WSAP, limit 8",
        "overhead",
    ];
    Section {
        title: "O3: more workers than processors".to_owned(),
        text: "The second of two equal jobs comes when the first has all sixteen processors. Its workers leave at the end of their subtasks only, and until then there are more workers than processors."
            .to_owned(),
        charts: vec![],
        tables: vec![Sheet {
            title: "Mean response".to_owned(),
            columns: columns.map(str::to_owned).into(),
            rows: late.iter().map(row).collect(),
        }],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether it agrees where mean responses are so many percent beyond those of halves, without limits and with.
    fn agrees(free: [f64; 3], limited: f64) -> bool {
        let mean = |percent: f64| Mean {
            value: 10.0 * (1.0 + percent / 100.0),
            half_width: 0.0,
        };
        let row = |((subtasks, published), free): ((&'static str, f64), f64)| Late {
            subtasks,
            published,
            fixed: mean(0.0),
            free: mean(free),
            limited: mean(limited),
        };
        let late: Vec<Late> = SUBTASKS.into_iter().zip(free).map(row).collect();
        late_is_dear(&late).agrees
    }

    #[test]
    fn an_overhead_that_falls_and_is_none_with_limits_agrees_and_none_of_these_alone_does() {
        assert!(agrees([30.0, 10.0, 4.0], 0.5));
        assert!(!agrees([30.0, 10.0, 4.0], 2.0 * NONE));
        assert!(!agrees([30.0, 10.0, 12.0], 0.5));
        assert!(!agrees([-1.0, -2.0, -3.0], 0.5));
        assert!(!agrees([f64::NAN; 3], f64::NAN));
    }
}
