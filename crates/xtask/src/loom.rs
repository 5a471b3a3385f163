//! The loom models: `cargo run -p xtask -- loom [GROUP] [--full]`.
//!
//! A model is an ordinary test, compiled for loom with `--cfg loom` and a feature. loom runs the
//! model once for every interleaving within a bound on preemptions. Each group has a smoke bound,
//! for every change, and a full bound, for nightly runs. When a model fails, its failing schedule
//! is saved to a file, and loom can start again from that file.
//!
//! Within its bound, a model may have too many interleavings for one night. The group of such a
//! model has a time limit, and the group's output line names the models that reached it.

use std::fs;

use crate::command::{Cmd, NIGHT};
use crate::libtest::{self, Tests};
use crate::step::{Outcome, Stop, Tally};
use crate::workspace::Workspace;

/// A model that is stopped at its time limit prints this.
const CUT_OFF: &str = "cut off";

pub struct Group {
    pub name: &'static str,
    package: &'static str,
    /// Each model's name contains one of these strings, and each of these is part of some model's
    /// name.
    filters: &'static [&'static str],
    /// The preemption bounds: the first for every change, the second for a nightly run.
    bounds: [usize; 2],
    /// The time in seconds after which a nightly run stops a model, if the models may be stopped. A
    /// stopped model must print that it was stopped.
    limit: Option<u64>,
}

#[rustfmt::skip]
pub const GROUPS: &[Group] = &[
    Group { name: "sync", package: "tidegate-sync", filters: &["models::"], bounds: [2, 4], limit: None },
    Group { name: "deque", package: "tidegate-deque", filters: &["models::"], bounds: [2, 4], limit: None },
    Group { name: "core", package: "tidegate-core", filters: &["models::"], bounds: [0, 1], limit: Some(60 * 60) },
    Group { name: "core-one-worker", package: "tidegate-core", filters: CORE_ONE_WORKER, bounds: [4, 8], limit: None },
    Group { name: "core-part", package: "tidegate-core", filters: CORE_PART, bounds: [1, 2], limit: None },
    Group { name: "runtime", package: "tidegate", filters: &["models::"], bounds: [0, 1], limit: Some(60 * 60) },
    Group { name: "runtime-one-worker", package: "tidegate", filters: ONE_WORKER, bounds: [4, 8], limit: None },
    Group { name: "runtime-part", package: "tidegate", filters: PART, bounds: [1, 2], limit: None },
];

/// Models with one worker, which can have a higher bound.
const CORE_ONE_WORKER: &[&str] = &[
    "models::loom_installed_work_wakes_a_parked_worker",
    "models::loom_in_place_scope_awaits_its_task",
    "models::loom_dropped_pool_finishes_spawned_tasks",
];

const ONE_WORKER: &[&str] = &[
    "models::loom_outside_thread_joins_a_handle",
    "models::loom_aborted_closure_is_dropped_once",
    "models::loom_unwanted_panic_is_reported_once",
];

/// Models in which a second worker runs only part of the time, and models with three threads.
const CORE_PART: &[&str] = &[
    "models::loom_push_wakes_worker_falling_asleep",
    "models::sources::",
    "models::loom_calls_interdependent_halves_both_run",
    "models::loom_calls_a_joiner_robs_its_thief",
    "models::loom_calls_joiner_sees_thief_result",
    "models::loom_robbing_reused_number_gets_nothing",
    "models::loom_publisher_sees_sleeping_worker",
    "models::loom_calls_slot_releaser_sees_push",
    "models::loom_added_slot_reaches_sleeping_waiter",
    "models::loom_calls_waiting_request_is_granted",
];

const PART: &[&str] = &[
    "models::loom_wake_during_a_poll_is_not_lost",
    "models::loom_aborted_future_races_its_waker",
    "models::loom_polled_handle_queues_before_the_end",
    "models::loom_panic_of_replaced_waker_is_caught",
    "models::loom_calls_edge_added_as_source_occurs",
    "models::loom_calls_last_point_releases_waiter",
    "models::loom_calls_lock_passes_to_next_interval",
    "models::loom_calls_stall_behind_other_trees_lock",
    "models::loom_calls_builder_drop_races_return",
];

/// Runs all groups or only one, with the nightly bounds if `full`.
pub fn run(workspace: &Workspace, tally: &mut Tally, only: Option<&str>, full: bool) {
    for group in GROUPS
        .iter()
        .filter(|group| only.is_none_or(|name| name == group.name))
    {
        let name = format!("loom {}", group.name);
        tally.run(&name, || check(workspace, &name, group, full));
    }
}

fn check(workspace: &Workspace, log: &str, group: &Group, full: bool) -> Outcome {
    let preemptions = group.bounds[usize::from(full)].to_string();
    let models = || {
        let models = command(workspace, log, group.package, &preemptions);
        if full { models.limit(NIGHT) } else { models }
    };
    let mut every = models().args(["--", "--show-output"]).args(group.filters);
    if let Some(limit) = group.limit.filter(|_| full) {
        every = every.env("LOOM_MAX_DURATION", limit.to_string());
    }
    let done = every.run()?;
    match libtest::judge(&done, group.filters.len()) {
        Err(Stop::Failed(mut output)) => {
            for test in Tests::read(&done.text).failed {
                output.push_str(&format!("\n{}", save(workspace, models(), test)));
            }
            Err(output.into())
        }
        outcome => {
            let stopped = cut_off(&done.text);
            Ok(format!(
                "{}, preemptions up to {preemptions}{stopped}",
                outcome?
            ))
        }
    }
}

/// Returns the ending of a group's output line, which names the models that were stopped at their
/// time limit. It is empty if there are none.
fn cut_off(output: &str) -> String {
    let outputs = output.split("\n---- ").skip(1);
    let stopped = outputs.filter(|output| output.lines().any(|line| line == CUT_OFF));
    let names: Vec<&str> = stopped
        .filter_map(|output| output.split(' ').next())
        .collect();
    if names.is_empty() {
        String::new()
    } else {
        format!("; stopped before their end: {}", names.join(", "))
    }
}

/// Returns the command `cargo test` for the package's models, without the arguments of the test
/// program. loom is behind a feature so that users' lock files do not contain it.
pub fn command(workspace: &Workspace, log: &str, package: &str, preemptions: &str) -> Cmd {
    let line = format!(
        "RUSTFLAGS=--cfg=loom LOOM_MAX_PREEMPTIONS={preemptions} test --target-dir={{target}}/xtask/loom \
         --release --lib --features tidegate-sync/loom,loom/checkpoint -p {package}"
    );
    Cmd::cargo(workspace, log, &line)
}

/// Runs a failing model once more, so that loom writes the failing schedule to a file. Returns
/// instructions for starting from that schedule.
fn save(workspace: &Workspace, models: Cmd, test: &str) -> String {
    let name = format!("{}.json", test.replace("::", "-"));
    let file = workspace.scratch("schedules").join(name);
    // Otherwise, loom would start with the schedule of an earlier failure.
    let _ = fs::remove_file(&file);
    let _ = file.parent().map(fs::create_dir_all);
    let again = models
        .env("LOOM_CHECKPOINT_FILE", &file)
        .env("LOOM_CHECKPOINT_INTERVAL", "1")
        .args(["--", "--exact", test]);
    let shown = again.shown().to_string();
    match again.run() {
        Ok(_) if file.exists() => format!("the failing schedule is saved; from there on: {shown}"),
        _ => format!("the failing schedule of {test} could not be saved"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stopped_model_is_named() {
        let output = "\n---- m::a stdout ----\n1 of 2\n\n---- m::b stdout ----\ncut off\n\n";
        assert_eq!(cut_off(output), "; stopped before their end: m::b");
        assert_eq!(cut_off("test m::a ... ok"), "");
    }
}
