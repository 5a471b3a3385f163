//! Large counts: `cargo run --release -p xtask -- soak [NAME]`.
//!
//! A soak is an ordinary test that runs a slice of its work, and all of it when [`SCALE`] says by how much to multiply the
//! slice: the same code, so that a night finds nothing that the tests could not have shown. Each prints its size in a line
//! that begins with `soak:`; a test that prints none has not taken part. Nothing is timed: a soak finds wrong answers,
//! not slow ones.

use crate::beside::BESIDE;
use crate::budget::Budget;
use crate::command::Cmd;
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
    /// The package of the test: the name of a member of the workspace, or the folder of a package beside it.
    pub package: &'static str,
    /// The test, with its modules.
    pub test: &'static str,
    /// How many slices are all of it.
    pub scale: u64,
}

/// Every soak.
pub const SOAKS: &[Soak] = &[
    Soak {
        name: "stampede",
        package: "tidegate-deque",
        test: "split::tests::in_a_stampede_of_thieves_every_task_is_taken_exactly_once",
        scale: 1000,
    },
    Soak {
        name: "deque-steps",
        package: "tidegate-deque",
        test: "split::tests::random_steps_of_the_owner_agree_with_a_plain_double_ended_queue",
        scale: 1000,
    },
    Soak {
        name: "changes",
        package: "tidegate",
        test: "changes_under_load_lose_no_task",
        scale: 1000,
    },
    Soak {
        name: "spawns",
        package: "tidegate",
        test: "endless_spawning_from_one_loop_needs_bounded_memory",
        scale: 20,
    },
    Soak {
        name: "priorities",
        package: "tidegate",
        test: "every_task_runs_once_whoever_spawns_it",
        scale: 100,
    },
    Soak {
        name: "allotments",
        package: "tidegate-policy",
        test: "after_every_event_allotments_are_what_their_rule_promises_and_the_fair_ones_agree",
        scale: 100,
    },
    Soak {
        name: "assaults",
        package: "tidegate-share",
        test: "random_bytes_over_a_table_are_errors_or_shares_within_limits",
        scale: 200,
    },
    Soak {
        name: "intervals",
        package: "tidegate",
        test: "random_graphs_keep_their_order_their_locks_and_run_once",
        scale: 50,
    },
    Soak {
        name: "space",
        package: "tidegate",
        test: "every_random_program_ends_within_its_bound_under_every_policy",
        scale: 50,
    },
    Soak {
        name: "space-asks",
        package: "tidegate",
        test: "very_many_tasks_ask_at_once",
        scale: 10,
    },
    Soak {
        name: "space-shared",
        package: "tidegate",
        test: "every_random_program_ends_within_its_budget_while_others_use_the_pool",
        scale: 50,
    },
    Soak {
        name: "space-plan",
        package: "tidegate-policy",
        test: "every_random_program_ends_within_its_bound_on_any_number_of_slots",
        scale: 20,
    },
    Soak {
        name: "space-sim",
        package: "tidegate-sim",
        test: "every_random_dag_ends_within_the_bound_of_every_policy",
        scale: 25,
    },
    Soak {
        name: "bounds",
        package: "tidegate-sim",
        test: "every_random_run_keeps_every_bound_that_it_has",
        scale: 50,
    },
    Soak {
        name: "scale",
        package: "tidegate-sim",
        test: "many_tasks_on_many_processors_need_memory_for_those_under_way_only",
        scale: 500,
    },
    Soak {
        name: "programs",
        package: "tidegate",
        test: "programs::run_every_task_once",
        scale: 500,
    },
    Soak {
        name: "rayon-programs",
        package: "crates/rayon-core",
        test: "programs::run_every_task_of_rayon_once",
        scale: 500,
    },
    Soak {
        name: "kills",
        package: "tidegate",
        test: "after_a_job_is_killed_at_any_moment_its_processors_are_the_survivors_and_its_row_is_free",
        scale: 20,
    },
];

/// Runs these soaks with all of their work.
pub fn run(workspace: &Workspace, tally: &mut Tally, soaks: &[Soak]) {
    for soak in soaks {
        tally.run(&format!("soak {}", soak.name), || check(workspace, soak));
    }
}

fn check(workspace: &Workspace, soak: &Soak) -> Outcome {
    let command = tests(workspace, soak)
        .args(["--", "--exact", soak.test, "--nocapture"])
        .env(SCALE, soak.scale.to_string())
        .limit(Budget::Full.limit());
    let judge = |done| match libtest::judge(&done, 1) {
        Outcome::Passed(_) => took_part(&done.text),
        other => other,
    };
    command.run().map(judge).into()
}

/// `cargo test` of the soak's package, up to the choice of the test.
fn tests(workspace: &Workspace, soak: &Soak) -> Cmd {
    let beside = BESIDE.iter().find(|beside| beside.folder == soak.package);
    let command = match beside {
        Some(beside) => beside.cargo(workspace, "test"),
        None => {
            Cmd::cargo(workspace, &format!("soak {}", soak.name), "test -p").args([soak.package])
        }
    };
    command.args(["--release", "--tests"])
}

/// The sizes that the test printed.
fn took_part(output: &str) -> Outcome {
    let sizes: Vec<&str> = output
        .lines()
        .filter_map(|line| Some(line.split_once(SIZE)?.1.trim()))
        .collect();
    if sizes.is_empty() {
        return Outcome::Failed(format!(
            "{output}\nthe test printed no line with {SIZE}, so it does not read {SCALE}"
        ));
    }
    Outcome::Passed(sizes.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_that_does_not_say_its_size_has_not_taken_part() {
        assert_eq!(
            took_part("running 1 test\nsoak: 7 tasks\nok"),
            Outcome::Passed("7 tasks".to_string())
        );
        assert_eq!(
            took_part("test a ... soak: 7 tasks"),
            Outcome::Passed("7 tasks".to_string())
        );
        assert!(matches!(
            took_part("running 1 test\nok"),
            Outcome::Failed(_)
        ));
    }

    #[test]
    fn every_package_is_known() {
        let workspace = Workspace::load().unwrap();
        let is_member = |name| workspace.packages.iter().any(|member| member.name == name);
        let is_beside = |folder| BESIDE.iter().any(|beside| beside.folder == folder);
        for soak in SOAKS {
            assert!(
                is_member(soak.package) || is_beside(soak.package),
                "{} has no package {}",
                soak.name,
                soak.package
            );
        }
    }
}
