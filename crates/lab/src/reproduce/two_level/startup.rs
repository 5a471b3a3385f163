//! What it costs that a job begins with one processor and asks for more: experiments O1 and O2 of the thesis.

use tidegate_policy::Desire;
use tidegate_sim::{JobOutcome, Width};
use tidegate_workloads::Size;

use super::Part;
use super::jobs::{
    Arrival, CHOLESKY, MS, PROCESSORS, Published, Scaled, cholesky, rule, seconds, settings, work,
};
use crate::reproduce::page::{Chart, Finding, Line, Section};
use crate::reproduce::sample::{Mean, Sample};
use crate::reproduce::simulated::spread;
use tidegate_command::failure::Failure;
use tidegate_command::output::{Progress, show_ratio};

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

/// What was seen of a job: its time, and until all processors had work, if they ever had.
#[derive(Clone, Copy)]
struct Seen {
    time: f64,
    all: Option<f64>,
}

impl Seen {
    fn of(job: &JobOutcome) -> Self {
        Self {
            time: seconds(job.time()),
            all: job.all_processors.map(seconds),
        }
    }
}

/// Means over the runs; none where in one of them some processor never had work.
struct Means {
    time: Mean,
    all: Option<Mean>,
}

impl Means {
    fn of(seen: &[Seen]) -> Self {
        let time = seen.iter().map(|seen| seen.time).collect();
        let all: Option<Vec<f64>> = seen.iter().map(|seen| seen.all).collect();
        Self {
            time: Sample::new(time).mean(),
            all: all.map(|all| Sample::new(all).mean()),
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
    let in_cycles = |program: &Measured| -> Vec<f64> {
        let with_cycles = program.cycles.iter().zip(CYCLES);
        let cycles = with_cycles.filter_map(|(means, cycle)| {
            let all = means.all?.value;
            Some(all * 1e3 / cycle as f64)
        });
        cycles.collect()
    };
    let programs: Vec<Vec<f64>> = measured.iter().map(in_cycles).collect();
    let all = || programs.iter().flatten().copied();
    let (least, most) = (
        all().fold(f64::NAN, f64::min),
        all().fold(f64::NAN, f64::max),
    );
    let fewer = |cycles: &Vec<f64>| cycles.windows(2).all(|two| two[1] <= two[0]);
    let falls = programs.iter().all(fewer);
    let always = if falls { "always" } else { "not always" };
    Finding::new(
        "O1: cycles until all 16 processors have work",
        "always more than four, the fewest possible, and fewer where a cycle is longer",
        // It may be hardly more than four.
        format!("{least:.4} to {most:.2}, {always} fewer where a cycle is longer"),
        least > 4.0 && falls,
        "A desire doubles at each end of a cycle, and the first cycle is already under way when a job comes: from one to sixteen it takes four ends, of which the \
              first may come early. The published machine needed further cycles to wake its workers and for them to find work; ours does both in microseconds.",
    )
}

fn counting_is_slow(wsap: &Measured, counting: &Measured) -> Finding {
    let each = wsap.cycles.iter().zip(&counting.cycles);
    // Where counting never has all at work, until the end.
    let of = |means: &Means| means.all.unwrap_or(means.time).value;
    let ratios = each.map(|(wsap, counting)| of(counting) / of(wsap));
    let least = ratios.clone().fold(f64::NAN, f64::min);
    let longer = ratios.filter(|ratio| *ratio > 1.0).count();
    Finding::new(
        "O1: loopy(64), all processors by counting ready tasks against WSAP",
        "more than 2.5 times as long at any cycle",
        format!("{} at least", show_ratio(least)),
        longer == CYCLES.len(),
        "Counting is slow where few tasks lie in the deques however many there are to come; where as many lie there as are busy a desire doubles as quickly as WSAP's.",
    )
}

/// How much longer a program takes than with all processors from the beginning.
fn more(program: &Measured, cycle: usize) -> f64 {
    program.cycles[cycle].time.value / program.fixed.time.value - 1.0
}

/// A part of the running time that is virtually none.
const NONE: f64 = 0.05;

fn overhead(measured: &[Measured]) -> Finding {
    let most = measured.iter().map(|program| more(program, CHOSEN));
    let most = most.fold(f64::MIN, f64::max);
    Finding::new(
        "O2: running time with a cycle of 5 ms, beyond that with all processors from the beginning",
        format!("virtually none (here: below {} %)", NONE * 100.0),
        format!("{:.2} % at most", most * 100.0),
        most < NONE,
        "fib(33) ran for one second: the four cycles until it has all processors are two percent of that, and each further one is another half.",
    )
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

/// A line over the cycles, with a point for each that has a figure.
fn line(name: &str, means: impl Iterator<Item = Option<Mean>>) -> Line {
    let point = |(number, mean): (usize, Option<Mean>)| Some(mean?.at(number as f64));
    Line {
        name: name.to_owned(),
        points: means.enumerate().filter_map(point).collect(),
    }
}

fn all_processors(measured: &[Measured], counted: &Measured) -> Section {
    let all = |program: &Measured, name: &str| {
        let each = program.cycles.iter();
        line(name, each.map(|means| Some(means.all?.over(1e-3))))
    };
    let in_cycles = |program: &Measured| {
        let each = program.cycles.iter().zip(CYCLES);
        let each = each.map(|(means, cycle)| Some(means.all?.over(cycle as f64 / 1e3)));
        line(&program.name, each)
    };
    let absolute = measured.iter().map(|program| all(program, &program.name));
    let absolute = absolute.collect();
    let in_cycles = measured.iter().map(in_cycles).collect();
    let two = vec![
        all(&measured[1], "WSAP"),
        all(counted, "counting ready tasks"),
    ];
    Section {
        title: "O1: until all processors have work".to_owned(),
        text: "A job begins with one processor and its desire at most doubles in each cycle. Programs that end before all processors had work have no point."
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
        let unit = program.fixed.time.value / 100.0;
        let points = (0..CYCLES.len()).map(|cycle| {
            Some(Mean {
                value: more(program, cycle) * 100.0,
                half_width: program.cycles[cycle].time.half_width / unit,
            })
        });
        line(&program.name, points)
    };
    Section {
        title: "O2: running time".to_owned(),
        text: "Beyond that with all processors from the beginning. A simulated estimate takes `sim.estimate` of a processor. With cycles of these lengths that is little beside the way to sixteen processors.".to_owned(),
        charts: vec![chart(
            "Overhead",
            "%",
            measured.iter().map(percent).collect(),
        )],
        tables: vec![],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A program that takes so many seconds with each cycle, ten without, and has all processors after so many cycles, from the shortest to the longest.
    fn measured(seconds: f64, all: impl Fn(usize) -> f64) -> Measured {
        let mean = |value| Mean {
            value,
            half_width: 0.0,
        };
        let means = |time, all: Option<f64>| Means {
            time: mean(time),
            all: all.map(mean),
        };
        let cycle =
            |(number, ms): (usize, u64)| means(seconds, Some(all(number) * ms as f64 / 1e3));
        Measured {
            name: "program".to_owned(),
            fixed: means(10.0, None),
            cycles: CYCLES.into_iter().enumerate().map(cycle).collect(),
        }
    }

    /// From so many cycles on they become fewer.
    fn falling(from: f64) -> Measured {
        measured(10.0, |number| from - number as f64 / 10.0)
    }

    #[test]
    fn cycles_above_four_that_become_fewer_agree_and_neither_does_alone() {
        assert!(intervals(&[falling(6.0), falling(5.0)]).agrees);
        assert!(!intervals(&[falling(6.0), falling(4.5)]).agrees);
        let growing = measured(10.0, |number| 5.0 + number as f64);
        assert!(!intervals(&[falling(6.0), growing]).agrees);
        assert!(!intervals(&[]).agrees);
    }

    #[test]
    fn counting_must_be_slower_at_every_cycle() {
        let slow = measured(10.0, |_| 12.0);
        assert!(counting_is_slow(&falling(5.0), &slow).agrees);
        let once_quick = measured(10.0, |number| if number == 3 { 4.0 } else { 12.0 });
        assert!(!counting_is_slow(&falling(5.0), &once_quick).agrees);
    }

    #[test]
    fn a_program_that_loses_much_by_beginning_with_one_processor_does_not_agree() {
        let taking = |seconds| measured(seconds, |_| 5.0);
        assert!(overhead(&[taking(10.1), taking(10.4)]).agrees);
        assert!(!overhead(&[taking(10.1), taking(10.6)]).agrees);
    }
}
