//! The project's own checks, run locally and in CI. `cargo run -p xtask -- ci` runs every check
//! that a change must pass. The other subcommands run one kind of check, some with larger budgets.
//! Tables list what is checked: `ci::STEPS`, `beside::BESIDE`, the crates in `ARCHITECTURE.md`,
//! `loom::GROUPS`, `nightly::SUITES`, the patches in `crates/xtask/mutants`, `rayon::table::SUITES`
//! and `soak::SOAKS`.
//!
//! xtask does not run the ordinary tests; run those with `cargo test --workspace`. xtask writes
//! only below the target folder.

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

use std::process::ExitCode;

use clap::Parser;
use clap::builder::PossibleValuesParser;

use crate::ci::STEPS;
use crate::loom::GROUPS;
use crate::soak::SOAKS;
use crate::step::Tally;
use crate::workspace::Workspace;

/// The checks of the Tidegate workspace.
#[derive(Parser)]
#[command(name = "xtask")]
enum Task {
    /// The checks that a change must pass, one line each. Takes minutes.
    Ci {
        /// This check alone.
        #[arg(value_parser = names(STEPS, |step| step.1))]
        step: Option<String>,
        /// Only the checks that take seconds.
        #[arg(long, conflicts_with_all = ["step", "full"])]
        quick: bool,
        /// Also the checks of concurrent code, which take up to hours.
        #[arg(long, conflicts_with = "step")]
        full: bool,
    },
    /// Layering, sizes, orderings, links: what no other tool checks.
    House,
    /// The CPU time that building the libraries as dependencies takes, beside rayon's.
    BuildTime,
    /// The loom models, or one group of them.
    Loom {
        /// The group.
        #[arg(value_parser = names(GROUPS, |group| group.name))]
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
    /// The tests with a scale, or one of them, with all of their work. Takes hours.
    Soak {
        /// The soak.
        #[arg(value_parser = names(SOAKS, |soak| soak.0))]
        name: Option<String>,
    },
}

/// Returns a parser of the names in a table.
fn names<T>(rows: &'static [T], name: fn(&T) -> &'static str) -> PossibleValuesParser {
    PossibleValuesParser::new(rows.iter().map(name))
}

fn main() -> ExitCode {
    let task = Task::parse();
    match Workspace::load().map(|workspace| carry_out(&task, &workspace)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(trouble) => {
            eprintln!("xtask: {trouble}");
            ExitCode::FAILURE
        }
    }
}

/// Returns whether everything passed.
fn carry_out(task: &Task, workspace: &Workspace) -> bool {
    let mut tally = Tally::default();
    match task {
        Task::Ci { step, quick, full } => match step {
            Some(name) => {
                let steps = STEPS.iter().filter(|step| step.1 == name);
                steps.for_each(|step| ci::run(workspace, &mut tally, step));
            }
            None => ci::every(workspace, &mut tally, *quick, *full),
        },
        Task::House => tally.run("house", || house::check(workspace)),
        Task::BuildTime => build_time::run(workspace, &mut tally),
        Task::Loom { group, full } => loom::run(workspace, &mut tally, group.as_deref(), *full),
        Task::Miri { full } => nightly::miri(workspace, &mut tally, *full),
        Task::Tsan => nightly::tsan(workspace, &mut tally),
        Task::Mutants { name } => mutants::run(workspace, &mut tally, name.as_deref()),
        Task::Rayon => rayon::run(workspace, &mut tally),
        Task::Soak { name } => soak::run(workspace, &mut tally, name.as_deref()),
    }
    tally.close()
}
