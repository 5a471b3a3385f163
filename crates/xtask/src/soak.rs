//! Tests with large counts: `cargo run --release -p xtask -- soak [NAME]`.
//!
//! A soak is an ordinary test that normally runs one slice of its work. [`SCALE`] multiplies the
//! slice, up to the whole work. A soak runs the same code as the test, so it finds only mistakes
//! that the test could have found. Each test prints its size on a line that begins with `soak:`; a
//! test that prints no such line does not read the scale. The times of soaks are not measured.

use anyhow::ensure;

use crate::command::{Cmd, NIGHT};
use crate::libtest;
use crate::step::{Outcome, Tally};

/// The environment variable that holds the number of slices to run; 1 if unset.
const SCALE: &str = "TIDEGATE_SOAK_SCALE";

/// The beginning of the lines on which tests print their sizes.
const SIZE: &str = "soak:";

/// A test with a scale: its name on the command line, the arguments of cargo that select its package
/// and features, the number of slices in the whole work, and the test with its modules.
pub struct Soak(pub &'static str, &'static str, u64, &'static str);

#[rustfmt::skip]
pub const SOAKS: &[Soak] = &[
    Soak("stampede", "-p tidegate-deque", 1000, "split::tests::stampeding_thieves_take_tasks_once"),
    Soak("deque-steps", "-p tidegate-deque", 1000, "split::tests::random_owner_steps_match_vec_deque"),
    Soak("deque-models", "-p tidegate-deque", 4, "split::lone_owner_matches_the_model"),
    Soak("changes", "-p tidegate", 1000, "pools::resize::changes_under_load_lose_no_task"),
    Soak("queues", "-p tidegate", 4, "pools::options::every_queue_computes_the_same"),
    Soak("spawns", "-p tidegate", 20, "waits::depth::endless_spawn_loop_needs_bounded_memory"),
    Soak("priorities", "-p tidegate", 100, "priorities::scopes::every_prioritized_task_runs_once"),
    Soak("allotments", "-p tidegate-sim", 100, "allot::allotments_keep_their_rule_promises"),
    Soak("assaults", "-p tidegate-share", 200, "assault::random_tables_never_break_limits"),
    Soak("deaths", "-p tidegate-share", 2, "death::dead_jobs_processors_are_redistributed"),
    Soak("deaths-create", "-p tidegate-share", 2, "death::dying_creator_leaves_no_partial_table"),
    Soak("deaths-meet", "-p tidegate-share", 2, "death::simultaneous_jobs_share_one_table"),
    Soak("deaths-exec", "-p tidegate-share", 2, "confinement::owner::may_be_killed_at_any_moment"),
    Soak("intervals", "-p tidegate", 50, "intervals::random::random_graphs_respect_order_and_locks"),
    Soak("memory", "-p tidegate", 150, "memory::programs::random_programs_stay_within_bounds"),
    Soak("memory-asks", "-p tidegate", 10, "memory::basics::very_many_tasks_ask_at_once"),
    Soak("memory-shared", "-p tidegate", 150, "memory::programs::random_programs_share_pool_within_budget"),
    Soak("memory-plan", "-p tidegate-policy", 20, "plan::random_plans_stay_within_bounds"),
    Soak("memory-sim", "-p tidegate-sim", 50, "memory::random_dags_respect_memory_bounds"),
    Soak("bounds", "-p tidegate-sim", 50, "bounds::random_runs_keep_all_bounds"),
    Soak("scale", "-p tidegate-sim", 500, "scale::memory_covers_only_active_tasks"),
    Soak("policies", "-p tidegate-workloads", 20, "policies::every_program_is_right_under_policies"),
    Soak("interval-pools", "-p tidegate-workloads", 3, "intervals::interval_programs_verify_on_every_queue"),
    Soak("programs", "-p tidegate", 500, "programs::run_every_task_once"),
    Soak("rayon-programs", "--locked --target-dir={target}/xtask/beside --manifest-path crates/rayon-core/Cargo.toml", 500, "programs::run_every_task_of_rayon_once"),
    Soak("planted", "-p tidegate --features testing", 100, "planted_bugs::ordinary::ordinary_runs_miss_the_bugs"),
    Soak("exec-kills", "-p tidegate-exec", 100, "follow::tests::kills::killed_commands_leave_no_confined_thread"),
    Soak("fan", "-p tidegate-fan", 100, "deaths::lose_nothing"),
    Soak("kills", "-p tidegate", 20, "processes::survivor_inherits_killed_job_processors"),
];

/// Runs all soaks or only one, each with its whole work.
pub fn run(tally: &mut Tally, only: Option<&str>) {
    let wanted = |soak: &&Soak| only.is_none_or(|name| name == soak.0);
    for Soak(name, package, scale, test) in SOAKS.iter().filter(wanted) {
        let line = format!(
            "{SCALE}={scale} test --release --tests {package} -- --nocapture --exact {test}"
        );
        tally.run(&format!("soak {name}"), || {
            let (success, text) = Cmd::cargo(&line).limit(NIGHT).run()?;
            let sizes = took_part(&text);
            libtest::judge((success, text), 1)?;
            sizes
        });
    }
}

fn took_part(output: &str) -> Outcome {
    let sizes = output.lines().filter_map(|line| line.split_once(SIZE));
    let sizes: Vec<&str> = sizes.map(|(_, size)| size.trim()).collect();
    ensure!(
        !sizes.is_empty(),
        "{output}\nno line with {SIZE}: does it read {SCALE}?"
    );
    Ok(sizes.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_without_size_did_not_run() {
        let sizes = took_part("test a ... soak: 7 tasks");
        assert_eq!(sizes.unwrap(), "7 tasks");
        assert!(took_part("test a ... ok").is_err());
    }
}
