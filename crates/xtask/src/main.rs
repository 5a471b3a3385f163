//! The project's own checks, run locally and in CI. `cargo run -p xtask -- ci` runs every check
//! that a change must pass. The other subcommands run one kind of check, some with larger budgets.
//! Tables list what is checked: `ci::STEPS`, `beside::BESIDE`, the crates in `ARCHITECTURE.md`,
//! `loom::GROUPS`, `nightly::SUITES`, the patches in `crates/xtask/mutants`, `rayon::table::SUITES`
//! and `soak::SOAKS`.
//!
//! xtask does not run the ordinary tests; run those with `cargo test --workspace`. xtask writes
//! only below the target folder, except that `ci --full` writes the file `.ci/checked`.

#![forbid(unsafe_code)]

mod beside;
mod build_time;
mod ci;
mod command;
mod house;
mod libtest;
mod loom;
mod mutants;
mod nightly;
mod rayon;
mod rustup;
mod soak;
mod step;
mod workspace;

use std::path::PathBuf;
use std::process::ExitCode;
use std::slice;

use clap::Parser;

use crate::loom::GROUPS;
use crate::soak::{SOAKS, fan_hq};
use crate::step::Tally;
use crate::workspace::Workspace;

/// The checks of the Tidegate workspace.
#[derive(Parser)]
#[command(name = "xtask")]
enum Task {
    /// Every check that a change must pass, one line each. Most only run if their sources have
    /// changed.
    Ci {
        /// This check alone.
        step: Option<String>,
        /// Only the checks that take seconds.
        #[arg(long, conflicts_with_all = ["step", "full"])]
        quick: bool,
        /// Also those whose sources have not changed, and record in .ci/checked that all have
        /// passed.
        #[arg(long, conflicts_with = "step")]
        full: bool,
    },
    /// Layering, unsafe, sizes, orderings, links: what no other tool checks.
    House,
    /// The CPU time that building the libraries as dependencies takes, beside rayon's.
    BuildTime,
    /// The loom models, or one group of them.
    Loom {
        /// The group.
        group: Option<String>,
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
    /// The tests with a scale, or one of them, with all of their work; and `fan-hq`, which runs
    /// pieces on a real HyperQueue server. Takes hours.
    Soak {
        /// The soak.
        name: Option<String>,
        /// The program `hq` for `fan-hq`, which is skipped without it.
        #[arg(long, value_name = "PATH")]
        hq: Option<PathBuf>,
    },
}

fn main() -> ExitCode {
    let task = Task::parse();
    match Workspace::load().and_then(|workspace| carry_out(&task, &workspace)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(trouble) => {
            eprintln!("xtask: {trouble}");
            ExitCode::FAILURE
        }
    }
}

/// Returns whether everything passed, or an error if it could not be checked.
fn carry_out(task: &Task, workspace: &Workspace) -> Result<bool, String> {
    let mut tally = Tally::default();
    match task {
        Task::Ci { step, quick, full } => match step {
            Some(name) => {
                let step = named(ci::STEPS.iter(), name, |step| step.2)?;
                ci::run(workspace, &mut tally, step);
            }
            None => ci::every(workspace, &mut tally, *quick, *full),
        },
        Task::House => tally.run("house", || house::check(workspace)),
        Task::BuildTime => build_time::run(workspace, &mut tally),
        Task::Loom { group, full } => {
            let groups = some_of(GROUPS, group.as_ref(), |group| group.name)?;
            loom::run(workspace, &mut tally, groups, *full);
        }
        Task::Miri { full } => nightly::miri(workspace, &mut tally, *full),
        Task::Tsan => nightly::tsan(workspace, &mut tally),
        Task::Mutants { name } => mutants::run(workspace, &mut tally, name.as_deref()),
        Task::Rayon => rayon::run(workspace, &mut tally),
        Task::Soak { name, hq } => {
            let is_hq = name.as_deref() == Some(fan_hq::NAME);
            if !is_hq {
                let soaks = some_of(SOAKS, name.as_ref(), |soak| soak.0)?;
                soak::run(workspace, &mut tally, soaks);
            }
            if is_hq || name.is_none() {
                fan_hq::run(workspace, &mut tally, hq.as_deref());
            }
            // A soak that was named and could not run has not passed.
            let has_run = name.is_none() || tally.skipped == 0;
            return Ok(tally.close() && has_run);
        }
    }
    Ok(tally.close())
}

/// Returns the row named `name`, or all rows if no name is given.
fn some_of<T>(
    rows: &'static [T],
    name: Option<&String>,
    of: fn(&T) -> &'static str,
) -> Result<&'static [T], String> {
    let one = name.map(|name| named(rows.iter(), name, of).map(slice::from_ref));
    one.unwrap_or(Ok(rows))
}

/// Returns the row with that name. The error lists all names.
fn named<T: 'static>(
    rows: impl Iterator<Item = &'static T> + Clone,
    name: &str,
    of: fn(&T) -> &'static str,
) -> Result<&'static T, String> {
    let names = || rows.clone().map(of).collect::<Vec<_>>().join(", ");
    let row = rows.clone().find(|row| of(row) == name);
    row.ok_or_else(|| format!("allowed: {}", names()))
}
