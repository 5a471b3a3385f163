//! Runs with the fake engines of `tests/fake`, which inject faults.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;
use std::thread;

use rustix::process::Signal;

use crate::kills::{ended, signal, start, wait_for};
use crate::support::{Ended, Fan};

tests! {
    results_are_those_of_local, failures_are_told, forgotten_rounds_are_submitted_again, missing_hq,
    missing_server, refusal_is_told, arrays_are_whole, arrays_are_small_enough,
    variables_of_others_are_ignored, filters_of_slurm_are_ignored, refused_cancelling_is_told,
    second_interrupt_does_not_wait,
    rounds_of_other_engines_are_told, interrupts_hide_no_error, pieces_of_other_plans_leave_no_log,
}

const SUM: &str = "sum --below 100 --pieces 7";

/// Faults that happen to the same run. Each has the content of its file.
const FAULTS: &[&[(&str, &str)]] = &[
    &[],
    &[("kill", "")],
    &[("kill", ""), ("lie", "")],
    &[("lost", "")],
    &[("twice", "")],
    &[("hang", "")],
    &[("silent", "2")],
];

/// Returns a folder that has the fakes in its folder `bin`, with faults.
fn fakes(faults: &[(&str, &str)]) -> Fan {
    let fan = Fan::new();
    fs::create_dir(fan.path("bin")).expect("a folder");
    let fakes = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fake");
    for fake in fs::read_dir(fakes).expect("the fakes") {
        let fake = fake.expect("a fake");
        let link = fan.path("bin").join(fake.file_name());
        symlink(fake.path(), link).expect("a link");
    }
    for (name, text) in faults {
        fs::write(fan.path(&format!("bin/fault.{name}")), text).expect("a file");
    }
    fan
}

fn run(fan: &Fan, engine: &str, options: &str) -> Ended {
    Ended::of(command(fan, engine, options).output().expect("a process"))
}

/// Returns a run of the program, which finds the fakes on its path.
fn command(fan: &Fan, engine: &str, options: &str) -> Command {
    let has_dir = options.contains("--dir");
    let dir = if has_dir { "" } else { "--dir D" };
    let mut words = format!("run {SUM} {dir} --engine {engine} {options}");
    if engine == "k8s" {
        words += &format!(" --image i --claim data:{}", fan.path("").display());
    }
    let path = std::env::var("PATH").expect("a path");
    let path = format!("{}:{path}", fan.path("bin").display());
    let mut command = fan.command(&words);
    command.env("PATH", path);
    command
}

/// Calls `test` for each engine, at the same time: a run waits most of the time.
fn for_each_engine(test: impl Fn(&'static str) + Sync) {
    thread::scope(|scope| {
        for engine in ["hq", "slurm", "k8s"] {
            let test = &test;
            scope.spawn(move || test(engine));
        }
    });
}

fn results_are_those_of_local() {
    let local = &Fan::new().output(&format!("run {SUM}")).done();
    for_each_engine(|engine| {
        thread::scope(|scope| {
            for faults in FAULTS {
                scope.spawn(move || {
                    let fan = fakes(faults);
                    let ended = run(&fan, engine, "--call-limit 5");
                    assert_eq!(ended.code, Some(0), "{engine} {faults:?} {ended:?}");
                    assert_eq!(&ended.out, local, "{engine} {faults:?}");
                });
            }
        });
    });
}

fn failures_are_told() {
    for_each_engine(|engine| {
        let fan = fakes(&[]);
        let ended = run(&fan, engine, "--at 55 --fault never");
        assert_eq!(ended.code, Some(2), "{engine} {ended:?}");
        assert!(ended.err.contains("bad 55"), "{engine} {ended:?}");
    });
}

fn forgotten_rounds_are_submitted_again() {
    let local = Fan::new().output(&format!("run {SUM}")).done();
    for_each_engine(|engine| {
        let fan = fakes(&[]);
        thread::scope(|scope| {
            let run = scope.spawn(|| run(&fan, engine, "--from 0"));
            let pid = fan.held(0, &[]);
            fs::write(fan.path("bin/fault.forget"), "").expect("a file");
            fan.held(0, &[pid]);
            fan.go();
            assert_eq!(run.join().expect("a run").done(), local, "{engine}");
        });
        let rounds = fan.read("D/rounds");
        let rounds = rounds.lines().filter(|line| !line.is_empty());
        assert_eq!(rounds.count(), 2, "{engine}");
    });
}

/// It has never taken anything.
fn missing_server() {
    let fan = fakes(&[]);
    let hq = fan.path("bin/hq");
    fs::remove_file(&hq).expect("a link");
    let text = r#"{"error":"No running instance of HQ found"}"#;
    fs::write(&hq, format!("#!/bin/sh\necho '{text}'\nexit 1\n")).expect("a file");
    fs::set_permissions(&hq, fs::Permissions::from_mode(0o755)).expect("a program");
    let may = " may go on in hq: hq job: No running instance of HQ found";
    run(&fan, "hq", "--retries 0").told(3, &[may]);
}

fn missing_hq() {
    let fan = Fan::new();
    let mut command = command(&fan, "hq", "");
    let ended = Ended::of(command.env("PATH", "").output().expect("a process"));
    ended.refused(2, &["hq is not on the path", "cargo build"]);
}

/// Slurm keeps a failed job of the round's name.
fn refusal_is_told() {
    let reason = "Requested node configuration is not available";
    let fan = fakes(&[("refuse", reason)]);
    run(&fan, "slurm", "--retries 0").told(3, &[reason]);
}

/// A variable of sbatch wins against what the script says.
fn arrays_are_whole() {
    let fan = fakes(&[]);
    let mut command = command(&fan, "slurm", "--retries 0");
    command.env("SBATCH_ARRAY_INX", "0-3");
    Ended::of(command.output().expect("a process")).done();
}

/// An array of seven elements is refused, and one of three is not.
fn arrays_are_small_enough() {
    let fan = fakes(&[("small", "3")]);
    run(&fan, "slurm", "--retries 0").done();
}

/// `run` may be a piece of another engine, and its own engine hands on what that has set.
fn variables_of_others_are_ignored() {
    let local = Fan::new().output(&format!("run {SUM}")).done();
    let entry = r#"{"plan":"x","item":"1"}"#;
    for_each_engine(|engine| {
        let fan = fakes(&[]);
        let run = |options| {
            let mut command = command(&fan, engine, options);
            command.env("HQ_ENTRY", entry);
            command.envs([("SLURM_ARRAY_TASK_ID", "1"), ("JOB_COMPLETION_INDEX", "1")]);
            Ended::of(command.output().expect("a process"))
        };
        assert_eq!(run("").done(), local, "{engine}");
        let failed = run("--at 55 --fault never --dir E");
        assert!(failed.err.contains("bad 55"), "{engine} {failed:?}");
    });
}

/// Otherwise, squeue would not list the pieces, and scancel not end them.
fn filters_of_slurm_are_ignored() {
    let fan = fakes(&[]);
    let mut run = command(&fan, "slurm", "--from 0");
    run.env("SQUEUE_PARTITION", "other");
    run.env("SCANCEL_PARTITION", "other");
    let run = start(&mut run);
    fan.held(0, &[]);
    wait_for("list", || fan.path("bin/listed").exists().then_some(()));
    signal(run.id(), Signal::INT);
    let run = ended(run);
    fan.go();
    assert_eq!(run.code, Some(130), "{run:?}");
    assert!(fan.path("bin/jobs/4711/cancelled").exists(), "{run:?}");
}

fn refused_cancelling_is_told() {
    for_each_engine(|engine| {
        let fan = fakes(&[("deny", "")]);
        let run = start(&mut command(&fan, engine, "--from 0"));
        fan.held(0, &[]);
        signal(run.id(), Signal::INT);
        let run = ended(run);
        fan.go();
        assert_eq!(run.code, Some(130), "{engine} {run:?}");
        let parts = [" may go on in ", "Forbidden", "interrupted: "];
        let has_told = parts.iter().all(|part| run.err.contains(part));
        assert!(has_told, "{engine} {run:?}");
    });
}

/// The first one asks an engine to cancel its pieces, which may not answer.
fn second_interrupt_does_not_wait() {
    let fan = fakes(&[]);
    let mut run = command(&fan, "hq", "--from 0 --call-limit 1000");
    let mut run = run.spawn().expect("a process");
    fan.held(0, &[]);
    let silent = fan.path("bin/fault.silent");
    fs::write(&silent, "1000").expect("a file");
    wait_for("hanging call", || {
        let left = fs::read_to_string(&silent).unwrap_or_default();
        (left == "999\n").then_some(())
    });
    let status = wait_for("end", || {
        signal(run.id(), Signal::INT);
        run.try_wait().expect("a state")
    });
    assert_eq!(status.code(), Some(130));
    fan.go();
}

/// A `run` that was killed has left them.
fn rounds_of_other_engines_are_told() {
    let fan = fakes(&[]);
    let mut killed = start(&mut command(&fan, "hq", "--from 0"));
    fan.held(0, &[]);
    killed.kill().expect("it runs");
    killed.wait().expect("an end");
    fan.go();
    let may = " may still run in hq: use --engine hq";
    run(&fan, "local", "--from 0").told(0, &[may]);
}

/// It is caught while pieces are ended, which may take long.
fn interrupts_hide_no_error() {
    let fan = fakes(&[]);
    let run = start(&mut command(&fan, "hq", "--from 0 --call-limit 2"));
    fan.held(0, &[]);
    fs::write(fan.path("bin/fault.silent"), "1000").expect("a file");
    fs::write(fan.path("D/1~b~7~1.differs"), "").expect("a file");
    wait_for("the end of the run", || {
        let left = fs::read_to_string(fan.path("bin/fault.silent")).unwrap_or_default();
        (left.trim() == "998").then_some(())
    });
    signal(run.id(), Signal::INT);
    let run = ended(run);
    fan.go();
    run.told(130, &["interrupted: ", ".differs"]);
}

/// An engine may start one late, after `--fresh`.
fn pieces_of_other_plans_leave_no_log() {
    let fan = Fan::new();
    fan.output(&format!("run {SUM} --dir D")).done();
    let mut piece = fan.command("piece --plan D/plan.json --out D --item-from HQ_ENTRY");
    piece.env("HQ_ENTRY", r#"{"plan":"x","item":"1"}"#);
    let piece = Ended::of(piece.output().expect("a process"));
    piece.refused(2, &["names an item of another plan"]);
    assert!(!fan.path("D/1.err").exists());
}
