//! Runs the program on test folders, and compares its report with a serial computation.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};

fn app(path: &Path, options: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rayon-app"));
    command.arg(path).args(options).output().unwrap()
}

fn found(path: &Path, options: &[&str]) -> Value {
    let output = app(path, options);
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn words_are_counted_over_all_files() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("below")).unwrap();
    fs::write(folder.path().join("a"), "Tide, tide; GATE\n").unwrap();
    fs::write(
        folder.path().join("below/b"),
        b"gate\xff\xfftide 42 \xc3\xa4on",
    )
    .unwrap();
    fs::write(folder.path().join("empty"), "").unwrap();
    let expected = json!({
        "files": 3, "words": 7, "distinct": 4, "longest": "gate",
        "top": [{ "word": "tide", "times": 3 }, { "word": "gate", "times": 2 }],
    });
    assert_eq!(found(folder.path(), &["--json", "--top", "2"]), expected);
    let text = String::from_utf8(app(folder.path(), &["--top", "1"]).stdout).unwrap();
    let lines = "files     3\nwords     7\ndistinct  4\nlongest   gate\n        3 tide\n";
    assert_eq!(text, lines);
}

#[test]
fn a_serial_computation_finds_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let mut counts = BTreeMap::new();
    for file in 0..40_u64 {
        let mut text = String::new();
        for place in 0..file * 50 {
            // Use only 997 different words, so that files share words.
            let number = (file * 7919 + place * 104_729) % 997;
            text += &format!("w{number}\n");
            *counts.entry(format!("w{number}")).or_insert(0_u64) += 1;
        }
        let below = folder.path().join(format!("{}", file % 5));
        fs::create_dir_all(&below).unwrap();
        fs::write(below.join(file.to_string()), text).unwrap();
    }
    let mut words: Vec<_> = counts.iter().collect();
    words.sort_by(|(a, times_a), (b, times_b)| times_b.cmp(times_a).then(a.cmp(b)));
    let top: Vec<_> = words
        .iter()
        .map(|(word, times)| json!({ "word": word, "times": times }))
        .collect();
    let report = found(folder.path(), &["--json", "--top", "1000"]);
    assert_eq!(report["words"], counts.values().sum::<u64>());
    assert_eq!(report["distinct"], counts.len());
    assert_eq!(report["top"], Value::Array(top));
}

#[test]
fn what_is_missing_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let output = app(&folder.path().join("none"), &[]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(3), 0));
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("none\" cannot be read"), "{told}");
    assert_eq!(
        app(folder.path(), &["--top", "many"]).status.code(),
        Some(2)
    );
    let nothing = found(folder.path(), &["--json"]);
    assert_eq!(nothing["words"], 0);
    assert_eq!(nothing["longest"], Value::Null);
}

/// A file that cannot be read must be reported, and the other files counted. The superuser can read
/// every file.
#[cfg(unix)]
#[test]
fn unreadable_entries_are_left_out() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("open"), "word").unwrap();
    let shut = folder.path().join("shut");
    fs::write(&shut, "word").unwrap();
    fs::set_permissions(&shut, fs::Permissions::from_mode(0o000)).unwrap();
    if fs::read(&shut).is_ok() {
        println!("this user may read everything");
        return;
    }
    let output = app(folder.path(), &["--json"]);
    assert_eq!(output.status.code(), Some(3));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["words"], 1);
    assert!(String::from_utf8_lossy(&output.stderr).contains("shut"));
}
