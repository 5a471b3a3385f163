//! Tests `tidegate sim --job`, which simulates several programs on one machine.

use crate::support::{assert_contains, complaint, json, tidegate};
use serde_json::{Value, json};

/// Returns the command `sim fib 15` that also runs these programs with `--job`.
fn mix(arguments: &str, others: &[&str]) -> assert_cmd::Command {
    let mut command = tidegate(&format!("sim fib 15 --processors 4 {arguments}"));
    for other in others {
        command.args(["--job", other]);
    }
    command
}

fn column<'a>(found: &'a Value, rows: &str, name: &str) -> Vec<&'a Value> {
    let rows = found[rows].as_array().unwrap();
    rows.iter().map(|row| &row[name]).collect()
}

#[test]
fn jobs_take_programs_in_turns() {
    let others = ["knary 4 3 1", "uts --tree tiny"];
    let found = json(&mut mix("--json --instances 7 --desire wsap", &others));
    let [fib, knary, uts] = ["fib 15", others[0], others[1]];
    assert_eq!(
        column(&found, "jobs", "program"),
        [fib, knary, uts, fib, knary, uts, fib]
    );
    assert_eq!(column(&found, "programs", "program"), [fib, knary, uts]);
    assert_eq!(found["programs"][1]["workload"], "knary");
    assert_eq!(
        found["programs"][1]["parameters"],
        json!({"n": 4, "k": 3, "r": 1, "form": "join"})
    );
    // Each job has as many tasks as its program has alone, and each program has the same work and
    // span as when it runs alone.
    let tasks = column(&found, "jobs", "tasks");
    for (number, alone) in [fib, knary, uts].into_iter().enumerate() {
        let alone = json(&mut tidegate(&format!("sim {alone} --json")));
        assert_eq!(tasks[number], &alone["tasks"]);
        assert_eq!(tasks[number], tasks[number + 3]);
        for size in ["t1", "tinf"] {
            assert_eq!(found["programs"][number][size], alone[size]);
        }
    }
    assert!(tasks[0] != tasks[1] && tasks[1] != tasks[2]);
}

#[test]
fn default_is_one_job_per_program() {
    let found = json(&mut mix("--json --arrivals poisson:1ms", &["fib 10"]));
    assert_eq!(
        column(&found, "jobs", "program"),
        ["fib 15", "fib 10"].map(Value::from).each_ref()
    );
    let times = json(&mut mix("--json --arrivals at:2ms,1ms", &["fib 10"]));
    assert_eq!(
        column(&times, "jobs", "arrived"),
        [0.002, 0.001].map(Value::from).each_ref()
    );
}

#[test]
fn a_second_program_takes_its_share() {
    let first = |other| {
        let mut command = tidegate("sim loopy 64 --steps 30000 --processors 4 --json --job");
        let found = json(command.arg(other));
        found["jobs"][0]["t"].as_f64().unwrap()
    };
    let [short, long] = ["fib 5", "loopy 64 --steps 30000"].map(first);
    assert!(long > 1.5 * short, "{long} {short}");
}

#[test]
fn a_size_belongs_to_its_program() {
    let others = ["fib --size tiny", "fib 38"];
    let found = json(&mut mix("--json --size small --sim-seed 1", &others[..1]));
    assert_eq!(found["programs"][1]["parameters"]["n"], 20);
}

#[test]
fn seed_runs_name_programs_once() {
    let found = json(&mut mix("--json --seeds 2", &["fib 10"]));
    assert!(found["runs"][0]["program"].is_null());
    assert_eq!(
        column(&found, "programs", "program"),
        ["fib 15", "fib 10"].map(Value::from).each_ref()
    );
}

#[test]
fn a_bad_program_is_named() {
    for (other, expected) in [
        ("fib 200", "--job \"fib 200\": invalid value \"200\" for n"),
        (
            "knary 3 2 5",
            "--job \"knary 3 2 5\": invalid value 5 for r",
        ),
        (
            "fib 1 2",
            "\"fib 1 2\" for --job <PROGRAM>: unexpected argument \"2\"",
        ),
        ("nothing", "unknown workload \"nothing\""),
    ] {
        let text = complaint(&mut mix("", &["fib", other]), 2);
        assert!(text.contains(expected), "{other}: {text}");
    }
    let text = complaint(
        &mut mix("--memory depth-first", &["wavefront --size tiny"]),
        2,
    );
    assert_contains(&text, &["fib 15 + wavefront --size tiny with"]);
    assert_contains(&text, &["does not support job 1, whose tasks wait"]);
}
