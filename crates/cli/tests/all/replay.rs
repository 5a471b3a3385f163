//! `tidegate replay`: every program's trace must replay without a difference, and can be exported.

use crate::support::{assert_contains, complaint, json, tidegate};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use tidegate::trace::Trace;
use tidegate_workloads::registry::ENTRIES;

#[test]
fn replayed_decisions_match_every_program() {
    let folder = tempfile::tempdir().unwrap();
    let tree = env!("CARGO_MANIFEST_DIR");
    for entry in ENTRIES {
        let file = folder.path().join(entry.name);
        let file = file.to_str().unwrap();
        let path = if entry.name == "digest" { tree } else { "" };
        let rules = "--workers 3 --idle exponential --steal half --est-cycle 20ms";
        let line = format!("run {} {path} --size tiny {rules} --json", entry.name);
        let run = json(tidegate(&line).args(["--trace", file]));
        assert_eq!(run["verified"], true, "{}", entry.name);
        let found = json(tidegate("replay --json").arg(file));
        assert_eq!(found["same"], true, "{}: {found}", entry.name);
        assert_eq!(found["rules"]["steal"], "half");
        assert_eq!(found["rules"]["est_cycle"], "20ms");
        assert!(found["decisions"].as_u64() > Some(0), "{}", entry.name);
    }
}

/// The exit code must be 1, and the output must name the decision that differs.
#[test]
fn changed_rule_fails_the_replay() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("trace");
    // The first partition is serial, so that thieves rest several times in at least some of the
    // runs.
    let line = "run quicksort 300000 --workers 3 --repeat 10 --idle linear --share off --json";
    json(tidegate(line).arg("--trace").arg(&file));
    let mut trace = Trace::from_bytes(&fs::read(&file).unwrap()).unwrap();
    trace.rules.idle = Some("linear:max=60us".parse().unwrap());
    fs::write(&file, trace.to_bytes()).unwrap();
    let output = tidegate("replay").arg(&file).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).unwrap();
    assert_contains(&said, &["how to rest after a sweep: decided"]);
    let found = tidegate("replay --json").arg(&file).output().unwrap();
    let found: Value = serde_json::from_slice(&found.stdout).unwrap();
    assert_eq!(found["same"], false);
    assert_eq!(found["difference"]["event"], "how to rest after a sweep");
}

#[test]
fn timeline_has_a_row_per_worker() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("trace");
    let drawn = folder.path().join("drawn.json");
    // The run must be long enough for thieves to steal, and perhaps for spare threads to start.
    let line = "run quicksort 300000 --workers 2 --repeat 10 --share on --json";
    json(tidegate(line).arg("--trace").arg(&file));
    let mut replay = tidegate("replay --json");
    let found = json(replay.arg(&file).arg("--chrome").arg(&drawn));
    let streams = found["streams"].as_array().unwrap().iter();
    let sources: BTreeSet<_> = streams.filter_map(|s| s["source"].as_str()).collect();
    let drawn: Value = serde_json::from_slice(&fs::read(&drawn).unwrap()).unwrap();
    let events = drawn["traceEvents"].as_array().unwrap();
    let rows = events.iter().filter(|event| event["name"] == "thread_name");
    let rows: BTreeSet<_> = rows.filter_map(|e| e["args"]["name"].as_str()).collect();
    let workers = sources.into_iter().filter(|s| s.starts_with("worker"));
    assert_eq!(rows, workers.collect());
    assert!(rows.len() >= 2, "{rows:?}");
    let spells = events.iter().filter(|event| event["ph"] == "X");
    let names: BTreeSet<_> = spells
        .map(|event| event["name"].as_str().unwrap())
        .collect();
    assert!(names.contains("busy"), "{names:?}");
    for event in events.iter().filter(|event| event["ph"] == "X") {
        let time = |key: &str| event[key].as_f64().unwrap();
        assert!(time("ts") >= 0.0 && time("dur") >= 0.0, "{event}");
    }
}

#[test]
fn invalid_or_unwritable_trace_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("trace");
    let said = complaint(tidegate("replay").arg(&file), 3);
    assert!(said.contains("cannot be read"), "{said}");
    fs::write(&file, "idle=linear").unwrap();
    let said = complaint(tidegate("replay").arg(&file), 2);
    assert!(said.contains("not a Tidegate trace"), "{said}");
    fs::write(&file, "tidegate trace 1\n\n").unwrap();
    let said = complaint(tidegate("replay").arg(&file), 2);
    assert!(said.contains("unsupported trace version"), "{said}");
    let nowhere = folder.path().join("missing/trace");
    let said = complaint(tidegate("run fib 5 --trace").arg(nowhere), 3);
    assert!(said.contains("cannot write a trace"), "{said}");
    complaint(tidegate("run fib 5 --serial --trace").arg(&file), 2);
}

#[test]
fn timeline_never_overwrites_its_trace() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("trace");
    json(
        tidegate("run fib 10 --workers 1 --json")
            .arg("--trace")
            .arg(&file),
    );
    let before = fs::read(&file).unwrap();
    let mut replay = tidegate("replay");
    let text = complaint(replay.arg(&file).arg("--chrome").arg(&file), 2);
    assert!(text.contains("expected another file"), "{text}");
    assert_eq!(fs::read(&file).unwrap(), before);
}

#[test]
fn dash_means_standard_streams() {
    let folder = tempfile::tempdir().unwrap();
    let done = |command: &mut assert_cmd::Command| {
        let output = command.current_dir(folder.path()).assert().success();
        output.get_output().clone()
    };
    let run = done(&mut tidegate("run fib 10 --workers 1 --trace -"));
    let aside = String::from_utf8(run.stderr).unwrap();
    assert!(aside.contains("verified"), "{aside}");
    let replay = done(tidegate("replay - --chrome -").write_stdin(run.stdout));
    let drawn: Value = serde_json::from_slice(&replay.stdout).unwrap();
    assert!(drawn["traceEvents"].is_array(), "{drawn}");
    let aside = String::from_utf8(replay.stderr).unwrap();
    assert!(aside.contains("match the trace"), "{aside}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    done(&mut tidegate("run fib 10 --workers 1 --trace ./-"));
    let found = done(&mut tidegate("replay ./- --json"));
    assert!(folder.path().join("-").exists());
    assert!(serde_json::from_slice::<Value>(&found.stdout).is_ok());
}

#[test]
fn standard_output_is_for_one_thing() {
    for line in [
        "replay x --chrome - --json",
        "run fib 10 --trace - --json",
        "run stencil --dot - --svg -",
    ] {
        let said = complaint(&mut tidegate(line), 2);
        let parts = [" - and --", "both write to standard output: expected one"];
        assert_contains(&said, &parts);
    }
}

/// The error must name the file and state the allowed range.
#[test]
fn impossible_trace_workers_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("trace");
    json(tidegate("run fib 10 --workers 1 --json --trace").arg(&file));
    let mut trace = Trace::from_bytes(&fs::read(&file).unwrap()).unwrap();
    trace.rules.workers = 1 << 40;
    fs::write(&file, trace.to_bytes()).unwrap();
    let said = complaint(tidegate("replay").arg(&file), 2);
    let told =
        "invalid value 1099511627776 for the trace's workers: expected an integer from 1 to 4096";
    assert_contains(&said, &[&format!("{}: {told}", file.display())]);
}
