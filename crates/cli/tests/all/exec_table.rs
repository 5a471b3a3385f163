//! Tests the row of `tidegate exec` in the table, and tables that it cannot use.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::exec::{Started, shell};
use crate::support::complaint;
use crate::support::jobs::{Home, Running, eventually};
use tidegate_share::{Location, Name, ROWS, Seat};

#[test]
fn program_has_a_row_while_it_runs() {
    let (mut started, _) = Started::new("echo ready; exec cat");
    // The program desires a processor until it waits for its input.
    eventually(|| started.home.jobs()[0]["desire"] == 0);
    eventually(|| started.home.jobs()[0]["in_use"] == 0);
    let rows = started.home.jobs();
    assert!(rows[0]["efficiency"].is_null());
    assert_eq!((rows.len(), &rows[0]["name"]), (1, &"sh".into()));
    assert_eq!(rows[0]["pid"], started.pid());
    started.input = None;
    assert_eq!(started.code(), Some(0));
    assert!(started.home.jobs().is_empty());
}

/// A shell has started one, and has then become the command.
#[test]
fn older_process_is_not_the_programs() {
    let home = Home::new();
    let script = "while kill -0 $$; do :; done & exec \"$0\" exec -- cat";
    let mut command = Command::new("sh");
    command
        .args(["-c", script, env!("CARGO_BIN_EXE_tidegate")])
        .env("TIDEGATE_TABLE", home.table());
    command.stdin(Stdio::piped()).stderr(Stdio::null());
    let _command = Running(command.spawn().expect("it starts"));
    eventually(|| home.jobs().first().is_some_and(|row| row["desire"] == 0));
}

#[test]
fn row_shows_the_options() {
    let options = "--name n --weight 300 --max 1";
    let (started, _) = Started::with(options, "auto", "echo ready; exec cat");
    let row = &started.home.jobs()[0];
    assert_eq!((&row["name"], &row["weight"]), (&"n".into(), &300.into()));
    assert_eq!(row["limit"], 1);
}

/// What other programs may do to a table in use, or to its folder.
#[rustfmt::skip]
const ATTACKS: [&str; 18] = [
    "rm table", "truncate -s 0 table", "truncate -s 100 table", "truncate -s 4096 table",
    "truncate -s 5000 table", "truncate -s 9M table",
    "head -c $(stat -c %s table) /dev/zero | dd of=table conv=notrunc",
    "head -c $(stat -c %s table) /dev/urandom | dd of=table conv=notrunc",
    "echo text >other && mv other table", "cp table other && mv other table", "ln table other",
    "chmod 666 table", "chmod 0 table", "rm table; mkdir table", "mkfifo other && mv other table",
    "ln -s /dev/zero other && mv other table", "rm -r \"$PWD\"", "mv \"$PWD\" \"$PWD-moved\"",
];

/// All are attacked at once, so that the commands have time to notice it.
#[test]
fn attacked_tables_cost_one_line() {
    let script = "sleep 1000 & echo ready; read line; kill $!; exit";
    let start = |attack| {
        let home = Home::new();
        let folder = home.table().parent().expect("a folder").to_owned();
        let programs = [7, 8].map(|code| {
            let mut command = home.program("exec -- sh -c");
            command
                .arg(format!("{script} {code}"))
                .stdin(Stdio::piped());
            let mut child = command
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .expect("it starts");
            let line = BufReader::new(child.stdout.as_mut().expect("a pipe"))
                .read_line(&mut String::new());
            assert_eq!(line.expect("text"), 6);
            (code, child)
        });
        (attack, home, folder, programs)
    };
    let attacked = ATTACKS.map(start);
    for (attack, _, folder, _) in &attacked {
        // One that fails has met a table that a command has just made.
        let mut shell = Command::new("sh");
        let _ = shell.args(["-c", attack]).current_dir(folder).output();
    }
    thread::sleep(Duration::from_millis(300));
    for (attack, home, folder, programs) in attacked {
        let mut newcomer = shell(&home, "", "exit 9");
        let newcomer = (9, newcomer.output().expect("it starts"));
        let programs =
            programs.map(|(code, child)| (code, child.wait_with_output().expect("a child")));
        for (code, output) in programs.into_iter().chain([newcomer]) {
            let told = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(code), "{attack}: {told}");
            assert!(
                told.lines().count() <= 1 && !told.contains("panicked"),
                "{attack}: {told}"
            );
        }
        let _ = fs::remove_dir_all(format!("{}-moved", folder.display()));
    }
}

/// The program runs with the environment that it would have without the command.
#[test]
fn unusable_table_costs_one_line() {
    for path in ["/nowhere/table", "/proc/self/table", "/dev/null"] {
        let mut command = shell(&Home::new(), "", "echo $GOMAXPROCS; exit 7");
        command.env_remove("GOMAXPROCS").env("TIDEGATE_TABLE", path);
        let output = command.assert().code(7).stdout("\n").get_output().clone();
        let told = String::from_utf8(output.stderr).expect("text");
        assert!(
            told.starts_with("tidegate exec: the program runs without sharing: "),
            "{told}"
        );
        assert!(told.contains(path) && told.lines().count() == 1, "{told}");
    }
}

#[test]
fn full_table_costs_one_line() {
    let home = Home::new();
    let location = Location::at(home.table());
    let take = |_| Seat::take(&location, &Name::new("test")).expect("a free row");
    let _seats: Vec<Seat> = (0..ROWS).map(take).collect();
    let told = complaint(&mut shell(&home, "", "exit 7"), 7);
    assert!(
        told.contains("has no room") && told.lines().count() == 1,
        "{told}"
    );
}

#[test]
fn unreadable_folder_costs_one_line() {
    let home = Home::new();
    let file = home.table();
    fs::write(&file, "").expect("a file");
    let mut command = shell(&home, "", "exit 7");
    let told = complaint(command.env("TIDEGATE_TABLE", file.join("table")), 7);
    assert_eq!(told.lines().count(), 1);
}

#[test]
fn switched_off_sharing_takes_no_seat() {
    let home = Home::new();
    let mut command = shell(&home, "", "echo $GOMAXPROCS");
    command
        .env_remove("GOMAXPROCS")
        .env("TIDEGATE_SHARE", "off");
    command.assert().success().stdout("\n").stderr("");
    assert!(!home.table().exists());
}
