//! Tests `tidegate exec --jobserver` with a real `make`.
#![cfg(target_os = "linux")]

use std::{env, fs};

use tidegate_testkit::on_path;

use crate::support::jobs::{Home, PATIENCE};
use crate::support::text;

/// Runs each `make` of the path with these rules below `exec OPTIONS`, where it is the first one. The
/// rules must succeed.
fn make(options: &str, rules: &str) {
    for make in on_path("make") {
        let home = Home::new();
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("Makefile"), rules).expect("a file");
        let mut command = home.tidegate(&format!("exec {options} -- make"));
        command.current_dir(folder.path());
        let first = make.parent().expect("a folder").display();
        let path = format!("{first}:{}", env::var("PATH").expect("a path"));
        command
            .env("PATH", path)
            .env_remove("MAKEFLAGS")
            .timeout(PATIENCE)
            .assert()
            .success()
            .stderr("");
    }
}

/// Each of two jobs waits for the other.
#[test]
fn tokens_reach_make() {
    if std::thread::available_parallelism().is_ok_and(|processors| processors.get() == 1) {
        eprintln!("skipped: the program may run only one job on one processor");
        return;
    }
    let rules = "\
all: 1 2
1 2:
\t@>begun$@; until [ -e begun1 ] && [ -e begun2 ]; do sleep 0.01; done
";
    make("--jobserver=2", rules);
}

/// A job fails if it is the third one at a time.
#[test]
fn make_runs_no_more_jobs_than_allowed() {
    let rules = "\
all: 1 2 3 4 5 6 7 8
1 2 3 4 5 6 7 8:
\t@at=a; mkdir a 2>/dev/null || { at=b; mkdir b; } && sleep 0.02 && rmdir $$at
";
    make("--jobserver=2", rules);
}

/// A job fails if it is the second one at a time.
#[test]
fn maximum_bounds_the_jobs() {
    let rules = "\
all: 1 2 3 4
1 2 3 4:
\t@mkdir a && sleep 0.02 && rmdir a
";
    for jobserver in ["--jobserver=9", "--jobserver"] {
        make(&format!("{jobserver} --max 1"), rules);
    }
}

/// `cargo` has flags of its own in `CARGO_MAKEFLAGS`.
#[test]
fn each_variable_keeps_its_own_flags() {
    let home = Home::new();
    let script = "echo \"$MAKEFLAGS|$CARGO_MAKEFLAGS\"";
    let mut command = home.tidegate("exec --jobserver=2 -- sh -c");
    command
        .arg(script)
        .env("MAKEFLAGS", "k")
        .env("CARGO_MAKEFLAGS", "-i");
    let told = text(&mut command);
    let (of_make, of_cargo) = told.trim_end().split_once('|').expect("both");
    let added = of_make.strip_prefix("k -j ").expect("the flags of make");
    assert!(added.contains("--jobserver-auth="), "{told}");
    assert_eq!(of_cargo.strip_prefix("-i -j "), Some(added));
}
