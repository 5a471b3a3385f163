//! Tests the variables that a program gets from `tidegate exec`, and those that the command reads.
#![cfg(target_os = "linux")]

use crate::support::jobs::{Home, Running};
use crate::support::{complaint, json, messages, text};

#[rustfmt::skip]
const THREADS: [&str; 9] = [
    "OMP_NUM_THREADS", "RAYON_NUM_THREADS", "TOKIO_WORKER_THREADS", "GOMAXPROCS",
    "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS", "POLARS_MAX_THREADS",
    "JULIA_NUM_THREADS",
];
const WAITING: [&str; 3] = ["OMP_WAIT_POLICY", "KMP_BLOCKTIME", "GOMP_SPINCOUNT"];

/// Returns the environment of a program that was started by `command`.
fn seen(command: &mut assert_cmd::Command) -> Vec<String> {
    text(command).lines().map(str::to_owned).collect()
}

/// Returns `tidegate exec OPTIONS -- env` without any of the variables.
fn env(home: &Home, options: &str) -> assert_cmd::Command {
    let mut command = home.tidegate(&format!("exec {options} -- env"));
    for name in THREADS.into_iter().chain(WAITING) {
        command.env_remove(name);
    }
    command
}

#[test]
fn threads_are_the_most_it_may_have() {
    let home = Home::new();
    let seen = seen(&mut env(&home, "--max 1"));
    for name in THREADS {
        assert!(seen.contains(&format!("{name}=1")), "{name} in {seen:?}");
    }
    for line in [
        "OMP_WAIT_POLICY=passive",
        "KMP_BLOCKTIME=0",
        "GOMP_SPINCOUNT=1000",
    ] {
        assert!(seen.iter().any(|seen| seen == line), "{line} in {seen:?}");
    }
    assert!(
        seen.iter().any(|seen| seen == "TIDEGATE_SHARE=off"),
        "{seen:?}"
    );
}

#[test]
fn large_maximum_is_cut_to_the_machine() {
    let home = Home::new();
    let machine = json(&mut home.tidegate("machine --json"));
    let expected = format!("GOMAXPROCS={}", machine["workers"]);
    for options in ["", "--max 4096"] {
        let seen = seen(&mut env(&home, options));
        assert!(seen.contains(&expected), "{expected} in {seen:?}");
    }
}

#[test]
fn variables_of_the_user_stay() {
    let home = Home::new();
    let mut command = env(&home, "--max 1");
    command.env("GOMAXPROCS", "77").env("OMP_NUM_THREADS", "");
    command.env("OMP_WAIT_POLICY", "active");
    let seen = seen(&mut command);
    for line in [
        "GOMAXPROCS=77",
        "OMP_NUM_THREADS=",
        "OMP_WAIT_POLICY=active",
    ] {
        assert!(seen.iter().any(|seen| seen == line), "{line} in {seen:?}");
    }
    let of_waiting = |line: &&String| WAITING[1..].iter().any(|name| line.starts_with(name));
    assert_eq!(seen.iter().filter(of_waiting).count(), 0, "{seen:?}");
}

/// A job of weight 100 that desires all processors leaves one of two to the program.
#[test]
fn count_takes_the_share_of_the_moment() {
    let home = Home::new();
    let machine = json(&mut home.tidegate("machine --json"));
    let workers = machine["workers"].as_u64().expect("a number");
    let _jobs: Vec<Running> = (0..workers).map(|_| home.job("")).collect();
    let seen = seen(&mut env(&home, "--how count"));
    assert!(seen.contains(&"GOMAXPROCS=1".to_owned()), "{seen:?}");
    let seen = self::seen(&mut env(&home, &format!("--how count --min {workers}")));
    assert!(seen.contains(&format!("GOMAXPROCS={workers}")), "{seen:?}");
}

#[test]
fn explanation_goes_to_standard_error() {
    let home = Home::new();
    let mut command = env(&home, "--max 1");
    command.env("TIDEGATE_EXPLAIN", "1").env("GOMAXPROCS", "2");
    let told = messages(&mut command);
    assert!(
        told.lines().all(|line| line.starts_with("tidegate exec: ")),
        "{told}"
    );
    for part in [
        "up to 1 processor",
        "--max 1",
        "sets OMP_NUM_THREADS=1 ",
        "leaves GOMAXPROCS",
    ] {
        assert!(told.contains(part), "{part} in {told}");
    }
}

#[test]
fn large_minimum_is_explained() {
    let home = Home::new();
    let mut command = env(&home, "--min 4096");
    command.env("TIDEGATE_EXPLAIN", "1");
    let told = messages(&mut command);
    assert!(told.contains(", --min 4096 lowered to "), "{told}");
}

#[test]
fn inner_command_names_the_outer_one() {
    let home = Home::new();
    let inner = "TIDEGATE_EXPLAIN=1 exec \"$0\" exec --max 1 true";
    let mut command = home.tidegate("exec -- sh -c");
    command.arg(inner).arg(env!("CARGO_BIN_EXE_tidegate"));
    let told = messages(&mut command);
    let line = "tidegate exec: runs inside another tidegate exec, which stands for this";
    assert!(told.starts_with(line), "{told}");
}

#[test]
fn invalid_variables_are_reported() {
    for (name, value) in [
        ("TIDEGATE_EXPLAIN", "yes"),
        ("TIDEGATE_WEIGHT", "0"),
        ("TIDEGATE_SHARE", "maybe"),
    ] {
        let home = Home::new();
        let told = complaint(env(&home, "").env(name, value), 2);
        assert!(told.contains(name) && told.contains("expected"), "{told}");
    }
}
