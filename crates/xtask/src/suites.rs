//! Tests that run in an unusual way: `cargo run -p xtask -- loom|miri|soak [NAME] [--full]`.
//!
//! * loom: A model is an ordinary test, compiled for loom with `--cfg loom` and a feature. loom runs
//!   it once for every interleaving within a bound on preemptions. When a model fails, its failing
//!   schedule is saved to a file, and loom can start again from that file.
//! * Miri: The tests do less work under `cfg(miri)`. Each runs with one schedule, or, in a nightly
//!   run, with one schedule for each of many seeds. Some programs are left out: those that are too
//!   large for Miri or that start processes, and packages that only do arithmetic without `unsafe`.
//! * ThreadSanitizer: The standard library is rebuilt, so that the sanitizer sees its
//!   synchronisation. The sanitizer does not see fences, so under the configuration `tidegate_tsan`,
//!   `sync` replaces them by read-modify-writes. The same configuration leaves out tests that fork
//!   or limit the address space.
//! * Soaks, with `--release`: A soak is an ordinary test that normally runs one slice of its work.
//!   A scale multiplies the slice, up to the whole work. A soak runs the same code as the test, so
//!   it finds only mistakes that the test could have found. Each test prints its size on a line that
//!   begins with `soak:`; a test that prints no such line does not read the scale. One that needs
//!   programs which are missing prints a line that begins with `skipped:`.

use std::env;
use std::env::consts::{ARCH, OS};
use std::fs;
use std::path::Path;

use anyhow::{Result, bail, ensure};
use clap::builder::PossibleValuesParser;

use crate::command::{Cmd, LIMIT, NIGHT, has_toolchain, rustup};
use crate::libtest;
use crate::step::{Outcome, Skipped, Tally};
use crate::workspace::scratch;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Loom,
    Miri,
    Tsan,
    Soak,
}

use Kind::{Loom, Miri, Soak, Tsan};

/// A row: its name on the command line, the arguments of cargo that select its programs, the value
/// for every change and for a nightly run, see [`Kind::cargo`], and the tests. Each test's name
/// contains one of these words, and each word is part of some test's name.
#[rustfmt::skip]
pub struct Suite(Kind, &'static str, &'static str, [&'static str; 2], &'static str);

/// The models with higher bounds have one worker, or a second worker that runs only part of the
/// time, or three threads.
#[rustfmt::skip]
pub const SUITES: &[Suite] = &[
    Suite(Loom, "sync", "-p tidegate-sync", ["2", "4"], "models::"),
    Suite(Loom, "deque", "-p tidegate-deque", ["2", "4"], "models::"),
    Suite(Loom, "core", "-p tidegate-core", ["0", "1"], "models::"),
    Suite(Loom, "core-one-worker", "-p tidegate-core", ["4", "8"],
        "models::loom_installed_work_wakes_a_parked_worker models::loom_in_place_scope_awaits_its_task \
         models::loom_dropped_pool_finishes_spawned_tasks"),
    Suite(Loom, "core-part", "-p tidegate-core", ["1", "2"],
        "models::loom_push_wakes_worker_falling_asleep models::sources:: \
         models::loom_calls_interdependent_halves_both_run models::loom_calls_a_joiner_robs_its_thief \
         models::loom_calls_joiner_sees_thief_result models::loom_robbing_reused_number_gets_nothing \
         models::loom_publisher_sees_sleeping_worker models::loom_calls_slot_releaser_sees_push \
         models::loom_added_slot_reaches_sleeping_waiter models::loom_calls_waiting_request_is_granted"),
    Suite(Loom, "runtime", "-p tidegate", ["0", "1"], "models::"),
    Suite(Loom, "runtime-one-worker", "-p tidegate", ["4", "8"],
        "models::loom_outside_thread_joins_a_handle models::loom_aborted_closure_is_dropped_once \
         models::loom_aborted_closure_is_joined models::loom_unwanted_panic_is_reported_once"),
    Suite(Loom, "runtime-part", "-p tidegate", ["1", "2"],
        "models::loom_wake_during_a_poll_is_not_lost models::loom_aborted_future_races_its_waker \
         models::loom_polled_handle_queues_before_the_end models::loom_panic_of_replaced_waker_is_caught \
         models::loom_calls_edge_added_as_source_occurs models::loom_calls_last_point_releases_waiter \
         models::loom_calls_lock_passes_to_next_interval models::loom_calls_stall_behind_other_trees_lock \
         models::loom_calls_builder_drop_races_return"),
    Suite(Miri, "tidegate-sync", "-p tidegate-sync --tests --features simulation", ["", SEEDS], ""),
    Suite(Miri, "tidegate-deque", "-p tidegate-deque --tests", ["", SEEDS], ""),
    Suite(Miri, "tidegate-core", "-p tidegate-core --lib", ["", SEEDS], ""),
    Suite(Miri, "tidegate", "-p tidegate --lib --test small", ["", SEEDS], ""),
    Suite(Tsan, "tidegate-sync", "-p tidegate-sync", [TSAN, TSAN], ""),
    Suite(Tsan, "tidegate-deque", "-p tidegate-deque", [TSAN, TSAN], ""),
    Suite(Tsan, "tidegate-core", "-p tidegate-core", [TSAN, TSAN], ""),
    Suite(Tsan, "tidegate", "-p tidegate", [TSAN, TSAN], ""),
    Suite(Soak, "stampede", "-p tidegate-deque", ["1", "1000"], "split::tests::stampeding_thieves_take_tasks_once"),
    Suite(Soak, "deque-steps", "-p tidegate-deque", ["1", "1000"], "split::tests::random_owner_steps_match_vec_deque"),
    Suite(Soak, "deque-models", "-p tidegate-deque", ["1", "4"], "split::lone_owner_matches_the_model"),
    Suite(Soak, "changes", "-p tidegate", ["1", "1000"], "pools::resize::changes_under_load_lose_no_task"),
    Suite(Soak, "queues", "-p tidegate", ["1", "4"], "pools::options::every_queue_computes_the_same"),
    Suite(Soak, "blocking", "-p tidegate", ["1", "20"], "waits::blocking::waits_inside_blocking_hold_no_slot"),
    Suite(Soak, "spawns", "-p tidegate", ["1", "20"], "waits::depth::endless_spawn_loop_needs_bounded_memory"),
    Suite(Soak, "priorities", "-p tidegate", ["1", "100"], "priorities::scopes::every_prioritized_task_runs_once"),
    Suite(Soak, "allotments", "-p tidegate-sim", ["1", "100"], "allot::allotments_keep_their_rule_promises"),
    Suite(Soak, "assaults", "-p tidegate-share", ["1", "200"], "assault::random_tables_never_break_limits"),
    Suite(Soak, "deaths", "-p tidegate-share", ["1", "2"], "death::dead_jobs_processors_are_redistributed"),
    Suite(Soak, "deaths-create", "-p tidegate-share", ["1", "2"], "death::dying_creator_leaves_no_partial_table"),
    Suite(Soak, "deaths-meet", "-p tidegate-share", ["1", "2"], "death::simultaneous_jobs_share_one_table"),
    Suite(Soak, "deaths-exec", "-p tidegate-share", ["1", "2"], "confinement::owner::may_be_killed_at_any_moment"),
    Suite(Soak, "intervals", "-p tidegate", ["1", "50"], "intervals::random::random_graphs_respect_order_and_locks"),
    Suite(Soak, "memory", "-p tidegate", ["1", "150"], "memory::programs::random_programs_stay_within_bounds"),
    Suite(Soak, "memory-asks", "-p tidegate", ["1", "10"], "memory::basics::very_many_tasks_ask_at_once"),
    Suite(Soak, "memory-shared", "-p tidegate", ["1", "150"], "memory::programs::random_programs_share_pool_within_budget"),
    Suite(Soak, "memory-plan", "-p tidegate-policy", ["1", "20"], "plan::random_plans_stay_within_bounds"),
    Suite(Soak, "memory-sim", "-p tidegate-sim", ["1", "50"], "memory::random_dags_respect_memory_bounds"),
    Suite(Soak, "bounds", "-p tidegate-sim", ["1", "50"], "bounds::random_runs_keep_all_bounds"),
    Suite(Soak, "scale", "-p tidegate-sim", ["1", "500"], "scale::memory_covers_only_active_tasks"),
    Suite(Soak, "policies", "-p tidegate-workloads", ["1", "60"], "policies::every_program_is_right_under_policies"),
    Suite(Soak, "interval-pools", "-p tidegate-workloads", ["1", "3"], "intervals::interval_programs_verify_on_every_queue"),
    Suite(Soak, "programs", "-p tidegate", ["1", "500"], "programs::run_every_task_once"),
    Suite(Soak, "rayon-programs", "--locked --target-dir={target}/xtask/beside --manifest-path crates/rayon-core/Cargo.toml", ["1", "500"], "programs::run_every_task_of_rayon_once"),
    Suite(Soak, "exec-kills", "-p tidegate-exec", ["1", "100"], "follow::tests::kills::killed_commands_leave_no_confined_thread"),
    Suite(Soak, "exec-pairs", "-p tidegate-exec", ["1", "25"], "follow::tests::kills::survivors_of_two_commands_restore_their_program"),
    Suite(Soak, "exec-threads", "-p tidegate-exec", ["1", "10"], "follow::tests::kills::thousands_of_threads_are_restored"),
    Suite(Soak, "exec-start", "-p tidegate-cli", ["1", "25"], "exec::signals::no_moment_of_the_start_loses_one"),
    Suite(Soak, "fan", "-p tidegate-fan", ["1", "100"], "deaths::lose_nothing"),
    Suite(Soak, "fan-damage", "-p tidegate-cli", ["1", "505"], "fan_damage::damaged_folders_never_change_the_result"),
    Suite(Soak, "fan-slurm", "-p tidegate-cli", ["1", "18"], "engines::slurm_never_changes_the_result"),
    Suite(Soak, "fan-hq", "-p tidegate-cli", ["1", "18"], "engines::hq_never_changes_the_result"),
    Suite(Soak, "fan-k8s", "-p tidegate-cli", ["1", "18"], "engines::k8s_never_changes_the_result"),
    Suite(Soak, "kills", "-p tidegate", ["1", "20"], "processes::survivor_inherits_killed_job_processors"),
];

/// The variable that holds the number of slices to run; 1 if unset.
const SCALE: &str = "TIDEGATE_SOAK_SCALE";

/// After this many seconds, a nightly run stops a model whose bound is 0 for every change. The
/// model prints [`CUT_OFF`].
const HOUR: &str = "3600";

const CUT_OFF: &str = "cut off";

const SEEDS: &str = "-Zmiri-many-seeds=0..32";

const TSAN: &str = "-Zsanitizer=thread --cfg tidegate_tsan";

/// Skips tests that need a deeper call stack than the sanitizer supports, or that take too long
/// under the sanitizer.
const LEFT_OUT: &str = "--skip join_chain_may_exceed_the_ring --skip thieves_steal_from_deep_chains \
    --skip second_halves_nest_to_stack_limit --skip endless_spawn_loop_needs_bounded_memory";

/// Returns a parser of the names of suites.
pub fn names(kind: Kind) -> PossibleValuesParser {
    let suites = SUITES.iter().filter(|suite| suite.0 == kind);
    PossibleValuesParser::new(suites.map(|suite| suite.1))
}

/// Runs all suites of this kind or only one, with the folder `first` before those of the path.
pub fn run(tally: &mut Tally, kind: Kind, only: Option<&str>, full: bool, first: Option<&Path>) {
    let wanted = |suite: &&Suite| suite.0 == kind && only.is_none_or(|name| name == suite.1);
    for suite in SUITES.iter().filter(wanted) {
        let name = format!("{kind:?} {}", suite.1).to_lowercase();
        let check = |()| check(suite, full, first);
        tally.run(&name, || kind.ready().and_then(check));
    }
}

impl Kind {
    /// Makes sure that the nightly toolchain has what it needs. Does not install the toolchain.
    pub fn ready(self) -> Result<()> {
        let components = match self {
            Loom | Soak => return Ok(()),
            Miri => "miri rust-src",
            Tsan => "rust-src",
        };
        let linux = self == Miri || OS == "linux";
        ensure!(linux, Skipped(format!("not set up for {OS}")));
        let missing = Skipped("toolchain nightly is not installed".to_string());
        ensure!(has_toolchain("nightly"), missing);
        rustup(&format!("component add --toolchain nightly {components}"))
    }

    /// Returns the command `cargo test` for these programs, with a bound on preemptions, flags, or
    /// a number of slices. loom is behind a feature so that users' lock files do not contain it.
    #[rustfmt::skip]
    pub fn cargo(self, programs: &str, value: &str) -> Cmd {
        let (variable, line) = match self {
            Loom => ("LOOM_MAX_PREEMPTIONS", "CARGO_TARGET_DIR={target}/xtask/loom RUSTFLAGS=--cfg=loom \
                test --release --lib --features tidegate-sync/loom,loom/checkpoint"),
            Miri => ("MIRIFLAGS", "CARGO_TARGET_DIR={target}/xtask/miri +nightly miri test"),
            Tsan => ("RUSTFLAGS", "CARGO_TARGET_DIR={target}/xtask/tsan TSAN_OPTIONS=halt_on_error=1 \
                +nightly test -Zbuild-std --tests --target {arch}-unknown-linux-gnu"),
            Soak => (SCALE, "test --release --tests"),
        };
        let line = line.replace("{arch}", ARCH);
        Cmd::cargo(&format!("{line} {programs}")).env(variable, value)
    }
}

fn check(suite: &Suite, full: bool, first: Option<&Path>) -> Outcome {
    let Suite(kind, _, programs, values, tests) = suite;
    let value = values[usize::from(full)];
    let limit = if full { NIGHT } else { LIMIT };
    let path = env::var("PATH").unwrap_or_default();
    let path = first.map(|first| format!("{}:{path}", first.display()));
    let cargo = || {
        let cargo = kind.cargo(programs, value).limit(limit);
        path.iter()
            .fold(cargo, |cargo, path| cargo.env("PATH", path))
    };
    let mut every = cargo();
    if full && values[0] == "0" {
        every = every.env("LOOM_MAX_DURATION", HOUR);
    }
    let args = match kind {
        Loom => format!("-- --show-output {tests}"),
        Miri => String::new(),
        Tsan => format!("-- {LEFT_OUT}"),
        Soak => format!("-- --nocapture --include-ignored --exact {tests}"),
    };
    let (success, mut text) = every.args(args.split_whitespace()).run()?;
    let detail = match kind {
        Loom => format!(", preemptions up to {value}{}", cut_off(&text)),
        Soak => sizes(&text),
        Miri | Tsan => String::new(),
    };
    if *kind == Loom && !success {
        let lines = text.lines().filter_map(|line| line.strip_prefix("test "));
        let failed = lines.filter_map(|line| line.strip_suffix(" ... FAILED"));
        let saved: String = failed.map(|test| save(cargo(), test)).collect();
        text += &saved;
    }
    let skipped = text.lines().find_map(|line| line.split_once("skipped: "));
    if let (Soak, true, Some((_, why))) = (kind, success, skipped) {
        bail!(Skipped(why.to_string()));
    }
    let passed = libtest::judge((success, text), tests.split(' ').count().., 0)?;
    let sized = *kind != Soak || !detail.is_empty();
    ensure!(sized, "no line has soak: does the test read {SCALE}?");
    Ok(passed + &detail)
}

/// Returns the ending of a row that names the models that were stopped at their time limit.
fn cut_off(output: &str) -> String {
    let outputs = output.split("\n---- ").skip(1);
    let stopped = outputs.filter(|output| output.lines().any(|line| line == CUT_OFF));
    let names = stopped.filter_map(|output| output.split(' ').next());
    let ending = |name| format!("; stopped before its end: {name}");
    names.map(ending).collect()
}

/// Returns the sizes that a soak has printed.
fn sizes(output: &str) -> String {
    let sizes = output.lines().filter_map(|line| line.split_once("soak:"));
    let ending = |(_, size): (&str, &str)| format!("; {}", size.trim());
    sizes.map(ending).collect()
}

/// Runs a failing model once more, so that loom writes the failing schedule to a file. Returns
/// instructions for starting from that schedule.
fn save(models: Cmd, test: &str) -> String {
    let file = scratch("schedules").join(format!("{}.json", test.replace("::", "-")));
    // Otherwise, loom would start with the schedule of an earlier failure.
    let _ = fs::remove_file(&file);
    let _ = fs::create_dir_all(scratch("schedules"));
    let again = (models.env("LOOM_CHECKPOINT_FILE", &file))
        .env("LOOM_CHECKPOINT_INTERVAL", "1")
        .args(["--", "--exact", test]);
    let shown = again.shown();
    match again.run() {
        Ok(_) if file.exists() => format!("\nits failing schedule is saved; from there: {shown}"),
        _ => format!("\nthe failing schedule of {test} could not be saved"),
    }
}
