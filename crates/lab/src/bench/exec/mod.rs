//! `bench exec`: what `tidegate exec` costs programs that do not use Tidegate, and how well they
//! share the machine under it.
//!
//! [`programs`] prepares the programs, [`run`] runs them, and this module compares the runs. A
//! program whose tools are missing is skipped. The jobs share a private table.

mod chains;
mod programs;
pub mod rayon;
mod run;
mod tree;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tidegate::machine::Machine;
use tidegate_cli_support::columns;
use tidegate_cli_support::failure::Failure;
use tidegate_cli_support::output::{Value, tame, to_stderr};

use crate::bench::ExecArguments;
use crate::bench::crew::own_path;
use crate::engine::sheet::{Column, Field, Sheet};
use crate::engine::{Cell, Interval, LEAST, Sample, Session};
use programs::{OPENMP, Prepared, Program};
use run::{Runner, Way};
use tidegate_cli_support::arguments::Size;

pub const COLUMNS: &[Column] = columns! {
    program "program" Value::Number, "";
    case "case" Value::Number, "";
    seconds "time" Value::Seconds, "";
    base_seconds "base" Value::Seconds, "";
    ratio "ratio" Value::Ratio, "of the two";
    limit "limit" Value::Number, "on the ratio, or on the desire";
    mark "mark" Value::Number, "";
    desire "desire" Value::Number, "null except for `idle`";
    processors "" Value::Number, "";
    median_of "" Value::Number, "rounds";
    skipped "" Value::Number, "why the program was skipped, else null";
};

/// A case of each program: its name, two kinds of runs, and the limit on the ratio of their times.
type Case = (&'static str, [&'static str; 2], f64);

const ALONE: &str = "alone under exec";
const ALONE_PLAIN: &str = "alone";
const TWO: &str = "two under exec";
const TWO_PLAIN: &str = "two";
const NARROWED: &str = "two narrowed";
const BESIDE: &str = "uts beside";
const HALF: &str = "uts on half";
const IDLE: &str = "idle under exec";

const CASES: [Case; 4] = [
    ("alone", [ALONE, ALONE_PLAIN], 1.02),
    ("two", [TWO, TWO_PLAIN], 1.02),
    ("beside uts", [BESIDE, HALF], 1.05),
    // Two programs must be five times faster than two that spin and are narrowed.
    ("narrowed", [TWO, NARROWED], 0.2),
];

pub fn bench(arguments: &ExecArguments) -> Result<(), Failure> {
    let processors = Machine::read().usable().len();
    if processors < 2 {
        let why = "bench exec: one processor cannot be shared; give this process two";
        return Err(Failure::Impossible(why.into()));
    }
    let runner = Runner::new(tidegate(arguments.tidegate.as_deref())?, arguments.size)?;
    let prepared = programs::prepare(runner.folder(), arguments.size, processors)?;
    let sleeper = sleeper(arguments.size);
    let cells = cells(&runner, &prepared, &sleeper);

    let session = Session::whole("bench-exec", arguments.size, &arguments.keep);
    let runs = arguments.repeat.into();
    session.expect(&cells, runs);
    session.begin()?;
    warn(&prepared);
    let figures = session.in_turns(&cells, runs)?.into_iter().map(Sample::new);
    let names = cells.iter().map(|cell| cell.name.clone());
    let samples = Samples {
        processors,
        by_cell: names.zip(figures).collect(),
    };
    let mut sheet = Sheet::new(COLUMNS);
    for program in &prepared {
        samples.add_rows(program, &mut sheet);
    }
    samples.add_idle(&sleeper, &mut sheet);
    let notes = [runner.messages(), session.notes()].concat();
    sheet.print(arguments.format, &notes)
}

/// Returns the path of the `tidegate` command, which must know `exec`.
fn tidegate(given: Option<&Path>) -> Result<PathBuf, Failure> {
    let sibling = own_path()?.with_file_name("tidegate");
    let path = given.unwrap_or(&sibling);
    let is_debug = cfg!(debug_assertions);
    let profile = if is_debug { "" } else { " --release" };
    let failed = |why: String| {
        Failure::Impossible(format!(
            "{} {why}: build it with `cargo build{profile} -p tidegate-cli`, or name it with --tidegate",
            path.display()
        ))
    };
    let absolute = path
        .canonicalize()
        .map_err(|error| failed(format!("cannot be opened ({error})")))?;
    let help = Command::new(&absolute)
        .args(["exec", "--help"])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| failed(format!("cannot be started ({error})")))?;
    if help.status.success() {
        Ok(absolute)
    } else {
        Err(failed("has no command `exec`".to_owned()))
    }
}

fn warn(prepared: &[Prepared]) {
    for program in prepared {
        if let Prepared::Skipped { name, why } = program {
            to_stderr(&tame(&format!("bench exec: skipping {name}: {why}\n")));
        }
    }
}

/// The program that does nothing.
fn sleeper(size: Size) -> Program {
    let seconds = match size {
        Size::Tiny => "1",
        Size::Small | Size::Paper => "2",
    };
    Program {
        name: "sleep",
        command: vec!["sleep".into(), seconds.into()],
        answer: Vec::new(),
    }
}

/// Returns the cells, so that those which are compared run one after the other.
fn cells<'a>(
    runner: &'a Runner,
    prepared: &'a [Prepared],
    sleeper: &'a Program,
) -> Vec<Cell<'a, f64>> {
    let mut cells = vec![
        Cell::new(HALF, |_| runner.half()),
        Cell::new(cell(sleeper.name, IDLE), |_| runner.desire(sleeper)),
    ];
    for program in prepared {
        let Prepared::Ready(program) = program else {
            continue;
        };
        let mut add = |kind: &'static str, way, copies| {
            let take = move |_| runner.together(program, way, copies);
            cells.push(Cell::new(cell(program.name, kind), take));
        };
        add(ALONE, Way::Exec, 1);
        add(ALONE_PLAIN, Way::Plain, 1);
        add(TWO_PLAIN, Way::Plain, 2);
        add(TWO, Way::Exec, 2);
        if program.name == OPENMP {
            let take = |_| runner.narrowed(program);
            cells.push(Cell::new(cell(program.name, NARROWED), take));
        }
        let take = |_| runner.beside(program);
        cells.push(Cell::new(cell(program.name, BESIDE), take));
    }
    cells
}

/// Returns the name of a program's cell. All programs share the runs of `uts` on half.
fn cell(program: &str, kind: &str) -> String {
    match kind {
        HALF => HALF.to_owned(),
        _ => format!("{program}/{kind}"),
    }
}

/// The figures of all cells.
struct Samples {
    processors: usize,
    by_cell: BTreeMap<String, Sample>,
}

impl Samples {
    fn of(&self, program: &str, kind: &str) -> &Sample {
        &self.by_cell[&cell(program, kind)]
    }

    fn add_rows(&self, program: &Prepared, sheet: &mut Sheet) {
        let (name, skipped) = match program {
            Prepared::Ready(program) => (program.name, None),
            Prepared::Skipped { name, why } => (*name, Some(&**why)),
        };
        // Only OpenMP programs spin.
        let applies = |(_, [_, base], _): &Case| *base != NARROWED || name == OPENMP;
        for case in CASES.into_iter().filter(applies) {
            sheet.row(self.row(name, case, skipped));
        }
    }

    /// Returns the row of a case. A program that was skipped has no times.
    fn row(&self, program: &str, (case, kinds, limit): Case, skipped: Option<&str>) -> Vec<Field> {
        let (times, mark, runs) = match skipped {
            Some(_) => ([Field::NONE; 3], "skipped", 0),
            None => {
                let [ours, base] = kinds.map(|kind| self.of(program, kind));
                let times = [ours.interval(), base.interval(), ours.over(base)];
                let mark = mark(times[2], limit, ours.count());
                (times.map(Field::Measured), mark, ours.count())
            }
        };
        let [ours, base, ratio] = times;
        vec![
            Field::text(program),
            Field::text(case),
            ours,
            base,
            ratio,
            Field::number(limit),
            Field::text(mark),
            Field::NONE,
            Field::count(self.processors),
            Field::count(runs),
            skipped.map_or(Field::NONE, Field::text),
        ]
    }

    fn add_idle(&self, sleeper: &Program, sheet: &mut Sheet) {
        const LIMIT: f64 = 0.0;
        let desires = self.of(sleeper.name, IDLE);
        let desire = desires.interval();
        sheet.row([
            Field::text(sleeper.name),
            Field::text("idle"),
            Field::NONE,
            Field::NONE,
            Field::NONE,
            Field::number(LIMIT),
            Field::text(mark(desire, LIMIT, desires.count())),
            Field::Measured(desire),
            Field::count(self.processors),
            Field::count(desires.count()),
            Field::NONE,
        ]);
    }
}

/// Compares a figure with its limit. With too few runs for an interval, no limit is broken.
fn mark(figure: Interval, limit: f64, runs: usize) -> &'static str {
    match () {
        () if figure.value <= limit => "kept",
        () if figure.low > limit && runs >= LEAST => "broken",
        () => "unclear",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broken_needs_the_whole_interval() {
        let figure = |low, value| Interval {
            value,
            low,
            high: 2.0,
        };
        assert_eq!(mark(figure(0.9, 1.02), 1.02, LEAST), "kept");
        assert_eq!(mark(figure(0.9, 1.03), 1.02, LEAST), "unclear");
        assert_eq!(mark(figure(1.03, 1.04), 1.02, LEAST), "broken");
        assert_eq!(mark(figure(1.03, 1.04), 1.02, LEAST - 1), "unclear");
    }
}
