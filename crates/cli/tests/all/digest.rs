//! Tests the output that `tidegate run digest` prints in addition to its result.
//!
//! These tests run only on Linux: other systems lack `/dev/full`, and their file systems reject
//! some of the file names.

#![cfg(target_os = "linux")]

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};

use crate::support::{assert_contains, complaint, json, text, tidegate};
use tempfile::TempDir;

/// File names of all kinds: plain, with a space, escaped by `sha256sum`, not UTF-8, with a terminal
/// escape sequence, and `-`.
const NAMES: [&[u8]; 7] = [
    b"plain",
    b"with space",
    b"back\\slash",
    b"line\nbreak",
    b"\xff\xfe",
    b"\x1b[31mred",
    b"-",
];

fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in NAMES {
        fs::write(folder.path().join(OsStr::from_bytes(name)), name).unwrap();
    }
    symlink("plain", folder.path().join("link")).unwrap();
    folder
}

#[test]
fn speedup_needs_a_warm_up() {
    let folder = folder();
    let warm = text(tidegate("run digest").arg(folder.path()));
    assert!(warm.contains("\nspeedup  "), "{warm}");
    let cold = text(tidegate("run digest --repeat 2").arg(folder.path()));
    assert!(!cold.contains("\nspeedup  "), "{cold}");
    assert!(cold.contains("\nserial  "), "{cold}");
}

#[test]
fn sha256sum_accepts_the_list() {
    if Command::new("sha256sum").arg("--version").output().is_err() {
        println!("no sha256sum here");
        return;
    }
    let folder = folder();
    let list = tidegate("run digest --list")
        .arg(folder.path())
        .assert()
        .success();
    let lines = list.get_output().stdout.clone();
    assert_eq!(
        lines.iter().filter(|byte| **byte == b'\n').count(),
        NAMES.len()
    );
    assert_cmd::Command::new("sha256sum")
        .args(["--check", "--strict", "--quiet"])
        .current_dir(folder.path())
        .write_stdin(lines)
        .assert()
        .success();
}

#[test]
fn printed_names_have_no_control_characters() {
    let folder = folder();
    let text = text(tidegate("run digest").arg(folder.path()));
    assert!(
        !text.contains(|c: char| c.is_control() && c != '\n'),
        "{text:?}"
    );
    for escaped in [
        r"\u{1b}[31mred",
        r"line\nbreak",
        r"\xff\xfe",
        r"back\\slash",
    ] {
        assert!(text.contains(escaped), "{escaped} in {text}");
    }
}

#[test]
fn names_in_messages_are_escaped_too() {
    let missing = complaint(tidegate("run digest").arg("/no\x1b[31m\nfolder"), 3);
    assert!(missing.contains(r"/no\u{1b}[31m\nfolder"), "{missing:?}");
    let unknown = complaint(tidegate("run").arg("\x1b[31m"), 2);
    let extra = complaint(tidegate("run fib 1").arg("\x1b[31m"), 2);
    for text in [unknown, extra] {
        assert!(!text.contains('\x1b'), "{text:?}");
    }
}

/// With `--verbose`, the list must contain all problems.
#[test]
fn problem_list_stops_at_ten() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..12 {
        fs::write(folder.path().join(format!("odd\t{number:02}")), "").unwrap();
    }
    let named = |text: &str| text.lines().filter(|line| line.contains(r"odd\t")).count();
    let some = text(tidegate("run digest").arg(folder.path()));
    assert_eq!(named(&some), 10);
    assert_contains(&some, &["odd_names: 12\n", "and 2 more"]);
    let all = text(tidegate("run digest --verbose").arg(folder.path()));
    assert_eq!(named(&all), 12);
}

#[test]
fn digest_counts_are_verified_serially() {
    let folder = folder();
    let found = json(tidegate("run digest --json").arg(folder.path()));
    let bytes: usize = NAMES.iter().map(|name| name.len()).sum();
    assert_eq!(found["result"]["files"], NAMES.len());
    assert_eq!(found["result"]["bytes"], bytes);
    assert_eq!(found["result"]["links"], 1);
    assert_eq!(found["verified"], true);
    assert_eq!(found["reference"], "the serial version");
    let serial = json(tidegate("run digest --json --serial").arg(folder.path()));
    assert_eq!(serial["result"], found["result"]);
}

/// The summary must also state the rate.
#[test]
fn digest_summary_explains_its_workers() {
    let folder = folder();
    let text = text(tidegate("run digest").arg(folder.path()));
    assert!(text.lines().next().unwrap().contains("cpus"), "{text}");
    assert!(
        text.lines()
            .any(|line| line.starts_with("rate") && line.contains("/s")),
        "{text}"
    );
}

#[test]
fn only_folders_can_be_digested() {
    let folder = folder();
    for name in ["plain", "link", "missing"] {
        let text = complaint(tidegate("run digest").arg(folder.path().join(name)), 3);
        assert!(text.contains(name), "{text}");
    }
}

#[test]
fn closed_pipe_ends_output_quietly() {
    let folder = folder();
    for arguments in [
        "run digest --list",
        "run digest",
        "run digest --json",
        "run digest --help",
    ] {
        // The process that should read from this pipe has already exited.
        let mut reader = Command::new("true").stdin(Stdio::piped()).spawn().unwrap();
        let pipe = reader.stdin.take().unwrap();
        reader.wait().unwrap();
        let program = assert_cmd::cargo::cargo_bin!("tidegate");
        let output = Command::new(program)
            .args(arguments.split_whitespace())
            .arg(folder.path())
            .stdout(pipe)
            .stderr(Stdio::piped())
            .spawn()
            .and_then(|child| child.wait_with_output())
            .unwrap();
        assert!(output.status.success(), "{arguments}: {output:?}");
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(
            !told.contains("panicked") && !told.contains("Broken"),
            "{arguments}: {told}"
        );
    }
}

#[test]
fn unwritable_output_is_a_failure() {
    let full = fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let output = Command::new(assert_cmd::cargo::cargo_bin!("tidegate"))
        .arg("tunables")
        .stdout(full)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3));
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains("cannot write to standard output"), "{told}");
}
