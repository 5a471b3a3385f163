//! `tidegate-lab bench rayon-programs`, with a fake cargo and a fake program, because the real
//! programs take half an hour and need a registry. The fake cargo and program are scripts, so these
//! tests run only on Unix.

#![cfg(unix)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::support::{assert_contains, complaint, json, lab};
use assert_cmd::Command;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Creates the command with its own folder. It runs fake programs, whose defect `fake` selects.
fn bench(folder: &Path, fake: &str, arguments: &str) -> Command {
    let mut command = lab(&format!("bench rayon-programs ndarray --json {arguments}"));
    let cargo = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fake/programs/cargo");
    command
        .arg("--dir")
        .arg(folder.join("runs-of-cells"))
        .env("CARGO", cargo)
        .env("SCRATCH", folder)
        .env("RAYON_NUM_THREADS", "3")
        .env("FAKE", fake);
    command
}

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

/// Returns the number of program runs recorded in this folder.
fn runs(folder: &TempDir) -> usize {
    let runs = fs::read_to_string(folder.path().join("runs"));
    runs.map_or(0, |runs| runs.lines().count())
}

#[test]
fn runtimes_run_alone_and_twice() {
    let folder = folder();
    let found = json(&mut bench(folder.path(), "", "--repeat 1"));
    let rows = found.as_array().unwrap();
    let row = |row: &Value| {
        assert_eq!(row["package"], "ndarray 0.17.2");
        assert_eq!((&row["threads"], &row["median_of"]), (&json!(3), &json!(1)));
        assert_eq!(row["equal"], true);
        let is_stock = row["runtime"] == "stock";
        assert_eq!(row["wall_ratio"].is_null(), is_stock, "{row}");
        let runtime = row["runtime"].as_str().unwrap();
        (row["copies"].as_u64().unwrap(), runtime.to_owned())
    };
    let expected = [1, 2].map(|copies| {
        ["stock", "tidegate", "share=auto"].map(|runtime| (copies, runtime.to_owned()))
    });
    let found: Vec<_> = rows.iter().map(row).collect();
    assert_eq!(found, expected.concat());

    let text = fs::read_to_string(folder.path().join("runs")).unwrap();
    let runs: Vec<&str> = text.lines().collect();
    let one = ["stock ", "tidegate ", "tidegate auto"];
    let two = one.map(|run| [run, run]).concat();
    assert_eq!(runs, [&one[..], &two].concat());
}

/// A package's versions in a lock file.
fn locked(side: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let text = fs::read_to_string(side.join("Cargo.lock")).unwrap();
    let lock: toml::Table = text.parse().unwrap();
    let mut versions = BTreeMap::<_, BTreeSet<_>>::new();
    for package in lock["package"].as_array().unwrap() {
        let field = |name| Some(package.get(name)?.as_str()?.to_owned());
        let (name, version) = (field("name").unwrap(), field("version").unwrap());
        let source = field("source").unwrap_or_default();
        versions.entry(name).or_default().insert(version + &source);
    }
    versions
}

/// A ratio would otherwise compare more than the two runtimes.
#[test]
fn both_sides_differ_by_the_runtime() {
    for folder in ["iter", "rayon-programs"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../benches")
            .join(folder);
        let [stock, tidegate] = ["stock", "tidegate"].map(|side| locked(&folder.join(side)));
        let differing = stock.iter().filter(|(name, stock)| {
            // Only one side needs some packages, or another version beside the common one.
            let other = tidegate.get(*name);
            other.is_some_and(|other| !stock.is_subset(other) && !stock.is_superset(other))
        });
        let differing: Vec<_> = differing.map(|(name, _)| name).collect();
        assert_eq!(differing, ["rayon-core"], "{}", folder.display());
        let ours = &tidegate["rayon-core"];
        assert!(ours.iter().eq(["1.13.0"]), "from a folder: {ours:?}");
    }
}

#[test]
fn resume_takes_the_missing_samples() {
    let folder = folder();
    json(&mut bench(folder.path(), "", "--repeat 1"));
    assert_eq!(runs(&folder), 9);
    let found = json(&mut bench(folder.path(), "", "--repeat 2 --resume"));
    assert_eq!(runs(&folder), 18);
    assert_eq!(found[0]["median_of"], 2);
    json(&mut bench(folder.path(), "", "--repeat 1"));
    assert_eq!(runs(&folder), 27);
}

#[test]
fn another_answer_is_a_failure() {
    let folder = folder();
    let mut command = bench(folder.path(), "different", "--repeat 1");
    let output = command.assert().code(1).get_output().clone();
    let rows: Value = serde_json::from_slice(&output.stdout).unwrap();
    let equal = rows.as_array().unwrap().iter().map(|row| &row["equal"]);
    let expected = [true, false, false, true, false, false];
    assert!(equal.eq(expected.iter()), "{rows}");
    let text = String::from_utf8(output.stderr).unwrap();
    let told = "ndarray, 2 on share=auto: another answer than the first run on stock";
    assert!(text.contains(told), "{text}");
    let kept = text.split_whitespace().find(|word| word.ends_with(".txt"));
    let kept = fs::read_to_string(kept.unwrap()).unwrap();
    assert_eq!(kept, "different\n1000 80, 3 threads, no workers\n");
}

#[test]
fn failing_programs_are_named() {
    for (fake, told) in [
        ("unbuilt", "ndarray: cargo did not build"),
        ("failing", "ndarray on stock: "),
        ("failing", "exit status: 7; what it printed is in "),
    ] {
        let folder = folder();
        let mut command = bench(folder.path(), fake, "--repeat 1");
        let output = command.assert().code(3).get_output().clone();
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(text.contains(told), "{fake}: {text}");
        assert_eq!(output.stdout, b"[]\n");
    }
}

/// An invalid number of threads is rejected, too.
#[test]
fn unknown_programs_are_rejected() {
    let told = complaint(&mut lab("bench rayon-programs dust"), 2);
    assert_contains(&told, &["\"dust\": expected du-dust, fclones"]);
    let folder = folder();
    let mut command = bench(folder.path(), "", "");
    let told = complaint(command.env("RAYON_NUM_THREADS", "0"), 2);
    assert_contains(&told, &["invalid value \"0\" for RAYON_NUM_THREADS"]);
}
