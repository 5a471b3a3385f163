//! The effects of the environment variables, and what a pool prints about itself.
//!
//! Each test runs itself again in a separate process in which the variables are set. That process
//! does the work, and the test checks its standard error.

use tidegate::{
    Pool,
    policy::{Choose, IdlePolicy, StealAmount, VictimPolicy, WaitPolicy},
};
use tidegate_testkit::{child, is_child, succeeds};

/// Runs `work` in a child with these variables, and returns Tidegate's lines on its standard error.
/// In the child, returns `None`. Panics if the child failed.
fn told(test: &str, variables: &[(&str, &str)], work: impl FnOnce()) -> Option<Vec<String>> {
    if is_child() {
        work();
        return None;
    }
    // A pool that shares prints the name of its table at an unpredictable time.
    let all = [&[("TIDEGATE_SHARE", "off")], variables].concat();
    let text = succeeds(&child(&format!("pools::variables::{test}"), &all));
    let lines = text.lines().filter(|line| line.starts_with("tidegate: "));
    Some(lines.map(str::to_owned).collect())
}

/// Like [`told`], for a child that must print one line.
fn line(test: &str, variables: &[(&str, &str)], work: impl FnOnce()) -> Option<String> {
    let told = told(test, variables, work)?;
    assert_eq!(told.len(), 1, "{told:#?}");
    told.into_iter().next()
}

/// Uses the global pool.
fn add() {
    assert_eq!(sum(100), 5050);
}

fn sum(n: usize) -> usize {
    match n {
        0 => 0,
        _ => {
            let (rest, n) = tidegate::join(|| sum(n - 1), || n);
            rest + n
        }
    }
}

/// For each variable: an invalid value.
#[rustfmt::skip]
const BAD: &[(&str, &str)] = &[
    ("TIDEGATE_WORKERS", "zero"),
    ("TIDEGATE_IDLE", "lazy"),
    ("TIDEGATE_STEAL", "fixed:0"),
    ("TIDEGATE_VICTIM", ""),
    ("TIDEGATE_WAIT", "never"),
    ("TIDEGATE_PRIORITY", "high"),
    ("TIDEGATE_PRIORITY_AGING", "2"),
    ("TIDEGATE_STALL_REPORT", "soon"),
    ("TIDEGATE_MAX_THREADS", "0"),
    ("TIDEGATE_STACK_SIZE", "1KiB"),
    ("TIDEGATE_SHARE", "maybe"),
    ("TIDEGATE_WEIGHT", "0"),
    ("TIDEGATE_DESIRE", "wsap:eta=2"),
    ("TIDEGATE_EST_CYCLE", "2s"),
    ("TIDEGATE_EXPLAIN", "yes"),
];

#[test]
fn bad_variables_are_reported_and_ignored() {
    let test = "bad_variables_are_reported_and_ignored";
    let variables = [BAD, &[("HQ_CPUS", "5")]].concat();
    let Some(told) = told(test, &variables, add) else {
        return;
    };
    assert_eq!(told.len(), BAD.len(), "{told:#?}");
    for (name, _) in BAD {
        let line = told.iter().find(|line| line.contains(name));
        let line = line.unwrap_or_else(|| panic!("{name} in {told:#?}"));
        assert!(line.contains(": expected "), "{line}");
        assert!(line.ends_with("; using the default"), "{line}");
    }
}

/// The global pool ignores a larger steal amount if the queue in use does not support it.
#[test]
fn global_pool_steals_one_task() {
    let test = "global_pool_steals_one_task";
    let variables = [("TIDEGATE_STEAL", "half"), ("TIDEGATE_QUEUE", "lazy")];
    if let Some(line) = line(test, &variables, add) {
        let start = "tidegate: TIDEGATE_STEAL: half beside TIDEGATE_QUEUE, lazy,";
        assert!(line.starts_with(start), "{line}");
        assert!(line.ends_with(": expected one; using one"), "{line}");
    }
}

#[test]
fn every_option_has_its_variable() {
    let test = "every_option_has_its_variable";
    let variables = [
        ("TIDEGATE_EXPLAIN", "1"),
        ("TIDEGATE_WORKERS", "3"),
        ("TIDEGATE_IDLE", "linear:min=10us,step=20us"),
        ("TIDEGATE_STEAL", "half"),
        ("TIDEGATE_VICTIM", "random"),
        ("TIDEGATE_WAIT", "help-any"),
        ("TIDEGATE_MAX_THREADS", "5"),
        ("TIDEGATE_STACK_SIZE", "1MiB"),
    ];
    let work = || {
        add();
        assert_eq!(tidegate::spawn(|| 1).join(), 1);
    };
    let version = env!("CARGO_PKG_VERSION");
    let expected = format!(
        "tidegate: version {version}, pool tidegate, 3 workers (set by TIDEGATE_WORKERS), idle=linear:step=20us \
         steal=half victim=random wait=help-any max-threads=5 stack-size=1MiB share=off"
    );
    if let Some(line) = line(test, &variables, work) {
        assert_eq!(line, expected);
    }
}

#[test]
fn unknown_variables_are_explained() {
    let test = "unknown_variables_are_explained";
    let variables = [
        ("TIDEGATE_EXPLAIN", "1"),
        ("TIDEGATE_TABLE", "/dev/null"),
        ("TIDEGATE_WORKES", "3"),
        ("TIDEGATE_ZZZ", "1"),
    ];
    let Some(mut told) = told(test, &variables, add) else {
        return;
    };
    told[1..].sort();
    let lines = [
        "tidegate: unknown variable \"TIDEGATE_WORKES\"; did you mean \"TIDEGATE_WORKERS\"?",
        "tidegate: unknown variable \"TIDEGATE_ZZZ\": expected a variable that `tidegate tunables` lists",
    ];
    assert_eq!(told[1..], lines);
}

#[test]
fn the_builder_wins_over_the_environment() {
    let test = "the_builder_wins_over_the_environment";
    // These values would all be rejected if the builder did not override them.
    let variables = [
        ("TIDEGATE_EXPLAIN", "maybe"),
        ("TIDEGATE_WORKERS", "7"),
        ("TIDEGATE_IDLE", "lazy"),
        ("TIDEGATE_STEAL", "half"),
        ("TIDEGATE_VICTIM", "random"),
        ("TIDEGATE_WAIT", "help-any"),
        ("TIDEGATE_MAX_THREADS", "1"),
        ("TIDEGATE_STACK_SIZE", "1"),
    ];
    let work = || {
        let builder = Pool::builder().workers(2).idle(IdlePolicy::None);
        let builder = builder
            .steal(StealAmount::One)
            .victim(VictimPolicy::LastVictim);
        let builder = builder.wait(WaitPolicy::Descendants).max_threads(2);
        let builder = builder.stack_size(1 << 20).name("mine").explain(true);
        assert_eq!(builder.build().expect("a pool").install(|| sum(10)), 55);
    };
    let version = env!("CARGO_PKG_VERSION");
    let expected = format!(
        "tidegate: version {version}, pool mine, 2 workers (set by Builder::workers), idle=none victim=last-victim \
         max-threads=2 stack-size=1MiB share=off"
    );
    if let Some(line) = line(test, &variables, work) {
        assert_eq!(line, expected);
    }
}

#[test]
fn build_global_wins_over_the_environment() {
    let test = "build_global_wins_over_the_environment";
    let variables = [
        ("TIDEGATE_EXPLAIN", "1"),
        ("TIDEGATE_WORKERS", "7"),
        ("TIDEGATE_VICTIM", "random"),
    ];
    let work = || {
        tidegate::build_global(Pool::builder().workers(2)).expect("a pool");
        assert_eq!(tidegate::current_num_workers(), 2);
        add();
    };
    if let Some(line) = line(test, &variables, work) {
        let used = "2 workers (set by Builder::workers), victim=random share=off";
        assert!(line.ends_with(used), "{line}");
    }
}

#[test]
fn build_global_rejects_bad_variable() {
    let test = "build_global_rejects_bad_variable";
    let work = || {
        let refused = tidegate::build_global(Pool::builder().workers(2));
        let error = refused.expect_err("a bad value").to_string();
        assert!(error.contains(" in TIDEGATE_STEAL: "), "{error}");
        // Starts the global pool, which prints a warning and ignores the value.
        add();
        let error = tidegate::build_global(Pool::builder().workers(2)).expect_err("it exists");
        assert!(error.to_string().ends_with("exists already"), "{error}");
    };
    if let Some(line) = line(test, &[("TIDEGATE_STEAL", "fixed:0")], work) {
        assert!(line.ends_with("; using the default"), "{line}");
    }
}

#[test]
fn thread_limit_below_workers_is_reported() {
    let test = "thread_limit_below_workers_is_reported";
    let variables = [("TIDEGATE_WORKERS", "2"), ("TIDEGATE_MAX_THREADS", "1")];
    if let Some(line) = line(test, &variables, add) {
        let expected = "tidegate: TIDEGATE_MAX_THREADS: 1 is less than the number of workers, 2: expected 2 to 32768; \
            using 8 threads";
        assert_eq!(line, expected);
    }
}

#[test]
fn memory_policy_overrides_conflicting_variables() {
    let test = "memory_policy_overrides_conflicting_variables";
    let variables = [
        ("TIDEGATE_EXPLAIN", "1"),
        ("TIDEGATE_WORKERS", "2"),
        ("TIDEGATE_MEMORY", "depth-first:k=1KiB"),
        ("TIDEGATE_QUEUE", "chase-lev"),
        ("TIDEGATE_WAIT", "help-any"),
    ];
    let Some(told) = told(test, &variables, add) else {
        return;
    };
    let line = |option: &str, allowed: &str| {
        format!(
            "tidegate: {option} beside TIDEGATE_MEMORY, depth-first:k=1KiB, which has an order of its own: expected \
             {allowed}; using TIDEGATE_MEMORY, and {allowed} for {}",
            option.split(':').next().unwrap()
        )
    };
    let lines = [
        line("TIDEGATE_WAIT: help-any", "descendants"),
        line("TIDEGATE_QUEUE: chase-lev", "split"),
    ];
    assert_eq!(told[..2], lines);
    let used = "2 workers (set by TIDEGATE_WORKERS), memory=depth-first:k=1KiB share=off";
    assert!(told[2].ends_with(used), "{told:#?}");
}

#[test]
fn pool_explains_itself_only_once() {
    let test = "pool_explains_itself_only_once";
    let work = || {
        let named = |name| Pool::builder().workers(1).name(name).build().unwrap();
        let (unused, late, early) = (named("unused"), named("late"), named("early"));
        early.install(|| ());
        eprintln!("tidegate: --");
        late.set_workers(2).expect("two");
        late.join(|| (), || ());
        late.spawn(|| ()).join();
        early.install(|| ());
        drop(unused);
    };
    let Some(told) = told(test, &[("TIDEGATE_EXPLAIN", "1")], work) else {
        return;
    };
    let parts = [
        "pool early, 1 worker (set by Builder::workers), share=off",
        "tidegate: --",
        "pool late, 2 workers (set by set_workers), share=off",
    ];
    assert_eq!(told.len(), parts.len(), "{told:#?}");
    for (line, part) in told.iter().zip(parts) {
        assert!(line.contains(part), "{told:#?}");
    }
}

#[test]
fn default_worker_count_is_explained() {
    let test = "default_worker_count_is_explained";
    if let Some(line) = line(test, &[("TIDEGATE_EXPLAIN", "1")], add) {
        let reason = tidegate::machine::Machine::read().reason();
        assert!(line.contains(&reason), "{line}");
    }
}

/// One CPU is the least that any machine has, so the engine determines the number.
#[test]
fn engine_is_explained() {
    let variables = [("TIDEGATE_EXPLAIN", "1"), ("HQ_CPUS", "5")];
    let work = || {
        assert_eq!(tidegate::current_num_workers(), 1);
        add();
    };
    if let Some(line) = line("engine_is_explained", &variables, work) {
        let parts = ["1 worker (", " cpus: 1 cpu listed by HQ_CPUS"];
        assert!(parts.iter().all(|part| line.contains(part)), "{line}");
    }
}

mod without_global_pool {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    #[test]
    fn invalid_value_permits_nothing() {
        let test = "without_global_pool::invalid_value_permits_nothing";
        told(test, &[("TIDEGATE_GLOBAL", "of")], || {
            let payload = catch_unwind(|| tidegate::join(|| (), || ())).unwrap_err();
            let message = payload.downcast_ref::<String>().expect("a text");
            assert!(message.starts_with("join: "), "{message}");
            assert!(message.contains("TIDEGATE_GLOBAL"), "{message}");
        });
    }

    #[test]
    fn calls_panic_with_their_names() {
        let test = "without_global_pool::calls_panic_with_their_names";
        let work = || {
            #[rustfmt::skip]
            let calls: [(&str, &dyn Fn()); 14] = [
                ("join", &|| _ = tidegate::join(|| (), || ())),
                ("scope", &|| tidegate::scope(|_| ())),
                ("spawn", &|| drop(tidegate::spawn(|| ()))),
                ("task", &|| drop(tidegate::task().spawn(|| ()))),
                ("spawn_future", &|| drop(tidegate::spawn_future(async {}))),
                ("broadcast", &|| _ = tidegate::broadcast(|_| ())),
                // These are too short to need the pool.
                ("for_each", &|| tidegate::for_each(0..2, |_| ())),
                ("map_reduce", &|| _ = tidegate::map_reduce(0..2, |_| (), |(), ()| ())),
                ("par_map", &|| _ = tidegate::par_map(0..2, |_| ())),
                ("sort_unstable", &|| tidegate::sort_unstable(&mut [2, 1])),
                ("interval::run", &|| _ = tidegate::interval::run(|_| ())),
                ("stream", &|| _ = tidegate::stream(0..1).map(|n| n).ordered().next()),
                ("stats", &|| _ = tidegate::stats()),
                ("current_num_workers", &|| _ = tidegate::current_num_workers()),
            ];
            for (name, call) in calls {
                let payload = catch_unwind(AssertUnwindSafe(call)).expect_err(name);
                let message = payload.downcast_ref::<String>().expect("a text");
                let start = format!("{name}: TIDEGATE_GLOBAL is off");
                assert!(message.starts_with(&start), "{message}");
            }
            let error = tidegate::build_global(Pool::builder())
                .unwrap_err()
                .to_string();
            let start = "build_global: TIDEGATE_GLOBAL is off";
            assert!(error.starts_with(start), "{error}");
            let pool = Pool::builder().workers(1).build().expect("a pool");
            assert_eq!(pool.install(|| sum(10)), 55);
        };
        let told = told(test, &[("TIDEGATE_GLOBAL", "off")], work);
        assert!(told.is_none_or(|told| told.is_empty()));
    }
}
