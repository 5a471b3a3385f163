//! The loom models: `cargo run -p xtask -- loom [GROUP] [--full]`.
//!
//! A model is an ordinary test compiled for loom, which takes a configuration and a feature; loom runs it once for every
//! interleaving within a bound on preemptions. A change runs each group with its smoke bound, a night with its full one.
//! When a model fails, its failing schedule is saved as a file from which loom starts again.
//!
//! A model may have more interleavings within its bound than a night is long. Such a group has a limit; what it stopped
//! is named in the group's line, because it has not been seen to the end.

use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::budget::Budget;
use crate::command::Cmd;
use crate::libtest;
use crate::step::{Outcome, Tally};
use crate::workspace::Workspace;

/// What a model prints that was stopped at its limit.
const CUT_OFF: &str = "cut off";

/// Models that are run together.
pub struct Group {
    /// What the group is called on the command line.
    pub name: &'static str,
    /// The package that holds them.
    pub package: &'static str,
    /// What their names contain: one of these, and each of these is contained in one.
    pub filters: &'static [&'static str],
    /// The preemption bound for every change.
    pub smoke: usize,
    /// The preemption bound for a night.
    pub full: usize,
    /// After how long a night stops one model, if it may. The model has to say so.
    pub limit: Option<Duration>,
}

/// Every group.
pub const GROUPS: &[Group] = &[
    Group {
        name: "sync",
        package: "tidegate-sync",
        filters: &["models::"],
        smoke: 2,
        full: 4,
        limit: None,
    },
    Group {
        name: "deque",
        package: "tidegate-deque",
        filters: &["models::"],
        smoke: 2,
        full: 4,
        limit: None,
    },
    Group {
        name: "runtime",
        package: "tidegate",
        filters: &["models::"],
        smoke: 0,
        full: 1,
        limit: Some(Duration::from_secs(60 * 60)),
    },
    // Those with one worker, or with two for a part of their time, reach further.
    Group {
        name: "runtime-one-worker",
        package: "tidegate",
        filters: &[
            "models::loom_installed_work_wakes_a_parked_worker",
            "models::loom_a_scope_in_place_ends_after_its_task",
            "models::loom_a_dropped_pool_finishes_what_was_spawned",
            "models::loom_a_handle_is_joined_by_a_thread_of_no_pool",
        ],
        smoke: 4,
        full: 8,
        limit: None,
    },
    Group {
        name: "runtime-part",
        package: "tidegate",
        filters: &[
            "models::loom_a_push_is_not_missed_by_a_worker_that_goes_to_sleep",
            "models::loom_calls_two_halves_that_wait_for_each_other_both_run",
            "models::loom_calls_a_joiner_robs_its_thief",
            "models::loom_calls_a_joiner_sees_the_result_of_its_thief",
            "models::loom_a_robber_of_a_reused_number_gets_nothing",
            "models::loom_a_publisher_sees_a_worker_that_fell_asleep",
            "models::loom_calls_a_push_is_not_missed_by_one_who_gives_its_slot_up",
            "models::loom_calls_a_request_that_waits_is_granted_when_the_other_half_gives_back",
            "models::loom_calls_an_edge_is_added_while_the_point_that_it_leaves_occurs",
            "models::loom_calls_the_last_of_two_points_releases_what_waits_for_both",
            "models::loom_calls_a_lock_is_handed_from_one_interval_to_the_next",
        ],
        smoke: 1,
        full: 2,
        limit: None,
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
    let (preemptions, limit) = match budget {
        Budget::Smoke => (group.smoke, None),
        Budget::Full => (group.full, group.limit),
    };
    let log = format!("loom {}", group.name);
    let models = || command(workspace, &log, group.package, preemptions).limit(budget.limit());
    let mut every = models().args(["--", "--show-output"]).args(group.filters);
    if let Some(limit) = limit {
        every = every.env("LOOM_MAX_DURATION", limit.as_secs().to_string());
    }
    let done = match every.run() {
        Ok(done) => done,
        Err(trouble) => return Outcome::Failed(trouble),
    };
    match libtest::judge(&done, group.filters.len()) {
        Outcome::Passed(count) => Outcome::Passed(format!(
            "{count}, preemptions up to {preemptions}{}",
            cut_off(&done.text)
        )),
        Outcome::Failed(output) => {
            let folder = workspace.scratch("schedules");
            let failed = libtest::Tests::read(&output).failed;
            let saved = failed.iter().map(|test| save(models(), &folder, test));
            Outcome::Failed(format!(
                "{output}\n{}",
                saved.collect::<Vec<_>>().join("\n")
            ))
        }
        skipped => skipped,
    }
}

/// The models that said in their output that they were stopped at their limit, as the end of a sentence.
fn cut_off(output: &str) -> String {
    let mut model = "";
    let mut names = Vec::new();
    for line in output.lines() {
        if let Some(header) = line.strip_prefix("---- ") {
            model = header.trim_end_matches(" stdout ----");
        } else if line == CUT_OFF {
            names.push(model);
        }
    }
    match names.as_slice() {
        [] => String::new(),
        names => format!("; stopped before their end: {}", names.join(", ")),
    }
}

/// `cargo` with the arguments of `line` for code that loom watches. The feature is there so that users need not lock loom.
pub fn cargo(workspace: &Workspace, log: &str, line: &str) -> Cmd {
    Cmd::cargo(workspace, log, line)
        .args(["--features", "tidegate-sync/loom"])
        .env("CARGO_TARGET_DIR", workspace.scratch("loom"))
        .env("RUSTFLAGS", "--cfg loom")
}

/// `cargo test` of the package's models, up to the arguments for the test program.
pub fn command(workspace: &Workspace, log: &str, package: &str, preemptions: usize) -> Cmd {
    let line = "test --release --lib --features loom/checkpoint";
    cargo(workspace, log, line)
        .args(["-p", package])
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_that_was_stopped_is_named() {
        let output =
            "successes:\n\n---- m::a stdout ----\n1 of 2\n\n---- m::b stdout ----\ncut off\n\n";
        assert_eq!(cut_off(output), "; stopped before their end: m::b");
        assert_eq!(cut_off("test m::a ... ok"), "");
    }
}
