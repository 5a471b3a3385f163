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

use crate::command::{Cmd, LIMIT, NIGHT};
use crate::libtest;
use crate::step::{Outcome, Tally};
use crate::workspace::scratch;

/// A model that is stopped at its time limit prints this.
const CUT_OFF: &str = "cut off";

pub struct Group {
    pub name: &'static str,
    package: &'static str,
    /// The preemption bounds: the first for every change, the second for a nightly run.
    bounds: [usize; 2],
    /// Each model's name contains one of these words, and each of these is part of some model's
    /// name.
    filters: &'static str,
}

/// After this many seconds, a nightly run stops a model of a group that has a bound of 0 for every
/// change. The model prints that it was stopped.
const HOUR: &str = "3600";

/// First all models, then those that can have a higher bound: models with one worker, and models in
/// which a second worker runs only part of the time or that have three threads.
#[rustfmt::skip]
pub const GROUPS: &[Group] = &[
    Group { name: "sync", package: "tidegate-sync", bounds: [2, 4], filters: "models::" },
    Group { name: "deque", package: "tidegate-deque", bounds: [2, 4], filters: "models::" },
    Group { name: "core", package: "tidegate-core", bounds: [0, 1], filters: "models::" },
    Group { name: "core-one-worker", package: "tidegate-core", bounds: [4, 8], filters:
        "models::loom_installed_work_wakes_a_parked_worker models::loom_in_place_scope_awaits_its_task \
         models::loom_dropped_pool_finishes_spawned_tasks" },
    Group { name: "core-part", package: "tidegate-core", bounds: [1, 2], filters:
        "models::loom_push_wakes_worker_falling_asleep models::sources:: \
         models::loom_calls_interdependent_halves_both_run models::loom_calls_a_joiner_robs_its_thief \
         models::loom_calls_joiner_sees_thief_result models::loom_robbing_reused_number_gets_nothing \
         models::loom_publisher_sees_sleeping_worker models::loom_calls_slot_releaser_sees_push \
         models::loom_added_slot_reaches_sleeping_waiter models::loom_calls_waiting_request_is_granted" },
    Group { name: "runtime", package: "tidegate", bounds: [0, 1], filters: "models::" },
    Group { name: "runtime-one-worker", package: "tidegate", bounds: [4, 8], filters:
        "models::loom_outside_thread_joins_a_handle models::loom_aborted_closure_is_dropped_once \
         models::loom_unwanted_panic_is_reported_once" },
    Group { name: "runtime-part", package: "tidegate", bounds: [1, 2], filters:
        "models::loom_wake_during_a_poll_is_not_lost models::loom_aborted_future_races_its_waker \
         models::loom_polled_handle_queues_before_the_end models::loom_panic_of_replaced_waker_is_caught \
         models::loom_calls_edge_added_as_source_occurs models::loom_calls_last_point_releases_waiter \
         models::loom_calls_lock_passes_to_next_interval models::loom_calls_stall_behind_other_trees_lock \
         models::loom_calls_builder_drop_races_return" },
];

/// Runs all groups or only one, with the nightly bounds if `full`.
pub fn run(tally: &mut Tally, only: Option<&str>, full: bool) {
    let wanted = |group: &&Group| only.is_none_or(|name| name == group.name);
    for group in GROUPS.iter().filter(wanted) {
        tally.run(&format!("loom {}", group.name), || check(group, full));
    }
}

fn check(group: &Group, full: bool) -> Outcome {
    let bound = group.bounds[usize::from(full)];
    let limit = if full { NIGHT } else { LIMIT };
    let models = || command(group.package, &bound.to_string()).limit(limit);
    let filters: Vec<&str> = group.filters.split(' ').collect();
    let mut every = models().args(["--", "--show-output"]).args(&filters);
    if full && group.bounds[0] == 0 {
        every = every.env("LOOM_MAX_DURATION", HOUR);
    }
    let (success, text) = every.run()?;
    let lines = text.lines().filter_map(|line| line.strip_prefix("test "));
    let failed = lines.filter_map(|line| line.strip_suffix(" ... FAILED"));
    let saved: String = failed.map(|test| save(models(), test)).collect();
    let stopped = cut_off(&text);
    let passed = libtest::judge((success, text + &saved), filters.len())?;
    Ok(format!("{passed}, preemptions up to {bound}{stopped}"))
}

/// Returns the ending of a group's output line, which names the models that were stopped at their
/// time limit. It is empty if there are none.
fn cut_off(output: &str) -> String {
    let outputs = output.split("\n---- ").skip(1);
    let stopped = outputs.filter(|output| output.lines().any(|line| line == CUT_OFF));
    let names = stopped.filter_map(|output| output.split(' ').next());
    names.fold(String::new(), |all, name| {
        all + "; stopped before its end: " + name
    })
}

/// Returns the command `cargo test` for the package's models, without the arguments of the test
/// program. loom is behind a feature so that users' lock files do not contain it.
pub fn command(package: &str, preemptions: &str) -> Cmd {
    Cmd::cargo(&format!(
        "RUSTFLAGS=--cfg=loom LOOM_MAX_PREEMPTIONS={preemptions} CARGO_TARGET_DIR={{target}}/xtask/loom \
         test --release --lib --features tidegate-sync/loom,loom/checkpoint -p {package}"
    ))
}

/// Runs a failing model once more, so that loom writes the failing schedule to a file. Returns
/// instructions for starting from that schedule.
fn save(models: Cmd, test: &str) -> String {
    let file = scratch("schedules").join(format!("{}.json", test.replace("::", "-")));
    // Otherwise, loom would start with the schedule of an earlier failure.
    let _ = fs::remove_file(&file);
    let _ = fs::create_dir_all(scratch("schedules"));
    let again = models.env("LOOM_CHECKPOINT_FILE", &file);
    let again = again.env("LOOM_CHECKPOINT_INTERVAL", "1");
    let again = again.args(["--", "--exact", test]);
    let shown = again.shown().join(" ");
    match again.run() {
        Ok(_) if file.exists() => format!("\nits failing schedule is saved; from there: {shown}"),
        _ => format!("\nthe failing schedule of {test} could not be saved"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stopped_model_is_named() {
        let output = "\n---- m::a stdout ----\n1 of 2\n\n---- m::b stdout ----\ncut off\n\n";
        assert_eq!(cut_off(output), "; stopped before its end: m::b");
        assert_eq!(cut_off("test m::a ... ok"), "");
    }
}
