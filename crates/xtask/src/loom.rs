//! The loom models: `cargo run -p xtask -- loom [GROUP] [--full]`.
//!
//! A model is an ordinary test compiled with `--cfg loom`; loom runs it once for every interleaving within a bound on
//! preemptions. A change runs each group with its smoke bound, a night with its full one. When a model fails, its
//! failing schedule is saved as a file from which loom starts again.

use std::fs;
use std::path::Path;

use crate::budget::Budget;
use crate::command::Cmd;
use crate::step::{Outcome, Tally};
use crate::verdict;
use crate::workspace::Workspace;

/// Models that are run together.
pub struct Group {
    /// What the group is called on the command line.
    pub name: &'static str,
    /// The package that holds them.
    pub package: &'static str,
    /// What their names contain.
    pub filter: &'static str,
    /// The preemption bound for every change.
    pub smoke: usize,
    /// The preemption bound for a night.
    pub full: usize,
}

/// Every group.
pub const GROUPS: &[Group] = &[
    Group {
        name: "sync",
        package: "tidegate-sync",
        filter: "models::",
        smoke: 2,
        full: 4,
    },
    Group {
        name: "deque",
        package: "tidegate-deque",
        filter: "models::",
        smoke: 2,
        full: 4,
    },
];

/// Runs every group.
pub fn every(workspace: &Workspace, tally: &mut Tally, budget: Budget) {
    for group in GROUPS {
        run(workspace, tally, group, budget);
    }
}

/// Runs one group.
pub fn run(workspace: &Workspace, tally: &mut Tally, group: &Group, budget: Budget) {
    tally.run(&format!("loom {}", group.name), || {
        check(workspace, group, budget)
    });
}

fn check(workspace: &Workspace, group: &Group, budget: Budget) -> Outcome {
    let preemptions = match budget {
        Budget::Smoke => group.smoke,
        Budget::Full => group.full,
    };
    let log = format!("loom {}", group.name);
    let models = || command(workspace, &log, group.package, preemptions).limit(budget.limit());
    match verdict::pass(models().args(["--", group.filter])) {
        Outcome::Passed(count) => Outcome::Passed(format!("{count}, {preemptions} preemptions")),
        Outcome::Failed(output) => {
            let folder = workspace.scratch("schedules");
            let failed = verdict::failed_names(&output);
            let saved = failed.iter().map(|test| save(models(), &folder, test));
            Outcome::Failed(format!(
                "{output}\n{}",
                saved.collect::<Vec<_>>().join("\n")
            ))
        }
        skipped => skipped,
    }
}

/// `cargo test` of the package's models, up to the arguments for the test program.
pub fn command(workspace: &Workspace, log: &str, package: &str, preemptions: usize) -> Cmd {
    Cmd::cargo(
        workspace,
        log,
        "test --release --lib --features loom/checkpoint -p",
    )
    .args([package])
    .env("CARGO_TARGET_DIR", workspace.scratch("loom"))
    .env("RUSTFLAGS", "--cfg loom")
    .env("LOOM_MAX_PREEMPTIONS", preemptions.to_string())
}

/// Runs a model that fails once more, so that loom writes the failing schedule down; says where.
fn save(command: Cmd, folder: &Path, test: &str) -> String {
    let file = folder.join(format!("{}.json", test.replace("::", "-")));
    // A file from an earlier failure would be taken for where to begin.
    let _ = fs::remove_file(&file);
    let _ = fs::create_dir_all(folder);
    let command = command
        .env("LOOM_CHECKPOINT_FILE", &file)
        .env("LOOM_CHECKPOINT_INTERVAL", "1");
    let command = command.args(["--", "--exact", test]);
    let again = command.shown().to_string();
    match command.run() {
        Ok(_) if file.exists() => format!("the failing schedule is saved; from there on: {again}"),
        _ => format!("the failing schedule of {test} could not be saved"),
    }
}
