//! Large counts: `cargo run --release -p xtask -- soak [NAME]`.
//!
//! A soak is an ordinary test that runs a slice of its work, and all of it when [`SCALE`] says by how much to multiply the
//! slice: the same code, so that a night finds nothing that the tests could not have shown. Each prints its size in a line
//! that begins with `soak:`; a test that prints none has not taken part. Nothing is timed.

use crate::beside::BESIDE;
use crate::command::{Cmd, NIGHT};
use crate::libtest;
use crate::step::{Outcome, Tally};
use crate::workspace::Workspace;

/// The environment variable that the tests read: how many slices to run. One without it.
const SCALE: &str = "TIDEGATE_SOAK_SCALE";

/// What the lines begin with in which tests print their sizes.
const SIZE: &str = "soak:";

/// A test with a scale.
pub struct Soak {
    /// What it is called on the command line.
    pub name: &'static str,
    /// The name of a member of the workspace, or the folder of a package beside it.
    package: &'static str,
    /// How many slices are all of it.
    scale: u64,
    /// The test, with its modules.
    test: &'static str,
}

/// Every soak.
#[rustfmt::skip]
pub const SOAKS: &[Soak] = &[
    soak("stampede", "tidegate-deque", 1000, "split::tests::in_a_stampede_of_thieves_every_task_is_taken_exactly_once"),
    soak("deque-steps", "tidegate-deque", 1000, "split::tests::random_steps_of_the_owner_agree_with_a_plain_double_ended_queue"),
    soak("changes", "tidegate", 1000, "changes_under_load_lose_no_task"),
    soak("spawns", "tidegate", 20, "endless_spawning_from_one_loop_needs_bounded_memory"),
    soak("priorities", "tidegate", 100, "every_task_runs_once_whoever_spawns_it"),
    soak("allotments", "tidegate-policy", 100, "after_every_event_allotments_are_what_their_rule_promises_and_the_fair_ones_agree"),
    soak("assaults", "tidegate-share", 200, "random_bytes_over_a_table_are_errors_or_shares_within_limits"),
    soak("intervals", "tidegate", 50, "random_graphs_keep_their_order_their_locks_and_run_once"),
    soak("space", "tidegate", 50, "every_random_program_ends_within_its_bound_under_every_policy"),
    soak("space-asks", "tidegate", 10, "very_many_tasks_ask_at_once"),
    soak("space-shared", "tidegate", 50, "every_random_program_ends_within_its_budget_while_others_use_the_pool"),
    soak("space-plan", "tidegate-policy", 20, "every_random_program_ends_within_its_bound_on_any_number_of_slots"),
    soak("space-sim", "tidegate-sim", 25, "every_random_dag_ends_within_the_bound_of_every_policy"),
    soak("bounds", "tidegate-sim", 50, "every_random_run_keeps_every_bound_that_it_has"),
    soak("scale", "tidegate-sim", 500, "many_tasks_on_many_processors_need_memory_for_those_under_way_only"),
    soak("programs", "tidegate", 500, "programs::run_every_task_once"),
    soak("rayon-programs", "crates/rayon-core", 500, "programs::run_every_task_of_rayon_once"),
    soak("kills", "tidegate", 20, "after_a_job_is_killed_at_any_moment_its_processors_are_the_survivors_and_its_row_is_free"),
];

const fn soak(name: &'static str, package: &'static str, scale: u64, test: &'static str) -> Soak {
    Soak {
        name,
        package,
        scale,
        test,
    }
}

/// Runs these soaks with all of their work.
pub fn run(workspace: &Workspace, tally: &mut Tally, soaks: &[Soak]) {
    for soak in soaks {
        let name = format!("soak {}", soak.name);
        tally.run(&name, || {
            let beside = BESIDE.iter().find(|beside| beside.folder == soak.package);
            let cargo = match beside {
                Some(beside) => beside.cargo(workspace, "test"),
                None => Cmd::cargo(workspace, &name, "test -p").args([soak.package]),
            };
            let test = [
                "--release",
                "--tests",
                "--",
                "--exact",
                soak.test,
                "--nocapture",
            ];
            let done = cargo.args(test).env(SCALE, soak.scale.to_string());
            let done = done.limit(NIGHT).run();
            let judge = |done| match libtest::judge(&done, 1) {
                Outcome::Passed(_) => took_part(&done.text),
                other => other,
            };
            done.map(judge).into()
        });
    }
}

/// The sizes that the test printed.
fn took_part(output: &str) -> Outcome {
    let sizes = output.lines().filter_map(|line| line.split_once(SIZE));
    let sizes: Vec<&str> = sizes.map(|(_, size)| size.trim()).collect();
    match sizes.is_empty() {
        true => Outcome::Failed(format!(
            "{output}\nno line with {SIZE}: does it read {SCALE}?"
        )),
        false => Outcome::Passed(sizes.join("; ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_that_prints_no_size_has_not_taken_part() {
        let passed = Outcome::Passed("7 tasks".to_string());
        assert_eq!(took_part("test a ... soak: 7 tasks"), passed);
        assert!(matches!(
            took_part("running 1 test\nok"),
            Outcome::Failed(_)
        ));
    }

    #[test]
    fn every_package_is_known() {
        let members = Workspace::load().unwrap().packages;
        for Soak { name, package, .. } in SOAKS {
            let is_member = members.iter().any(|member| member.name == *package);
            let is_beside = BESIDE.iter().any(|beside| beside.folder == *package);
            assert!(is_member || is_beside, "{name} has no package {package}");
        }
    }
}
