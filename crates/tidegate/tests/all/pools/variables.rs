//! The effects of the environment variables, and what a pool prints about itself.
//!
//! Each test runs itself again in a separate process in which the variables are set. That process
//! does the work, and the test checks its standard error.

use std::process::Output;
use tidegate::{
    Pool,
    policy::{Choose, IdlePolicy, StealAmount, VictimPolicy, WaitPolicy},
};
use tidegate_testkit::{child, is_child, succeeds};

/// Runs the calling test in a child, with these variables. In the child, returns `None`.
fn alone(test: &str, variables: &[(&str, &str)]) -> Option<Output> {
    // A pool that shares prints the name of its table at an unpredictable time.
    let all = [&[("TIDEGATE_SHARE", "off")], variables].concat();
    (!is_child()).then(|| child(&format!("pools::variables::{test}"), &all))
}

/// Returns Tidegate's lines on the child's standard error. Panics if the child failed.
fn told(output: &Output) -> Vec<String> {
    let text = succeeds(output);
    let lines = text.lines().filter(|line| line.starts_with("tidegate: "));
    lines.map(str::to_owned).collect()
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

/// For each variable: an invalid value, and the value that the global pool uses instead.
const BAD: &[(&str, &str, &str)] = &[
    (
        "TIDEGATE_WORKERS",
        "zero",
        "the number of usable processors (1)",
    ),
    ("TIDEGATE_IDLE", "lazy", "elastic"),
    ("TIDEGATE_STEAL", "fixed:0", "one"),
    ("TIDEGATE_VICTIM", "", "hierarchical"),
    ("TIDEGATE_WAIT", "never", "descendants"),
    ("TIDEGATE_PRIORITY", "high", "normal"),
    ("TIDEGATE_PRIORITY_AGING", "2", "64"),
    ("TIDEGATE_STALL_REPORT", "soon", "5"),
    ("TIDEGATE_MAX_THREADS", "0", "4 threads per worker"),
    ("TIDEGATE_STACK_SIZE", "1KiB", "16MiB"),
    ("TIDEGATE_SHARE", "maybe", "auto"),
    ("TIDEGATE_WEIGHT", "0", "100"),
    ("TIDEGATE_DESIRE", "wsap:eta=2", "steady"),
    ("TIDEGATE_EST_CYCLE", "2s", "5ms"),
    ("TIDEGATE_EXPLAIN", "yes", "0"),
];

#[test]
fn bad_variables_are_reported_and_ignored() {
    let test = "bad_variables_are_reported_and_ignored";
    let mut variables: Vec<_> = BAD.iter().map(|(name, value, _)| (*name, *value)).collect();
    variables.push(("HQ_CPUS", "5"));
    let Some(output) = alone(test, &variables) else {
        assert_eq!(sum(100), 5050);
        return;
    };
    let told = told(&output);
    assert_eq!(told.len(), BAD.len(), "{told:#?}");
    for (name, _, instead) in BAD {
        let line = told
            .iter()
            .find(|line| line.starts_with("tidegate: ") && line.contains(name));
        let line = line.unwrap_or_else(|| panic!("{name} in {told:#?}"));
        assert!(line.contains(": expected "), "{line}");
        assert!(line.ends_with(&format!("; using {instead}")), "{line}");
    }
}

/// The global pool ignores a larger steal amount if the queue in use does not support it.
#[test]
fn global_pool_steals_one_task() {
    let test = "global_pool_steals_one_task";
    let variables = [("TIDEGATE_STEAL", "half"), ("TIDEGATE_QUEUE", "lazy")];
    let Some(output) = alone(test, &variables) else {
        assert_eq!(sum(100), 5050);
        return;
    };
    let told = told(&output);
    let [line] = &told[..] else {
        panic!("{told:#?}");
    };
    assert!(
        line.starts_with("tidegate: TIDEGATE_STEAL: half beside TIDEGATE_QUEUE, lazy,"),
        "{line}"
    );
    assert!(line.ends_with(": expected one; using one"), "{line}");
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
    let Some(output) = alone(test, &variables) else {
        assert_eq!(sum(100), 5050);
        assert_eq!(tidegate::spawn(|| 1).join(), 1);
        return;
    };
    let version = env!("CARGO_PKG_VERSION");
    let line = format!(
        "tidegate: version {version}, pool tidegate, 3 workers (set by TIDEGATE_WORKERS), idle=linear:step=20us \
         steal=half victim=random wait=help-any max-threads=5 stack-size=1MiB share=off"
    );
    assert_eq!(told(&output), [line]);
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
    let Some(output) = alone(test, &variables) else {
        assert_eq!(sum(100), 5050);
        return;
    };
    let mut told = told(&output).split_off(1);
    told.sort();
    let lines = [
        "tidegate: unknown variable \"TIDEGATE_WORKES\"; did you mean \"TIDEGATE_WORKERS\"?",
        "tidegate: unknown variable \"TIDEGATE_ZZZ\": expected a variable that `tidegate tunables` lists",
    ];
    assert_eq!(told, lines);
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
    let Some(output) = alone(test, &variables) else {
        let builder = Pool::builder()
            .workers(2)
            .idle(IdlePolicy::None)
            .steal(StealAmount::One);
        let builder = builder
            .victim(VictimPolicy::LastVictim)
            .wait(WaitPolicy::Descendants);
        let pool = builder
            .max_threads(2)
            .stack_size(1 << 20)
            .name("mine")
            .explain(true)
            .build()
            .expect("a pool");
        assert_eq!(pool.install(|| sum(10)), 55);
        return;
    };
    let version = env!("CARGO_PKG_VERSION");
    let line = format!(
        "tidegate: version {version}, pool mine, 2 workers (set by Builder::workers), idle=none victim=last-victim \
         max-threads=2 stack-size=1MiB share=off"
    );
    assert_eq!(told(&output), [line]);
}

#[test]
fn build_global_wins_over_the_environment() {
    let test = "build_global_wins_over_the_environment";
    let variables = [
        ("TIDEGATE_EXPLAIN", "1"),
        ("TIDEGATE_WORKERS", "7"),
        ("TIDEGATE_VICTIM", "random"),
    ];
    let Some(output) = alone(test, &variables) else {
        tidegate::build_global(Pool::builder().workers(2)).expect("a pool");
        assert_eq!(tidegate::current_num_workers(), 2);
        assert_eq!(sum(10), 55);
        return;
    };
    let told = told(&output);
    let [line] = &told[..] else {
        panic!("{told:#?}");
    };
    let used = "2 workers (set by Builder::workers), victim=random share=off";
    assert!(line.ends_with(used), "{line}");
}

#[test]
fn build_global_rejects_bad_variable() {
    let test = "build_global_rejects_bad_variable";
    let Some(output) = alone(test, &[("TIDEGATE_STEAL", "fixed:0")]) else {
        let refused = tidegate::build_global(Pool::builder().workers(2));
        let error = refused.expect_err("a bad value").to_string();
        assert!(error.contains(" in TIDEGATE_STEAL: "), "{error}");
        // Starts the global pool, which prints a warning and ignores the value.
        assert_eq!(sum(10), 55);
        let error = tidegate::build_global(Pool::builder().workers(2)).expect_err("it exists");
        assert!(error.to_string().ends_with("exists already"), "{error}");
        return;
    };
    let told = told(&output);
    let [line] = &told[..] else {
        panic!("{told:#?}");
    };
    assert!(line.ends_with("; using one"), "{line}");
}

#[test]
fn thread_limit_below_workers_is_reported() {
    let test = "thread_limit_below_workers_is_reported";
    let variables = [("TIDEGATE_WORKERS", "2"), ("TIDEGATE_MAX_THREADS", "1")];
    let Some(output) = alone(test, &variables) else {
        assert_eq!(sum(10), 55);
        return;
    };
    let line = "tidegate: TIDEGATE_MAX_THREADS: 1 is less than the number of workers, 2: expected 2 to 32768; using 8 \
                threads";
    assert_eq!(told(&output), [line]);
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
    let Some(output) = alone(test, &variables) else {
        assert_eq!(sum(10), 55);
        return;
    };
    let told = told(&output);
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
    let Some(output) = alone(test, &[("TIDEGATE_EXPLAIN", "1")]) else {
        let named = |name| {
            Pool::builder()
                .workers(1)
                .name(name)
                .build()
                .expect("a pool")
        };
        let (unused, late, early) = (named("unused"), named("late"), named("early"));
        early.install(|| ());
        eprintln!("tidegate: --");
        late.set_workers(2).expect("two");
        late.join(|| (), || ());
        late.spawn(|| ()).join();
        early.install(|| ());
        drop(unused);
        return;
    };
    let told = told(&output);
    let names: Vec<_> = told.iter().map(|line| line.split(", ").nth(1)).collect();
    assert_eq!(
        names,
        [Some("pool early"), None, Some("pool late")],
        "{told:#?}"
    );
    assert!(
        told[0].contains("1 worker (set by Builder::workers), share=off"),
        "{told:#?}"
    );
    assert!(
        told[2].contains("2 workers (set by set_workers), share=off"),
        "{told:#?}"
    );
}

#[test]
fn default_worker_count_is_explained() {
    let test = "default_worker_count_is_explained";
    let Some(output) = alone(test, &[("TIDEGATE_EXPLAIN", "1")]) else {
        assert_eq!(sum(10), 55);
        return;
    };
    let reason = tidegate::machine::Machine::read().reason();
    let told = told(&output);
    assert!(
        matches!(told.as_slice(), [line] if line.contains(&reason)),
        "{told:#?}"
    );
}

/// One CPU is the least that any machine has, so the engine determines the number.
#[test]
fn engine_is_explained() {
    let variables = [("TIDEGATE_EXPLAIN", "1"), ("HQ_CPUS", "5")];
    let Some(output) = alone("engine_is_explained", &variables) else {
        assert_eq!(tidegate::current_num_workers(), 1);
        assert_eq!(sum(10), 55);
        return;
    };
    let told = told(&output);
    let expected = " cpus: 1 cpu listed by HQ_CPUS";
    assert!(
        matches!(told.as_slice(), [line] if line.contains("1 worker (") && line.contains(expected)),
        "{told:#?}"
    );
}

mod without_global_pool {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    #[test]
    fn invalid_value_permits_nothing() {
        let test = "without_global_pool::invalid_value_permits_nothing";
        if alone(test, &[("TIDEGATE_GLOBAL", "of")]).is_none() {
            let payload = catch_unwind(|| tidegate::join(|| (), || ())).unwrap_err();
            let message = payload.downcast_ref::<String>().expect("a text");
            assert!(message.starts_with("join: "), "{message}");
            assert!(message.contains("TIDEGATE_GLOBAL"), "{message}");
        }
    }

    #[test]
    fn calls_panic_with_their_names() {
        let test = "without_global_pool::calls_panic_with_their_names";
        let Some(output) = alone(test, &[("TIDEGATE_GLOBAL", "off")]) else {
            let calls: [(&str, &dyn Fn()); 14] = [
                ("join", &|| _ = tidegate::join(|| (), || ())),
                ("scope", &|| tidegate::scope(|_| ())),
                ("spawn", &|| drop(tidegate::spawn(|| ()))),
                ("task", &|| drop(tidegate::task().spawn(|| ()))),
                ("spawn_future", &|| drop(tidegate::spawn_future(async {}))),
                ("broadcast", &|| _ = tidegate::broadcast(|_| ())),
                // These are too short to need the pool.
                ("for_each", &|| tidegate::for_each(0..2, |_| ())),
                ("map_reduce", &|| {
                    _ = tidegate::map_reduce(0..2, |_| (), |(), ()| ())
                }),
                ("par_map", &|| _ = tidegate::par_map(0..2, |_| ())),
                ("sort_unstable", &|| tidegate::sort_unstable(&mut [2, 1])),
                ("interval::run", &|| _ = tidegate::interval::run(|_| ())),
                ("stream", &|| {
                    _ = tidegate::stream(0..1).map(|n| n).ordered().next()
                }),
                ("stats", &|| _ = tidegate::stats()),
                ("current_num_workers", &|| {
                    _ = tidegate::current_num_workers()
                }),
            ];
            for (name, call) in calls {
                let payload = catch_unwind(AssertUnwindSafe(call)).expect_err(name);
                let message = payload.downcast_ref::<String>().expect("a text");
                let start = format!("{name}: TIDEGATE_GLOBAL is off");
                assert!(message.starts_with(&start), "{message}");
            }
            let error = tidegate::build_global(Pool::builder()).unwrap_err();
            assert!(
                error
                    .to_string()
                    .starts_with("build_global: TIDEGATE_GLOBAL is off")
            );
            let pool = Pool::builder().workers(1).build().expect("a pool");
            assert_eq!(pool.install(|| sum(10)), 55);
            return;
        };
        assert!(told(&output).is_empty());
    }
}
