//! `bench rayon-programs`: compares published programs that use rayon on rayon's own runtime and on
//! Tidegate.
//!
//! Each program of [`table`] is built twice, from the same source and with the same versions of all
//! other packages: the folders `stock` and `tidegate` below [`table::SOURCES`] each hold a manifest
//! and a lock file. Its runs then alternate between stock, Tidegate, and Tidegate sharing the
//! machine, each as one copy and as two copies at the same time ([`run`]). A driver exercises each
//! library. [`measure`] runs the copies in a separate process, [`run`] compares their output,
//! and [`row`] reports the results.
//!
//! The bench takes a long time. Its first run needs access to the registry. Its figures depend on
//! the machine's other load. It fails only if answers differ or a program cannot be run.

pub mod measure;
mod row;
mod run;
mod table;

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::{env, thread};

use tidegate_cli_support::failure::Failure;
use tidegate_cli_support::output::{print_json, to_json, to_stdout};

use crate::bench::RayonProgramsArguments;
use crate::cargo;
use crate::engine::{Cell, Interval, Session};
pub use row::Row;
use run::{DECIDED_HERE, Run, Runner, Runtime, THREADS};
use table::{PROGRAMS, Program};
use tidegate_cli_support::arguments::Size;

/// The numbers of copies that run at the same time.
const COPIES: [usize; 2] = [1, 2];

/// A program that is ready to be measured, and the name and version of its package.
struct Ready {
    program: &'static Program,
    package: String,
    runner: Runner,
}

/// Compares the programs. If a program cannot be built or run, the others still run, and the
/// failure is reported at the end.
pub fn bench(arguments: &RayonProgramsArguments) -> Result<(), Failure> {
    let programs = chosen(&arguments.programs)?;
    let threads = threads()?;
    let scratch = scratch()?;
    let mut failed = Vec::new();
    let mut ready = Vec::new();
    for program in programs {
        match Ready::new(program, &scratch, threads) {
            Ok(program) => ready.push(program),
            Err(why) => failed.push(format!("{}: {why}", program.name)),
        }
    }
    let session = Session::whole("rayon-programs", Size::default(), &arguments.keep);
    let environment = environment(threads);
    let cells: Vec<_> = ready
        .iter()
        .map(|ready| ready.cells(&environment))
        .collect();
    cells
        .iter()
        .for_each(|cells| session.expect(cells, arguments.repeat.into()));
    session.begin()?;
    let mut rows = Vec::new();
    for (ready, cells) in ready.iter().zip(&cells) {
        match session.in_turns(cells, arguments.repeat.into()) {
            Ok(runs) => rows.extend(ready.rows(runs, threads)),
            Err(why) => failed.push(why.to_string()),
        }
    }
    let notes = session.notes();
    drop((cells, session));
    print(&rows, &notes, arguments)?;
    judge(&rows, &ready, &failed)
}

/// Returns the programs with these names, or all programs if there are no names.
fn chosen(names: &[String]) -> Result<Vec<&'static Program>, Failure> {
    let known = || PROGRAMS.iter().map(|program| program.name);
    if let Some(name) = names
        .iter()
        .find(|name| !known().any(|known| known == **name))
    {
        let known: Vec<_> = known().collect();
        return Err(Failure::Usage(format!(
            "unknown program {name:?}: expected {}",
            known.join(", ")
        )));
    }
    let is_chosen =
        |program: &&Program| names.is_empty() || names.iter().any(|name| name == program.name);
    Ok(PROGRAMS.iter().filter(is_chosen).collect())
}

pub fn threads() -> Result<usize, Failure> {
    let Some(text) = env::var_os(THREADS) else {
        return Ok(thread::available_parallelism().map_or(1, NonZero::get));
    };
    let number = text.to_str().and_then(|text| text.parse().ok());
    number.filter(|threads| *threads > 0).ok_or_else(|| {
        Failure::Usage(format!(
            "invalid value {text:?} for {THREADS}: expected an integer above 0"
        ))
    })
}

/// Returns the folder in which programs are built and run, in the checkout's target folder.
fn scratch() -> Result<PathBuf, Failure> {
    let manifest = cargo::checkout("Cargo.toml")?;
    let found = cargo::metadata(&manifest, "--no-deps")?;
    let target = found["target_directory"].as_str();
    let unknown = || Failure::Impossible("cargo metadata has no target folder".to_owned());
    Ok(Path::new(target.ok_or_else(unknown)?).join("tidegate-lab/rayon-programs"))
}

/// Returns everything that affects a sample apart from its program and runtime, as parts of a
/// cell's name.
fn environment(threads: usize) -> String {
    let variables = env::vars().filter(|(name, _)| {
        name.starts_with("TIDEGATE_") && !DECIDED_HERE.contains(&name.as_str())
    });
    let mut parts: Vec<String> = variables
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    parts.sort();
    parts.push(format!("threads={threads}"));
    parts.join("/")
}

impl Ready {
    fn new(program: &'static Program, scratch: &Path, threads: usize) -> Result<Self, Failure> {
        let package = program.package;
        Ok(Self {
            program,
            package: format!("{package} {}", run::version(package)?),
            runner: Runner::build(program, scratch, threads)?,
        })
    }

    /// Returns a cell of the program for each number of copies and each runtime.
    fn cells(&self, environment: &str) -> Vec<Cell<'_, Run>> {
        let cell = |(copies, runtime): (usize, Runtime)| {
            let (program, runtime_name) = (self.program.name, runtime.name());
            let name = format!("{program}/copies={copies}/{runtime_name}/{environment}");
            Cell::new(name, move |_| self.runner.sample(runtime, copies))
        };
        combinations().map(cell).collect()
    }

    fn rows(&self, runs: Vec<Vec<Run>>, threads: usize) -> Vec<Row> {
        let mut first = runs.iter().flatten().flat_map(|run| run.answers.first());
        let expected = first.next().cloned();
        let row = |((copies, runtime), runs): ((usize, Runtime), Vec<Run>)| {
            let mut answers = runs.iter().flat_map(|run| &run.answers);
            let different = answers.find(|answer| Some(*answer) != expected.as_ref());
            Row {
                program: self.program.name,
                package: self.package.clone(),
                copies,
                runtime,
                threads,
                different: different.cloned(),
                ratios: [Interval::exact(f64::NAN); 2],
                runs,
            }
        };
        let mut rows: Vec<Row> = combinations().zip(runs).map(row).collect();
        rows.chunks_mut(Runtime::ALL.len()).for_each(row::compare);
        rows
    }
}

/// Returns all combinations of runtime and number of copies. The first is a single copy on stock.
fn combinations() -> impl Iterator<Item = (usize, Runtime)> {
    let all = COPIES.into_iter();
    all.flat_map(|copies| Runtime::ALL.map(|runtime| (copies, runtime)))
}

fn print(
    rows: &[Row],
    notes: &[String],
    arguments: &RayonProgramsArguments,
) -> Result<(), Failure> {
    let format = arguments.format;
    if format.json {
        return print_json(&rows.iter().map(|row| to_json(Row::FIELDS, row)).collect());
    }
    if !format.csv {
        to_stdout(|out| {
            notes.iter().try_for_each(|note| writeln!(out, "{note}"))?;
            out.write_all(row::legend().as_bytes())
        })?;
    }
    row::table(rows).print(format)
}

/// Fails if answers differ or programs could not be run.
fn judge(rows: &[Row], ready: &[Ready], failed: &[String]) -> Result<(), Failure> {
    let different = rows.iter().filter_map(|row| {
        let answer = row.different.as_deref()?;
        let ready = ready
            .iter()
            .find(|ready| ready.program.name == row.program)?;
        let (copies, runtime) = (row.copies, row.runtime.name());
        Some(format!(
            "{}, {copies} on {runtime}: another answer than the first run on stock, {}",
            row.program,
            ready.runner.answer(answer).display()
        ))
    });
    let different: Vec<String> = different.collect();
    let all = [&different[..], failed].concat().join("\n");
    match (different.is_empty(), failed.is_empty()) {
        (true, true) => Ok(()),
        (true, false) => Err(Failure::Impossible(all)),
        (false, _) => Err(Failure::Wrong(all)),
    }
}

/// Returns a failure that names `path` and states `what` as the reason.
fn at(path: &Path, what: &dyn std::fmt::Display) -> Failure {
    Failure::Impossible(format!("{}: {what}", path.display()))
}
