//! `tidegate-lab bench exec`: its rows, and what it says if something is missing.
//!
//! The rows need the `tidegate` command in the target folder, which only
//! `cargo build -p tidegate-cli` or tests of the whole workspace build.
#![cfg(target_os = "linux")]

use std::os::unix::fs::symlink;

use crate::support::{assert_contains, complaint, lab};
use serde_json::Value;

/// Whether the rows can be measured here.
fn can_measure() -> bool {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let command = assert_cmd::cargo::cargo_bin!("tidegate-lab").with_file_name("tidegate");
    let can = cpus > 1 && command.is_file();
    if !can {
        println!("skipped: {cpus} processors, and the command is {command:?}");
    }
    can
}

/// Returns the rows, and what was printed to standard error.
fn rows(path: Option<&std::path::Path>) -> (Vec<Value>, String) {
    let mut bench = lab("bench exec --size tiny --repeat 1 --json");
    if let Some(path) = path {
        bench.env("PATH", path);
    }
    let output = bench.assert().success().get_output().clone();
    let rows: Value = serde_json::from_slice(&output.stdout).expect("standard output is JSON");
    let rows = rows.as_array().expect("a list of rows").clone();
    let messages = String::from_utf8(output.stderr).expect("messages are text");
    (rows, messages)
}

/// Each program has a row for each case, whether it is skipped or not.
fn assert_cases(rows: &[Value]) {
    let mut expected = Vec::new();
    for program in ["rayon", "openmp", "make", "xz", "python"] {
        expected.extend(["alone", "two", "beside uts"].map(|case| [program, case]));
        expected.extend((program == "openmp").then_some([program, "narrowed"]));
    }
    expected.push(["sleep", "idle"]);
    let found = rows
        .iter()
        .map(|row| ["program", "case"].map(|field| row[field].as_str().unwrap()));
    assert!(found.eq(expected), "{rows:?}");
}

#[test]
fn programs_have_rows_for_every_case() {
    if !can_measure() {
        return;
    }
    let (rows, messages) = rows(None);
    print!("{messages}");
    assert_cases(&rows);
    for row in &rows {
        match (row["skipped"].as_str(), row["program"] == "sleep") {
            (Some(why), _) => {
                assert!(row["mark"] == "skipped" && row["median_of"] == 0, "{row}");
                let program = row["program"].as_str().unwrap();
                let message = format!("bench exec: skipping {program}: {why}\n");
                assert!(messages.contains(&message), "{message}: {messages}");
            }
            (None, true) => {
                // On a busy machine, the first cycles may last longer than the bench waits.
                let mark = ["unclear", "kept"][usize::from(row["desire"] == 0)];
                assert_eq!(row["mark"], mark, "{row}");
            }
            (None, false) => {
                let time = |field| row[field].as_f64().expect("a number");
                let ratio = time("seconds") / time("base_seconds");
                assert!((time("ratio") / ratio - 1.0).abs() < 1e-9, "{row}");
                assert!(row["mark"] == "kept" || row["mark"] == "unclear", "{row}");
            }
        }
    }
}

/// Without the tools, only the programs of this repository and `sleep` remain.
#[test]
fn programs_without_tools_are_skipped() {
    if !can_measure() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = std::env::var_os("PATH").unwrap();
    let sleep = std::env::split_paths(&path)
        .map(|folder| folder.join("sleep"))
        .find(|sleep| sleep.is_file());
    symlink(sleep.unwrap(), folder.path().join("sleep")).unwrap();
    let (rows, messages) = rows(Some(folder.path()));
    assert_cases(&rows);
    let skipped = rows.iter().filter(|row| row["mark"] == "skipped");
    let mut programs: Vec<_> = skipped.map(|row| row["program"].clone()).collect();
    programs.dedup();
    assert_eq!(programs, ["openmp", "make", "xz", "python"]);
    for tool in ["gcc", "make", "xz", "python3"] {
        let why = format!(": {tool} cannot be started: ");
        assert!(messages.contains(&why), "{why}: {messages}");
    }
}

#[test]
fn missing_command_is_reported() {
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        println!("skipped: one processor cannot be shared");
        return;
    }
    for (path, why) in [
        ("no/such/tidegate", "no/such/tidegate cannot be opened"),
        ("/bin/false", "has no command `exec`: build it"),
    ] {
        let told = complaint(lab("bench exec --tidegate").arg(path), 3);
        assert_contains(&told, &[why, "cargo build", "-p tidegate-cli`"]);
    }
}

/// Fake commands show that the bench does not trust `tidegate exec`.
#[test]
fn misbehaving_command_is_a_failure() {
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        println!("skipped: one processor cannot be shared");
        return;
    }
    for (fake, code, expected) in [
        ("wrong", 1, "sleep: wrong answer"),
        (
            "seatless",
            3,
            "no seat in the table: sleep: tidegate exec: no table",
        ),
    ] {
        let path = format!("{}/tests/fake/exec/{fake}", env!("CARGO_MANIFEST_DIR"));
        let mut bench = lab("bench exec --size tiny --repeat 1 --tidegate");
        let output = bench.arg(path).assert().code(code).get_output().clone();
        let told = String::from_utf8(output.stderr).expect("messages are text");
        assert!(told.contains(expected), "{fake}: {told}");
    }
}

#[test]
fn rayon_program_checks_its_threads() {
    let mut program = lab("bench rayon-uts --size tiny --repeat 2");
    program.env("RAYON_NUM_THREADS", "3");
    program.assert().success().stdout("").stderr("");
    let told = complaint(program.env("RAYON_NUM_THREADS", "0"), 2);
    assert!(told.contains("for RAYON_NUM_THREADS"), "{told}");
}
