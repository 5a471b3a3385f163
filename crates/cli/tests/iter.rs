//! `tidegate compare iter`, with a cargo and programs that only pretend: building the real ones takes a minute.
//!
//! The real ones are tested where they lie, in `benches/iter`. The fake ones are scripts, so on Unix alone.

#![cfg(unix)]

mod support;

use assert_cmd::Command;
use serde_json::Value;
use support::{ROW, complaint, json, keys, tidegate};

/// The command with programs of which `fake` says what is wrong with them.
fn iter(fake: &str, arguments: &str) -> Command {
    let mut command = tidegate("compare iter --size tiny --repeat 1 --workers 1,2");
    command
        .args(arguments.split_whitespace())
        .env(
            "CARGO",
            concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fake/cargo"),
        )
        .env("FAKE", fake);
    command
}

/// Case, runtime, workers and median of each row.
fn rows(found: &Value) -> Vec<(&str, &str, u64, f64)> {
    let rows = found["rows"].as_array().unwrap();
    rows.iter().for_each(|row| assert_eq!(keys(row), ROW));
    let rows = rows.iter().map(|row| {
        (
            row["case"].as_str().unwrap(),
            row["runtime"].as_str().unwrap(),
            row["workers"].as_u64().unwrap(),
            row["median_ns"].as_f64().unwrap(),
        )
    });
    rows.collect()
}

#[test]
fn each_side_is_asked_for_its_rows() {
    let found = json(&mut iter("", "--json"));
    assert_eq!(keys(&found), ["rows", "summary"]);
    let mut expected = Vec::new();
    for case in [
        "zip 10^3 inside",
        "zip 10^3 outside",
        "rev 1234 inside",
        "rev 1234 outside",
    ] {
        expected.push((case, "serial", 1, 100.0));
        for workers in [1, 2] {
            expected.push((case, "tidegate", workers, 200.0));
            expected.push((case, "rayon", workers, 400.0));
        }
    }
    for runtime in ["tidegate", "rayon"] {
        expected.push(("idle after the chains", runtime, 2, 2000.0));
    }
    assert_eq!(rows(&found), expected);
    let versions = [
        "rustc 1",
        "0.1.0 as rayon-core 1.13.0 from this repository below rayon 1.12.0",
        "1.12.0 on rayon-core 1.13.0 from the registry",
    ];
    for (row, version) in versions.iter().enumerate() {
        assert_eq!(found["rows"][row]["version"], *version);
    }
    assert_eq!(found["rows"][1]["over_serial_ns"], 100.0);
}

#[test]
fn what_follows_is_told_with_goals_and_does_not_decide_the_exit_code() {
    let output = iter("", "").assert().success().get_output().stdout.clone();
    let text = String::from_utf8(output).unwrap();
    for told in [
        "rayon's overhead by tidegate's, zip 10^3 inside, pool of 2, 300 ns by 100 ns: 3.00x, goal at least 3.00x: reached",
        "tidegate's time by rayon's, rev 1234 outside, pool of 1: 0.50x, goal at most 1.00x: reached",
        "rayon's time by tidegate's at worst, rev 1234 inside, pool of 1: 2.00x, goal at least 0.97x: reached",
        "CPU time idle after the chains on rayon 2: 0.004 % of one processor",
        "100 scopes inside of scopes on tidegate 1: finished, 512 B of stack a level",
    ] {
        assert!(text.lines().any(|line| line == told), "{told} in {text}");
    }
    assert!(!text.contains("overhead by tidegate's, rev"), "{text}");
}

#[test]
fn an_overhead_that_cannot_be_seen_is_compared_with_nothing() {
    let found = json(&mut iter("free", "--json --chain zip"));
    let fact = &found["summary"][0];
    assert!(
        fact["what"].as_str().unwrap().contains("overhead"),
        "{fact}"
    );
    assert_eq!(
        (&fact["value"], &fact["reached"]),
        (&Value::Null, &Value::Null)
    );
}

#[test]
fn a_program_that_runs_out_of_stack_is_a_fact() {
    let found = json(&mut iter("shallow", "--json --chain rev"));
    let facts = found["summary"].as_array().unwrap();
    let depth = facts
        .iter()
        .filter(|fact| fact["what"].as_str().unwrap().contains("scopes"));
    assert!(depth.clone().count() == 4 && depth.clone().all(|fact| fact["value"].is_null()));
}

#[test]
fn chains_are_chosen_by_name() {
    let found = json(&mut iter("", "--json --chain rev --with serial"));
    let cases: Vec<_> = rows(&found).into_iter().map(|(case, ..)| case).collect();
    assert!(
        cases.iter().all(|case| !case.starts_with("zip")),
        "{cases:?}"
    );
    let told = complaint(&mut iter("", "--chain rev,map"), 2);
    assert!(told.contains("\"map\", allowed are: zip, rev"), "{told}");
    complaint(&mut tidegate("compare fib --chain rev"), 2);
}

#[test]
fn what_goes_wrong_is_told() {
    for (fake, code, told) in [
        ("unbuilt", 3, "cargo did not build"),
        ("unnamed", 3, "named no program"),
        (
            "mute",
            3,
            "gave no answer to its start: it ended with exit status: 3",
        ),
        ("rude", 3, "is not JSON"),
        (
            "alike",
            3,
            "is linked with rayon-core 1.13.0 from the registry, which is Tidegate",
        ),
        ("wrong", 1, "zip differs"),
        ("refused", 3, "not today"),
    ] {
        let text = complaint(&mut iter(fake, ""), code);
        assert!(text.contains(told), "{fake}: {text}");
    }
    let text = complaint(iter("", "").env("CARGO", "/no/cargo"), 3);
    assert!(text.contains("/no/cargo cannot be started"), "{text}");
}
