//! What it costs that a job begins with one processor and asks for more: experiments O1 and O2 of the thesis.

use tidegate_policy::Desire;
use tidegate_sim::{JobOutcome, Width};
use tidegate_workloads::Size;

use super::Part;
use super::jobs::{
    Arrival, CHOLESKY, MS, PROCESSORS, Published, Scaled, cholesky, rule, seconds, settings, work,
};
use crate::failure::Failure;
use crate::output::{Progress, show_ratio};
use crate::reproduce::page::{Chart, Finding, Line, Point, Section};
use crate::reproduce::sample::{Mean, Sample};
use crate::reproduce::simulated::spread;

/// The cycles of the thesis, in milliseconds.
const CYCLES: [u64; 7] = [1, 2, 5, 10, 25, 50, 100];

/// Which of them it chose.
const CHOSEN: usize = 2;

/// The programs of figure 7-1, and their times on 16 processors.
fn programs(size: Size) -> [Published; 4] {
    let (fib, knary): (&[_], &[_]) = match size {
        Size::Tiny => (&[("n", "16")], &[("n", "5"), ("k", "6"), ("r", "1")]),
        Size::Small => (&[("n", "25")], &[("n", "7"), ("k", "6"), ("r", "1")]),
        Size::Paper => (&[("n", "33")], &[("n", "10"), ("k", "6"), ("r", "1")]),
    };
    let published = |work, seconds| Published {
        work,
        processors: PROCESSORS,
        seconds,
    };
    [
        published(work("fib(33)", "fib", fib), 1.044),
        published(work("loopy(64)", "loopy", &[("n", "64")]), 18.15),
        published(work("knary(10,6,1)", "knary", knary), 12.89),
        published(work(CHOLESKY, "cholesky", cholesky(size)), 11.17),
    ]
}

/// What was seen of a job: its time, and until all processors had work; all of it where they never had.
#[derive(Clone, Copy)]
struct Seen {
    time: f64,
    all: f64,
}

impl Seen {
    fn of(job: &JobOutcome) -> Self {
        Self {
            time: seconds(job.time()),
            all: seconds(job.all_processors.unwrap_or(job.time())),
        }
    }
}

/// Means over the runs.
struct Means {
    time: Mean,
    all: Mean,
}

impl Means {
    fn of(seen: &[Seen]) -> Self {
        let mean = |figure: fn(&Seen) -> f64| Sample::new(seen.iter().map(figure).collect()).mean();
        Self {
            time: mean(|seen| seen.time),
            all: mean(|seen| seen.all),
        }
    }
}

/// A program under a rule: without cycles as Cilk runs it, and with each cycle.
struct Measured {
    name: String,
    fixed: Means,
    cycles: Vec<Means>,
}

fn measure(
    job: &Scaled,
    desire: Desire,
    runs: u64,
    progress: &Progress,
) -> Result<Measured, Failure> {
    let widths = CYCLES.map(|cycle| (cycle, Width::Desired(desire)));
    let cases: Vec<(u64, Width)> = std::iter::once((1, Width::Fixed(PROCESSORS)))
        .chain(widths)
        .collect();
    let runs = runs as usize;
    let seen = spread(cases.len() * runs, progress, |number| {
        let (cycle, width) = cases[number / runs];
        let alone = Arrival { arrives: 0, width };
        let settings = settings(cycle * MS, (number % runs) as u64);
        Ok(Seen::of(&job.run(&settings, &[alone])?.jobs[0]))
    })?;
    let mut means = seen.chunks(runs).map(Means::of);
    let fixed = means.next().expect("the first case");
    Ok(Measured {
        name: job.work.name.to_owned(),
        fixed,
        cycles: means.collect(),
    })
}

/// How many steps of progress there are.
pub fn steps(runs: u64) -> u64 {
    // The programs, and one of them under another rule.
    5 * (1 + CYCLES.len() as u64) * runs
}

/// The sections and the findings.
pub fn add(size: Size, runs: u64, progress: &Progress) -> Result<Part, Failure> {
    let scaled: Vec<Scaled> = programs(size)
        .iter()
        .map(Published::scaled)
        .collect::<Result<_, _>>()?;
    let measured: Vec<Measured> = scaled
        .iter()
        .map(|job| measure(job, rule("wsap:eta=0.5"), runs, progress))
        .collect::<Result<_, _>>()?;
    let counted = measure(&scaled[1], rule("instantaneous"), runs, progress)?;
    let findings = vec![
        intervals(&measured),
        counting_is_slow(&measured[1], &counted),
        overhead(&measured),
    ];
    let sections = vec![all_processors(&measured, &counted), overheads(&measured)];
    Ok((findings, sections))
}

fn intervals(measured: &[Measured]) -> Finding {
    let in_cycles = measured.iter().flat_map(|program| {
        let with_cycles = program.cycles.iter().zip(CYCLES);
        with_cycles.map(|(means, cycle)| means.all.value * 1e3 / cycle as f64)
    });
    let least = in_cycles.clone().fold(f64::MAX, f64::min);
    let most = in_cycles.fold(0.0, f64::max);
    Finding {
        what: "O1: cycles until all 16 processors have work".to_owned(),
        published: "always more than four, the fewest possible, and fewer where a cycle is longer"
            .to_owned(),
        ours: format!("{least:.2} to {most:.2}"),
        agrees: least >= 4.0,
        why: "A desire doubles at each end of a cycle, and the first cycle is already under way when a job comes: from one to sixteen it takes four ends, of which the \
              first may come early. The published machine needed further cycles to wake its workers and for them to find work; ours does both in microseconds."
            .to_owned(),
    }
}

fn counting_is_slow(wsap: &Measured, counting: &Measured) -> Finding {
    let each = wsap.cycles.iter().zip(&counting.cycles);
    let least = each.map(|(wsap, counting)| counting.all.value / wsap.all.value);
    let least = least.fold(f64::MAX, f64::min);
    Finding {
        what: "O1: loopy(64), all processors by counting ready tasks against WSAP".to_owned(),
        published: "more than 2.5 times as long at any cycle".to_owned(),
        ours: format!("{} at least", show_ratio(least)),
        agrees: least > 1.0,
        why: String::new(),
    }
}

/// How much longer a program takes than with all processors from the beginning.
fn more(program: &Measured, cycle: usize) -> f64 {
    program.cycles[cycle].time.value / program.fixed.time.value - 1.0
}

fn overhead(measured: &[Measured]) -> Finding {
    let most = measured.iter().map(|program| more(program, CHOSEN));
    let most = most.fold(f64::MIN, f64::max);
    Finding {
        what: "O2: running time with a cycle of 5 ms, beyond that with all processors from the beginning".to_owned(),
        published: "virtually none".to_owned(),
        ours: format!("{:.2} % at most", most * 100.0),
        agrees: most < 0.05,
        why: "fib(33) ran for one second: the four cycles until it has all processors are two percent of that.".to_owned(),
    }
}

fn chart(title: &str, y: &str, lines: Vec<Line>) -> Chart {
    Chart {
        title: title.to_owned(),
        x: "est-cycle (ms)".to_owned(),
        y: y.to_owned(),
        labels: CYCLES.iter().map(ToString::to_string).collect(),
        lines,
    }
}

/// A line over the cycles.
fn line(name: &str, means: impl Iterator<Item = Mean>) -> Line {
    let point = |(number, mean): (usize, Mean)| Point {
        x: number as f64,
        y: mean.value,
        low: mean.value - mean.half_width,
        high: mean.value + mean.half_width,
    };
    Line {
        name: name.to_owned(),
        points: means.enumerate().map(point).collect(),
    }
}

fn all_processors(measured: &[Measured], counted: &Measured) -> Section {
    let lines = |of: &dyn Fn(&Measured) -> Vec<Mean>| {
        let each = measured
            .iter()
            .map(|program| line(&program.name, of(program).into_iter()));
        each.collect::<Vec<_>>()
    };
    let absolute = lines(&|program| program.cycles.iter().map(|m| m.all.over(1e-3)).collect());
    let in_cycles = lines(&|program| {
        let each = program.cycles.iter().zip(CYCLES);
        each.map(|(m, cycle)| m.all.over(cycle as f64 / 1e3))
            .collect()
    });
    let all = |program: &Measured, name: &str| {
        line(name, program.cycles.iter().map(|m| m.all.over(1e-3)))
    };
    let two = vec![
        all(&measured[1], "WSAP"),
        all(counted, "counting ready tasks"),
    ];
    Section {
        title: "O1: until all processors have work".to_owned(),
        text: "A job begins with one processor and its desire at most doubles in each cycle."
            .to_owned(),
        charts: vec![
            chart("Time", "ms", absolute),
            chart("The same in cycles", "cycles", in_cycles),
            chart("loopy(64) by two estimators", "ms", two),
        ],
        tables: vec![],
    }
}

fn overheads(measured: &[Measured]) -> Section {
    let percent = |program: &Measured| {
        let points = (0..CYCLES.len()).map(|cycle| Mean {
            value: more(program, cycle) * 100.0,
            half_width: program.cycles[cycle].time.half_width / program.fixed.time.value * 100.0,
        });
        line(&program.name, points)
    };
    Section {
        title: "O2: running time".to_owned(),
        text: "Beyond that with all processors from the beginning. A simulated estimate takes no time, so only the way to sixteen processors counts.".to_owned(),
        charts: vec![chart(
            "Overhead",
            "%",
            measured.iter().map(percent).collect(),
        )],
        tables: vec![],
    }
}
