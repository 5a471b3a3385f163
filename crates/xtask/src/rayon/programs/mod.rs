//! Real programs on the published rayon-core and on ours: `cargo run -p xtask -- rayon-programs [NAME]`.
//!
//! Each program of `table` is built twice from the same source and with the same versions of everything else (`lay`,
//! `lock`, `build`), and then run in turn on stock, on Tidegate, and on Tidegate sharing the machine; alone and as two copies
//! at once (`rounds`). A program that is a library has a driver below [`DRIVERS`]. `child` measures, `statistics` and
//! `report` say what was found.
//!
//! It is no check: it takes long, needs the registry once, and its figures depend on what else the machine does. Only
//! different answers and programs that cannot be run make it fail.
//!
//! [`DRIVERS`]: table::DRIVERS

mod build;
pub mod child;
mod lay;
mod lock;
mod report;
mod rounds;
mod statistics;
pub mod table;

use std::env;
use std::fs;
use std::io::{IsTerminal, stderr};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::thread;

use clap::Args;
use serde_json::{Value, json};

use self::build::Build;
use self::lay::{Laid, lay};
use self::report::{Row, legend};
use self::rounds::{DECIDED_HERE, Runner};
use self::table::{PROGRAMS, Program, Source};
use super::published::{RAYON, RAYON_CORE};
use crate::workspace::Workspace;

/// The variable that says how many threads rayon has.
const THREADS: &str = "RAYON_NUM_THREADS";

/// What to compare.
#[derive(Args)]
pub struct Request {
    /// Only this program.
    #[arg(value_parser = program)]
    name: Option<&'static Program>,
    /// How many samples to take of each runtime, in turn. Intervals need at least 5.
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,
    /// Also write the results, with every sample, to this file.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

fn program(name: &str) -> Result<&'static Program, String> {
    crate::named(PROGRAMS.iter(), name, |program| program.name)
}

/// Compares the programs and prints each as soon as it is done. Whether all ran with equal answers; the error says why
/// a program could not be fetched.
pub fn run(workspace: &Workspace, request: &Request) -> Result<bool, String> {
    let threads = threads()?;
    let variables: Vec<String> = env::vars()
        .filter(|(name, _)| name.starts_with("TIDEGATE_") && !DECIDED_HERE.contains(&name.as_str()))
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    let mut found = json!({
        "rayon": RAYON,
        "rayon_core": RAYON_CORE,
        "threads": threads,
        "rounds": request.rounds,
        "environment": variables,
        "programs": [],
    });
    write(request, &found)?;
    println!(
        "rayon {RAYON}, rayon-core {RAYON_CORE}, threads: {threads}, rounds: {} {}",
        request.rounds,
        variables.join(" ")
    );
    println!("{}\n", legend());
    let mut equal = true;
    let programs = PROGRAMS.iter().filter(|program| {
        let only = request.name.map(|program| program.name);
        only.is_none_or(|name| name == program.name)
    });
    for program in programs {
        let stage = |what: &str| stage(program.name, what);
        stage("fetching");
        let laid = lay(workspace, program).map_err(|why| format!("{}: {why}", program.name))?;
        let runner = Runner::new(workspace, program, &laid, threads, stage);
        let row = Row {
            name: program.name,
            package: package(program, &laid)?,
            measured: runner.and_then(|runner| runner.measure(request.rounds as usize, stage)),
        };
        println!("{}", row.table());
        equal &= row.equal();
        if let Value::Array(rows) = &mut found["programs"] {
            rows.push(row.json());
        }
        write(request, &found)?;
    }
    Ok(equal)
}

/// Does the work of the hidden subcommand [`child::NAME`].
pub fn measure(work: &child::Work) -> Result<bool, String> {
    println!("{}", work.measure()?.print());
    Ok(true)
}

/// How many threads every program gets.
fn threads() -> Result<usize, String> {
    let Some(text) = env::var_os(THREADS) else {
        return Ok(thread::available_parallelism().map_or(1, NonZero::get));
    };
    let number = text.to_str().and_then(|text| text.parse().ok());
    number
        .filter(|threads| *threads > 0)
        .ok_or_else(|| format!("invalid value {text:?} for {THREADS}: expected an integer above 0"))
}

/// The package that a program is or exercises, with its version.
fn package(program: &Program, laid: &Laid) -> Result<String, String> {
    Ok(match program.source {
        Source::Registry(package, version) => format!("{package} {version}"),
        Source::Driver(_, subject) => {
            let lock = laid.lock(Build::Stock)?;
            let versions: Vec<&str> = lock.versions(subject).collect();
            format!("{subject} {}", versions.join(" and "))
        }
    })
}

/// Says on a terminal what is going on.
fn stage(program: &str, what: &str) {
    if stderr().is_terminal() {
        eprintln!("{program}: {what}");
    }
}

/// Writes what has been found so far, if that is asked for.
fn write(request: &Request, found: &Value) -> Result<(), String> {
    let write = |path: &Path| {
        let text = format!("{found:#}\n");
        fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
    };
    request.json.as_deref().map_or(Ok(()), write)
}
