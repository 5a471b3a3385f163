//! The cycle lengths that the experiment compares, and the best one. A cycle is the time between
//! two estimates of a job's desire.

use super::case::{Case, Observed};
use crate::engine::{Interval, Sample};
use crate::reproduce::page::{Chart, Line, Point};

/// The cycles of the thesis, in milliseconds.
pub const CYCLES: [u64; 7] = [1, 2, 5, 10, 25, 50, 100];

pub const SHORTEST: usize = 0;
/// The index of the cycle that the thesis uses.
pub const CHOSEN: usize = 2;
pub const LONGEST: usize = CYCLES.len() - 1;

/// Returns the length of the cycle with this index, in seconds.
pub fn length(cycle: usize) -> f64 {
    CYCLES[cycle] as f64 / 1e3
}

/// Returns the samples that determine the costs of cycles: a job's time under Cilk and then, for
/// each cycle, the job's time and the time until all processors have work.
pub fn samples(observed: &Observed, fixed: &Case, wsap: impl Fn(usize) -> Case) -> Vec<Sample> {
    let of_cycle = |cycle| {
        let case = wsap(cycle);
        [observed.response(&case), observed.all(&case)]
    };
    let cycles = (0..CYCLES.len()).flat_map(of_cycle);
    std::iter::once(observed.response(fixed))
        .chain(cycles)
        .collect()
}

/// Computes the cost of each cycle from the medians of the [`samples`] of one or several jobs. The
/// cost is the overhead plus the time until all processors have work, both relative to the running
/// time. It is averaged over the jobs.
pub fn costs(medians: &[f64]) -> Vec<f64> {
    let jobs: Vec<&[f64]> = medians.chunks(1 + 2 * CYCLES.len()).collect();
    let of_job = |job: &[f64], cycle: usize| {
        let [time, all] = [job[1 + 2 * cycle], job[2 + 2 * cycle]];
        (time + all) / job[0] - 1.0
    };
    let mean =
        |cycle: usize| jobs.iter().map(|job| of_job(job, cycle)).sum::<f64>() / jobs.len() as f64;
    (0..CYCLES.len()).map(mean).collect()
}

/// Returns the cycle with the lowest cost, in milliseconds.
pub fn best(medians: &[f64]) -> f64 {
    let costs = costs(medians);
    let least = (0..CYCLES.len()).min_by(|&a, &b| costs[a].total_cmp(&costs[b]));
    CYCLES[least.expect("a cycle")] as f64
}

/// Creates a chart with the cycles on the x axis.
pub fn chart(title: &str, y: &str, log: bool, lines: Vec<Line>) -> Chart {
    Chart {
        title: title.to_owned(),
        x: "est-cycle (ms)".to_owned(),
        y: y.to_owned(),
        labels: CYCLES.iter().map(ToString::to_string).collect(),
        log,
        lines,
    }
}

/// Creates a line with a point for each cycle that was measured.
pub fn line(name: &str, y: impl Fn(usize) -> Interval) -> Line {
    Line {
        name: name.to_owned(),
        points: (0..CYCLES.len())
            .filter_map(|cycle| Point::new(cycle as f64, y(cycle)))
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn best_weighs_jobs_alike() {
        // The longer the cycle, the longer the first job takes. The second job takes a thousand
        // times as long, and gets faster with longer cycles.
        let job = |time: f64, more: f64| -> Vec<f64> {
            let cycles =
                (0..CYCLES.len()).flat_map(|cycle| [time * (1.0 + more * cycle as f64), 0.0]);
            std::iter::once(time).chain(cycles).collect()
        };
        assert_eq!(best(&[job(1.0, 0.3), job(1e3, -0.2)].concat()), 1.0);
        assert_eq!(best(&[job(1.0, 0.1), job(1e3, -0.2)].concat()), 100.0);
    }
}
