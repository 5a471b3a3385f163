//! The project's own checks, the same at home and in CI.
//!
//! `cargo run -p xtask -- ci` runs every check that a change must pass; the other subcommands run one kind alone,
//! some of them with larger budgets. What is checked is written in tables, one per kind, and not in shell:
//!
//! | table | what a row says |
//! |---|---|
//! | `ci::QUICK`, `ci::OTHERS`, `ci::SLOW` | one check of `ci` |
//! | `beside::BESIDE` | a package that is not a member of the workspace |
//! | the crates in `ARCHITECTURE.md` | what a crate may depend on |
//! | `house::RULES` | one rule that no other tool checks |
//! | `loom::GROUPS` | loom models and their bounds |
//! | `miri::SUITES`, `tsan::PACKAGES` | tests that run under Miri and ThreadSanitizer |
//! | `crates/xtask/mutants/` | a mistake in the code, and the test that must catch it |
//! | `rayon::table::SUITES` | tests of the published rayon, and which of them do not pass, and why |
//! | `rayon::programs::table::PROGRAMS` | a program that uses rayon, to be compared on both rayon-cores |
//! | `soak::SOAKS` | a test and by how much its work can be multiplied |
//!
//! It does not run the ordinary tests: that is `cargo test --workspace`. It writes below the target folder and, with
//! `ci --full`, the file `.ci/checked`.

#![forbid(unsafe_code)]

mod beside;
mod ci;
mod command;
mod house;
mod libtest;
mod loom;
mod miri;
mod mutants;
mod rayon;
mod rustup;
mod soak;
mod step;
mod tsan;
mod workspace;

use std::process::ExitCode;
use std::slice;

use clap::{Parser, Subcommand};

use crate::ci::{Extent, Step};
use crate::loom::{GROUPS, Group};
use crate::rayon::programs;
use crate::soak::{SOAKS, Soak};
use crate::step::Tally;
use crate::workspace::Workspace;

/// The checks of the Tidegate workspace.
#[derive(Parser)]
#[command(name = "xtask")]
enum Line {
    #[command(flatten)]
    Task(Task),
    /// Runs executables and prints what they used: a process of its own for `rayon-programs`.
    #[command(name = programs::child::NAME, hide = true)]
    Measure(programs::child::Work),
}

/// What a person asks for.
#[derive(Subcommand)]
enum Task {
    /// Every check that a change must pass, one line each. The slow ones only run if they are needed.
    Ci {
        /// This check alone.
        #[arg(value_parser = step)]
        step: Option<&'static Step>,
        /// Only the checks that take seconds.
        #[arg(long, conflicts_with_all = ["step", "full"])]
        quick: bool,
        /// Also the slow checks, and record in .ci/checked that all have passed.
        #[arg(long, conflicts_with = "step")]
        full: bool,
    },
    /// Layering, unsafe, sizes, orderings, links: what no other tool checks.
    House,
    /// The loom models, or one group of them.
    Loom {
        /// The group.
        #[arg(value_parser = group)]
        group: Option<&'static Group>,
        /// With the bounds for a night.
        #[arg(long)]
        full: bool,
    },
    /// The runtime crates' tests under Miri.
    Miri {
        /// With the schedules for a night.
        #[arg(long)]
        full: bool,
    },
    /// The runtime crates' tests under ThreadSanitizer.
    Tsan,
    /// Every mutant, or one: the test that must catch it has to fail.
    Mutants {
        /// The name of its patch, without `.patch`.
        name: Option<String>,
    },
    /// Every test of the published rayon, on our rayon-core.
    Rayon,
    /// Real programs, or one of them, on the published rayon-core and on ours: answers, time, memory.
    RayonPrograms(programs::Request),
    /// The tests with a scale, or one of them, with all of their work. Takes hours.
    Soak {
        /// The soak.
        #[arg(value_parser = soak)]
        name: Option<&'static Soak>,
    },
}

fn main() -> ExitCode {
    let done = match Line::parse() {
        // Without the workspace, which takes memory and time to load.
        Line::Measure(work) => programs::measure(&work),
        Line::Task(task) => Workspace::load().and_then(|workspace| carry_out(&task, &workspace)),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(trouble) => {
            eprintln!("xtask: {trouble}");
            ExitCode::FAILURE
        }
    }
}

/// Returns whether everything passed; an error if it could not be checked.
fn carry_out(task: &Task, workspace: &Workspace) -> Result<bool, String> {
    let mut tally = Tally::default();
    match task {
        Task::RayonPrograms(request) => return programs::run(workspace, request),
        Task::Ci { step, quick, full } => match step {
            Some(step) => ci::run(workspace, &mut tally, step),
            None => ci::every(workspace, &mut tally, Extent::of(*quick, *full)),
        },
        Task::House => tally.run("house", || house::check(workspace)),
        Task::Loom { group, full } => {
            loom::run(workspace, &mut tally, one_or(*group, GROUPS), *full);
        }
        Task::Miri { full } => miri::run(workspace, &mut tally, *full),
        Task::Tsan => tsan::run(workspace, &mut tally),
        Task::Mutants { name } => mutants::run(workspace, &mut tally, name.as_deref()),
        Task::Rayon => rayon::run(workspace, &mut tally),
        Task::Soak { name } => soak::run(workspace, &mut tally, one_or(*name, SOAKS)),
    }
    Ok(tally.close())
}

fn one_or<T>(one: Option<&'static T>, all: &'static [T]) -> &'static [T] {
    one.map_or(all, slice::from_ref)
}

fn step(name: &str) -> Result<&'static Step, String> {
    named(ci::steps(), name, |step| step.0)
}

fn group(name: &str) -> Result<&'static Group, String> {
    named(GROUPS.iter(), name, |group| group.name)
}

fn soak(name: &str) -> Result<&'static Soak, String> {
    named(SOAKS.iter(), name, |soak| soak.name)
}

/// The row of that name; the error lists the names.
fn named<T: 'static>(
    rows: impl Iterator<Item = &'static T> + Clone,
    name: &str,
    of: fn(&T) -> &'static str,
) -> Result<&'static T, String> {
    let names = || rows.clone().map(of).collect::<Vec<_>>().join(", ");
    let row = rows.clone().find(|row| of(row) == name);
    row.ok_or_else(|| format!("allowed: {}", names()))
}
