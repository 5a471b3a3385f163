//! The project's own checks, run locally and in CI. `cargo run -p xtask -- ci` runs every check
//! that a change must pass. The other subcommands run one kind of check, some with larger budgets.
//! Tables list what is checked: `ci::STEPS`, the crates in `ARCHITECTURE.md`, `suites::SUITES`,
//! `rayon::SUITES`, and the patches in `crates/xtask/mutants`.
//!
//! xtask does not run the ordinary tests; run those with `cargo test --workspace`. xtask writes
//! only below the target folder.

#![forbid(unsafe_code)]

mod beside;
mod build_time;
mod ci;
mod command;
mod costs;
mod house;
mod libtest;
mod mutants;
mod rayon;
mod step;
mod suites;
mod targets;
mod workspace;

use std::env;
use std::path::{Path, PathBuf, absolute};
use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;
use clap::builder::PossibleValuesParser;

use crate::ci::STEPS;
use crate::step::Tally;
use crate::suites::Kind;
use crate::workspace::WORKSPACE;

/// The checks of the Tidegate workspace.
#[derive(Parser)]
#[command(name = "xtask")]
enum Task {
    /// The checks that a change must pass, one line each. Takes minutes.
    Ci {
        /// This check alone.
        #[arg(value_parser = PossibleValuesParser::new(STEPS.iter().map(|step| step.1)))]
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
    /// The loom models, or one group of them.
    Loom {
        /// The group.
        #[arg(value_parser = suites::names(Kind::Loom))]
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
    /// Every mutant, or one: the test that must catch it has to fail.
    Mutants {
        /// The name of its patch, without `.patch`.
        name: Option<String>,
    },
    /// The tests with a scale, or one of them, with all of their work. Takes hours.
    Soak {
        /// The soak.
        #[arg(value_parser = suites::names(Kind::Soak))]
        name: Option<String>,
        /// The program `hq` of HyperQueue, for the soak `fan-hq`.
        #[arg(long, value_name = "PATH", value_parser = |path: &str| absolute(path))]
        hq: Option<PathBuf>,
        /// The folder of `etcd`, `kube-apiserver`, `kube-controller-manager` and `kubectl`, for the
        /// soak `fan-k8s`.
        #[arg(long, value_name = "FOLDER", conflicts_with = "hq")]
        #[arg(value_parser = |path: &str| absolute(path))]
        k8s: Option<PathBuf>,
    },
}

fn main() -> Result<ExitCode> {
    let task = Task::parse();
    env::set_current_dir(&WORKSPACE.workspace_root)?;
    let tally = &mut Tally::default();
    match task {
        Task::Ci { step, quick, full } => ci::run(tally, step.as_deref(), quick, full),
        Task::House => _ = tally.run("house", house::check),
        Task::Loom { group, full } => suites::run(tally, Kind::Loom, group.as_deref(), full, None),
        Task::Miri { full } => suites::run(tally, Kind::Miri, None, full, None),
        Task::Mutants { name } => mutants::run(tally, name.as_deref()),
        Task::Soak { name, hq, k8s } => {
            let folder = k8s.as_deref().or(hq.as_deref().and_then(Path::parent));
            suites::run(tally, Kind::Soak, name.as_deref(), true, folder);
        }
    }
    Ok(ExitCode::from(u8::from(!tally.close())))
}
