//! Tests `tidegate run`.

use crate::support::{assert_contains, complaint, json, keys, messages, text, tidegate};
use tempfile::TempDir;
use tidegate_workloads::parameter::Preset;
use tidegate_workloads::registry::ENTRIES;

/// Returns a command that runs the program for a few milliseconds.
fn tiny(name: &str, folder: &TempDir) -> assert_cmd::Command {
    let mut command = tidegate(&format!("run {name} --size tiny --workers 2"));
    if name == "digest" {
        command.arg(folder.path());
    }
    command
}

fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("below")).unwrap();
    for name in ["a", "b c", "below/d"] {
        std::fs::write(folder.path().join(name), name).unwrap();
    }
    folder
}

#[test]
fn every_program_runs_and_is_verified() {
    let folder = folder();
    for entry in ENTRIES {
        let found = json(tiny(entry.name, &folder).args(["--json", "--repeat", "2"]));
        assert_eq!(found["workload"], entry.name);
        assert_eq!(found["verified"], true, "{found}");
        assert!(found["reference"].is_string(), "{found}");
        let fields: Vec<_> = entry.result.iter().map(|field| field.name).collect();
        let mut printed = keys(&found["result"]);
        printed.sort_by_key(|name| fields.iter().position(|field| field == name));
        assert_eq!(printed, fields, "{}", entry.name);
    }
}

#[test]
fn java_grande_size_names_are_accepted() {
    for (size, problem) in [
        ("A", "A"),
        ("small", "A"),
        ("test", "test"),
        ("tiny", "test"),
    ] {
        let found = json(&mut tidegate(&format!(
            "run lufact --size {size} --repeat 1 --json"
        )));
        assert_eq!(found["parameters"]["problem"], problem);
        assert_eq!(found["result"]["figure"], "that of the reference");
        assert_eq!(found["reference"], "the benchmark's reference figure");
    }
    let found = json(&mut tidegate("run lufact test --pieces 3 --size B --json"));
    assert_eq!(found["parameters"]["problem"], "test");
    let found = json(&mut tidegate(
        "run pipeline --items 70 --stages 3 --work 1 --json",
    ));
    assert_eq!(found["parameters"]["items"], 70);
    assert_eq!(found["verified"], true);
}

#[test]
fn run_json_shows_the_runs() {
    let found = json(&mut tidegate(
        "run uts --tree tiny --repeat 3 --workers 2 --steal half --json",
    ));
    assert_eq!(found["result"]["nodes"], 3987);
    assert_eq!(found["workers"], 2);
    assert_eq!(found["repetitions"], 3);
    assert!((1..=2).contains(&found["allotment"].as_u64().unwrap()));
    assert_eq!(found["options"]["steal"], "half");
    let [min, median, max] =
        ["min", "median", "max"].map(|name| found["seconds"][name].as_f64().unwrap());
    assert!(0.0 < min && min <= median && median <= max);
    assert!(found["serial_seconds"].as_f64().unwrap() > 0.0);
    assert!(found["breakdown"]["per_worker"].as_array().unwrap().len() >= 2);
}

#[test]
fn serial_run_uses_no_pool() {
    let found = json(&mut tidegate("run fib 15 --serial --json"));
    assert_eq!(found["workers"], 1);
    assert_eq!(found["verified"], true);
    assert!(found["counters"].is_null() && found["options"].is_null());
}

#[test]
fn serial_run_is_not_self_verified() {
    let found = json(&mut tidegate("run loopy 4 --size tiny --serial --json"));
    assert_eq!(found["verified"], false);
    assert!(found["reference"].is_null());
}

/// Runs the command, and returns its output and the label of each line.
fn labels(arguments: &str) -> (String, Vec<String>) {
    let text = text(&mut tidegate(arguments));
    let lines = text.lines().filter(|line| !line.starts_with(' '));
    let labels = lines.map(|line| line.split("  ").next().unwrap().to_owned());
    let labels = labels.filter(|label| label != "note").collect();
    (text, labels)
}

#[test]
fn run_text_is_short() {
    let (text, labels) = labels("run fib 15 --workers 2");
    assert_eq!(labels[1..], ["value", "verified", "time", "speedup"]);
    assert!(
        text.starts_with("fib n=15 closures=move, 2 workers (set by --workers)\n"),
        "{text}"
    );
    let parts = [
        "610\n",
        "(median of 3 runs, ",
        "note        ",
        "too short to judge",
    ];
    assert_contains(&text, &parts);
}

#[test]
fn stats_add_costs_and_counters() {
    let (text, labels) = labels("run fib 15 --workers 2 --repeat 2 --stats");
    #[rustfmt::skip]
    let expected = [
        "value", "verified", "time", "speedup", "cpu", "memory", "allotment", "counters",
        "time split",
    ];
    assert_eq!(labels[1..], expected);
    assert_contains(&text, &[" threads, with or without a slot\n"]);
    assert!(text.lines().all(|line| line.len() <= 80), "{text}");
}

#[test]
fn positional_parameter_may_be_named() {
    let by_name = json(&mut tidegate("run fib --n 12 --json"));
    assert_eq!(by_name["result"]["value"], 144);
    let folder = folder();
    let path = folder.path().to_str().unwrap();
    let required = json(tidegate("run digest --json").args(["--path", path]));
    assert_eq!(required["result"]["files"], 3);
}

#[test]
fn pool_explains_its_worker_count() {
    let explained = |arguments: &str, variable: Option<&str>| {
        let mut command = tidegate(arguments);
        command.env("TIDEGATE_EXPLAIN", "1");
        command.envs(variable.map(|value| ("TIDEGATE_WORKERS", value)));
        messages(&mut command)
    };
    let builder = "set by Builder::workers";
    assert!(explained("run fib 12 --workers 2", Some("3")).contains(builder));
    let variable = explained("run fib 12", Some("3"));
    assert!(variable.contains("set by TIDEGATE_WORKERS"));
    let lines = variable.lines().filter(|line| line.contains(": version "));
    assert_eq!(lines.count(), 1, "not for the warm-up: {variable}");
    let derived = explained("run fib 12", None);
    assert!(
        derived.contains(" worker") && !derived.contains("set by"),
        "{derived}"
    );
}

/// Each row has an option, its value as a flag and as a variable, and the beginning of the value in
/// the report.
#[test]
fn every_option_affects_the_report() {
    for (name, flag, variable, told) in [
        ("idle", "linear:min=10us,step=50us,max=500us", "", "linear"),
        ("steal", "fixed:20", "", "fixed:20"),
        ("victim", "last-victim", "", "last-victim"),
        ("wait", "help-any", "", "help-any"),
        ("places", "core", "", "core"),
        ("bind", "on", "", "true"),
        ("share", "off", "", "off"),
        ("weight", "300", "", "300"),
        ("desire", "a-steal:delta=0.7", "", "a-steal"),
        ("est-cycle", "12500us", "12.5ms", "12500us"),
    ] {
        let by_flag = json(&mut tidegate(&format!("run fib 12 --{name} {flag} --json")));
        let field = name.replace('-', "_");
        let shown = by_flag["options"][&field].to_string();
        assert!(shown.trim_matches('"').starts_with(told), "{name}: {shown}");
        let value = if variable.is_empty() { flag } else { variable };
        let variable = format!("TIDEGATE_{}", field.to_uppercase());
        let by_variable = json(tidegate("run fib 12 --json").env(variable, value));
        assert_eq!(by_variable["options"], by_flag["options"], "{name}");
    }
    assert_eq!(
        json(&mut tidegate("run fib 12 --json"))["options"]["bind"],
        false
    );
}

#[test]
fn program_help_lists_parameters_and_results() {
    for entry in ENTRIES {
        let help = text(&mut tidegate(&format!("run {} --help", entry.name)));
        let mut places = Vec::new();
        for parameter in entry.parameters {
            let name = parameter.name.to_uppercase();
            let shown = match (parameter.positional, parameter.preset) {
                (true, Preset::Required) => format!("\n  <{name}> "),
                (true, _) => format!("\n  [{name}] "),
                (false, _) => format!("\n      --{} ", parameter.name),
            };
            let place = help.find(&shown);
            assert!(place.is_some(), "{shown} in {help}");
            places.push((!parameter.positional, place));
        }
        assert!(places.is_sorted(), "{help}");
        let result = help.split("Result:").nth(1).unwrap();
        for field in entry.result {
            assert!(
                result.contains(&format!("  {} ", field.name)),
                "{} in {help}",
                field.name
            );
        }
    }
}

#[test]
fn a_bad_environment_variable_is_named() {
    for (variable, value) in [
        ("TIDEGATE_WORKERS", "0"),
        ("TIDEGATE_IDLE", "sometimes"),
        ("TIDEGATE_STEAL", "all"),
        ("TIDEGATE_STACK_SIZE", "1"),
        ("TIDEGATE_PLACES", "each"),
        ("TIDEGATE_BIND", "1"),
        ("TIDEGATE_SHARE", "maybe"),
        ("TIDEGATE_WEIGHT", "0"),
        ("TIDEGATE_DESIRE", "wsap:eta=2"),
        ("TIDEGATE_EST_CYCLE", "2s"),
    ] {
        let text = complaint(tidegate("run fib 10").env(variable, value), 2);
        assert!(
            text.contains(variable) && (text.contains("expected") || text.contains("did you mean")),
            "{text}"
        );
    }
}

/// Pictures show an additional run, which is not one of the measured runs.
#[test]
fn separate_run_draws_intervals() {
    let folder = tempfile::tempdir().unwrap();
    let [dot, svg] = ["order.dot", "run.svg"].map(|name| folder.path().join(name));
    let mut command = tidegate("run pipeline 10 3 --workers 2 --json");
    let command = command.arg("--dot").arg(&dot).arg("--svg").arg(&svg);
    let output = command.assert().success().get_output().clone();
    let said = String::from_utf8(output.stderr).unwrap();
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["verified"], true);
    assert_eq!(found["repetitions"], 3);
    assert_contains(&said, &["order.dot: ", "dot -Tsvg -O FILE"]);
    let [dot, svg] = [dot, svg].map(|file| std::fs::read_to_string(file).unwrap());
    // Each item waits for its own previous stage, and for the previous item in the same stage.
    let edges = dot.matches(" -> ").count();
    assert!(edges >= 10 * 2 + 9 * 3, "{dot}");
    assert!(svg.matches("<rect").count() > 10 * 3, "{svg}");
    assert!(dot.contains("label=\"item 9, stage 2\"") && svg.contains("item 9, stage 2: "));
}

#[test]
fn undrawable_picture_is_rejected_before_running() {
    let folder = tempfile::tempdir().unwrap();
    let nowhere = folder.path().join("missing/order.dot");
    let output = tidegate("run series test --dot")
        .arg(&nowhere)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3));
    let said = String::from_utf8(output.stderr).unwrap();
    assert_contains(&said, &["missing/order.dot: cannot write a picture"]);
}

#[test]
fn budget_of_serial_peak_suffices() {
    let serial = json(&mut tidegate("run memfib --size tiny --serial --json"));
    let s1 = serial["peak_declared_bytes"].as_u64().unwrap();
    assert_eq!(s1, 10 << 10);
    assert!(serial["memory_sleeps"].is_null());
    let line =
        format!("run memfib --size tiny --workers 2 --memory budget:{s1},serial={s1} --json");
    let found = json(&mut tidegate(&line));
    assert_eq!(found["verified"], true);
    assert_eq!(found["peak_declared_bytes"], s1);
    assert_eq!(
        found["options"]["memory"],
        "budget:bytes=10KiB,serial=10KiB"
    );
}

/// In each case, a reservation exceeds the whole budget, or the serial run needs more memory than
/// stated.
#[test]
fn exceeded_budget_prints_one_error() {
    let cases = [
        (
            "nested --size tiny",
            "larger than the whole budget of 16 bytes",
        ),
        ("memfib --size tiny", "a reservation of 1KiB is larger than"),
    ];
    for (program, what) in cases {
        let line = format!("run {program} --workers 2 --memory budget:16,serial=8");
        let told = complaint(&mut tidegate(&line), 3);
        assert_contains(&told, &[what, "tidegate run PROGRAM --serial"]);
        assert_eq!(told.lines().count(), 1, "{told}");
    }
    let serial = tidegate("run memfib --size tiny --serial")
        .output()
        .unwrap();
    let serial = String::from_utf8(serial.stdout).unwrap();
    assert_contains(&serial, &["for a budget, use serial=10KiB"]);
    let line = "run memfib --size tiny --workers 2 --memory budget:9KiB,serial=9KiB";
    let told = complaint(&mut tidegate(line), 3);
    assert_contains(&told, &["the serial run needs more than serial=9KiB"]);
}
