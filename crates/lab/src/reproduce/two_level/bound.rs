//! Running times beside the greedy bound: experiment P3 of the thesis.

use tidegate_sim::Width;
use tidegate_workloads::Size;

use super::Part;
use super::jobs::{Arrival, CHOLESKY, CYCLE, Published, cholesky, rule, seconds, settings, work};
use crate::reproduce::page::{Finding, Section, Sheet};
use crate::reproduce::sample::Sample;
use crate::reproduce::simulated::spread;
use tidegate_command::failure::Failure;
use tidegate_command::output::{Progress, show_ratio, show_seconds};

/// How many steps of progress there are.
pub fn steps(runs: u64) -> u64 {
    programs(Size::Tiny).len() as u64 * runs
}

/// The finding and the section.
pub fn add(size: Size, runs: u64, progress: &Progress) -> Result<Part, Failure> {
    let bounds = greedy_bound(size, runs, progress)?;
    Ok((vec![bounds_finding(&bounds)], vec![bounds_section(&bounds)]))
}

/// The programs of figure 7-10, with the fixed number of processors to which the thesis compares and the time on these; then the published processors in the mean, bound
/// and time.
fn programs(size: Size) -> Vec<(Published, [f64; 3])> {
    let [a, b, c, fib] = parameters(size);
    let strassen: &[_] = match size {
        Size::Tiny => &[("n", "64")],
        Size::Small | Size::Paper => &[("n", "1024"), ("cutoff", "64")],
    };
    let one = |work, processors, seconds, figures| {
        let published = Published {
            work,
            processors,
            seconds,
        };
        (published, figures)
    };
    vec![
        one(
            work("knary(11,3,3)", "knary", a),
            4,
            10.85,
            [3.732, 6.242, 11.37],
        ),
        one(
            work("knary(11,4,0)", "knary", b),
            16,
            8.166,
            [15.02, 8.164, 8.704],
        ),
        one(
            work("knary(10,4,2)", "knary", c),
            12,
            8.580,
            [11.49, 4.540, 8.617],
        ),
        one(
            work("loopy(64)", "loopy", &[("n", "64")]),
            16,
            18.49,
            [15.82, 22.01, 18.55],
        ),
        one(
            work("fib(33)", "fib", fib),
            16,
            18.93,
            [15.60, 13.35, 18.99],
        ),
        one(
            work("strassen(1024)", "strassen", strassen),
            7,
            3.906,
            [6.784, 4.170, 3.450],
        ),
        one(
            work(CHOLESKY, "cholesky", cholesky(size)),
            15,
            45.49,
            [14.45, 31.85, 43.74],
        ),
    ]
}

/// The parameters of three knary and of fib.
fn parameters(size: Size) -> [&'static [(&'static str, &'static str)]; 4] {
    match size {
        Size::Tiny => [
            &[("n", "6"), ("k", "3"), ("r", "3")],
            &[("n", "5"), ("k", "4"), ("r", "0")],
            &[("n", "5"), ("k", "4"), ("r", "2")],
            &[("n", "16")],
        ],
        Size::Small => [
            &[("n", "9"), ("k", "3"), ("r", "3")],
            &[("n", "8"), ("k", "4"), ("r", "0")],
            &[("n", "8"), ("k", "4"), ("r", "2")],
            &[("n", "25")],
        ],
        Size::Paper => [
            &[("n", "11"), ("k", "3"), ("r", "3")],
            &[("n", "11"), ("k", "4"), ("r", "0")],
            &[("n", "10"), ("k", "4"), ("r", "2")],
            &[("n", "33")],
        ],
    }
}

/// A row of P3.
struct Bounded {
    name: &'static str,
    published: [f64; 3],
    processors: f64,
    bound: f64,
    time: f64,
}

fn greedy_bound(size: Size, runs: u64, progress: &Progress) -> Result<Vec<Bounded>, Failure> {
    let row = |(program, published): (Published, [f64; 3])| {
        let job = program.scaled()?;
        let seen = spread(runs as usize, progress, |run| {
            let alone = Arrival {
                arrives: 0,
                width: Width::Desired(rule("wsap:eta=0.75")),
            };
            let outcome = job.run(&settings(CYCLE, run as u64), &[alone])?;
            let job = &outcome.jobs[0];
            let processors = job.effective_allotment;
            let bound = seconds(job.work) / processors + seconds(job.span);
            Ok([processors, bound, seconds(job.time())])
        })?;
        let mean = |figure: usize| Sample::mean_of(seen.iter().map(|seen| seen[figure]).collect());
        Ok(Bounded {
            name: program.work.name,
            published,
            processors: mean(0),
            bound: mean(1),
            time: mean(2),
        })
    };
    programs(size).into_iter().map(row).collect()
}

/// So many times the bound is still close to it.
const CLOSE: f64 = 2.0;

fn bounds_finding(bounds: &[Bounded]) -> Finding {
    let most = |ratios: &mut dyn Iterator<Item = f64>| ratios.fold(0.0, f64::max);
    let ours = most(&mut bounds.iter().map(|row| row.time / row.bound));
    let theirs = most(&mut bounds.iter().map(|row| row.published[2] / row.published[1]));
    let farthest = bounds
        .iter()
        .max_by(|a, b| (a.time / a.bound).total_cmp(&(b.time / b.bound)));
    let farthest = farthest.map_or("none", |row| row.name);
    Finding::new(
        "P3: running time by the greedy bound T1/Pbar + Tinf",
        format!(
            "{} at most (here: close up to {})",
            show_ratio(theirs),
            show_ratio(CLOSE)
        ),
        format!("{} at most", show_ratio(ours)),
        bounds.iter().all(|row| row.time <= CLOSE * row.bound),
        format!(
            "{farthest} is farthest off. The bound knows nothing of what steals take, nor that Pbar is a mean over phases with many processors and with few."
        ),
    )
}

fn bounds_section(bounds: &[Bounded]) -> Section {
    let row = |row: &Bounded| {
        let [processors, bound, time] = row.published;
        vec![
            row.name.to_owned(),
            format!("{:.2}", row.processors),
            show_seconds(row.bound),
            show_seconds(row.time),
            show_ratio(row.time / row.bound),
            format!("{processors:.2}"),
            show_ratio(time / bound),
        ]
    };
    let columns = [
        "job",
        "Pbar",
        "bound",
        "time",
        "time by bound",
        "published Pbar",
        "published time by bound",
    ];
    Section {
        title: "P3: the greedy bound".to_owned(),
        text: "One job alone, target efficiency 0.75. Its tasks take so long that on a fixed number of processors it runs as long as published.".to_owned(),
        charts: vec![],
        tables: vec![Sheet {
            title: "Running time beside T1/Pbar + Tinf".to_owned(),
            columns: columns.map(str::to_owned).into(),
            rows: bounds.iter().map(row).collect(),
        }],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether it agrees where one job takes twelve seconds with a bound of ten, and one so long.
    fn agrees(time: f64) -> bool {
        let row = |time| Bounded {
            name: "job",
            published: [16.0, 10.0, 11.0],
            processors: 15.0,
            bound: 10.0,
            time,
        };
        bounds_finding(&[row(12.0), row(time)]).agrees
    }

    #[test]
    fn every_job_must_be_close_to_its_bound() {
        assert!(agrees(19.0));
        assert!(!agrees(21.0));
        assert!(!agrees(f64::NAN));
    }
}
