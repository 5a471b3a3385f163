//! A program that collapses under its confinement is freed for good, and keeps its row.
//!
//! The guard needs a process whose threads are all runnable. A process of the standard test harness
//! always has a thread that waits, so this test has a `main` of its own, and plays the command, the
//! watcher and the program.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::parent_id;
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tidegate_exec::{Following, How, Means, Options, SUBCOMMAND, watch};
use tidegate_machine::Machine;
use tidegate_policy::share::SharePolicy;
use tidegate_policy::tunables::EXEC_GUARD_INVOLUNTARY;
use tidegate_share::{CpuMask, Location, Name, Observer, Report, Seat, confinement};

const PATIENCE: Duration = Duration::from_secs(30);

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["spin", threads] => spin(threads.parse().expect("a number")),
        ["command", table, threads] => command(Path::new(table), threads),
        [subcommand, record] if subcommand == SUBCOMMAND => watch(Some(Path::new(record))),
        _ => test(&words),
    }
    ExitCode::SUCCESS
}

/// Runs the test as the standard harness would, if the names among its options select it.
fn test(options: &[&str]) {
    let name = "collapsing_program_is_freed";
    let mut names = options
        .iter()
        .filter(|option| !option.starts_with('-'))
        .peekable();
    if names.peek().is_none() || names.any(|part| name.contains(part)) {
        println!("running 1 test");
        collapsing_program_is_freed();
        println!("test {name} ... ok");
    }
}

/// Keeps this many threads busy while the parent lives.
fn spin(threads: usize) {
    let parent = parent_id();
    let spin = move || while parent_id() == parent {};
    for _ in 1..threads {
        thread::spawn(spin);
    }
    spin();
}

/// Follows a program with `threads` threads that spin, until standard input ends.
fn command(table: &Path, threads: &str) {
    let location = Location::at(table);
    let seat = Seat::take(&location, &Name::new("program")).expect("a seat");
    let means = Means::prepare(How::Affinity, &location);
    let mut program = Command::new("/proc/self/exe");
    program
        .args(["spin", threads])
        .env(confinement::VARIABLE, confinement::own_name());
    let mut program = program.spawn().expect("it starts");
    let pid = i32::try_from(program.id()).expect("a number");
    println!("{pid}");
    let options = Options {
        command: vec!["spin".into()],
        name: None,
        weight: 100,
        min: 0,
        max: None,
        how: How::Affinity,
        jobserver: None,
        kill_with_command: false,
        explain: false,
        share: SharePolicy::Auto,
    };
    let following = Following::begin(&options, (seat, &Machine::read()), means, None, pid);
    let stop = following.stop();
    let following = thread::spawn(move || following.run());
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
    stop.set();
    following.join().expect("no panic");
    program.kill().expect("it lives");
    let _ = program.wait();
}

/// Returns what a line of the `status` files of a process's threads says.
fn values(pid: i32, name: &str) -> Vec<String> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task"))
        .expect("it lives")
        .flatten();
    let value = |status: String| {
        let value = status.lines().find_map(|line| line.strip_prefix(name));
        value.expect("a value").trim().to_owned()
    };
    tasks
        .filter_map(|task| fs::read_to_string(task.path().join("status")).ok())
        .map(value)
        .collect()
}

/// Whether the kernel preempts the threads so rarely that the guard cannot see a collapse, because
/// many other programs compute.
fn is_calm(pid: i32, length: Duration) -> bool {
    let switches = values(pid, "nonvoluntary_ctxt_switches:");
    let count = |switches: &String| switches.parse::<f64>().expect("a number");
    let least = switches.iter().map(count).fold(f64::INFINITY, f64::min);
    least < 2.0 * EXEC_GUARD_INVOLUNTARY.default as f64 * length.as_secs_f64()
}

fn collapsing_program_is_freed() {
    let own = Machine::read().usable();
    if own.len() < 2 {
        return println!("skipped: needs two processors");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let table = folder.path().join("table.v1");
    let location = Location::at(&table);
    let mut rival = Seat::take(&location, &Name::new("rival")).expect("a seat");
    let mut report = Report::new(CpuMask::from_cpus(own.as_slice().iter().copied()));
    report.desire = own.len();
    let mut command = start(&table, own.len());
    let output = command.stdout.take().expect("a pipe");
    let pid: i32 = first_line(output).parse().expect("a number");
    let errors = command.stderr.take().expect("a pipe");
    let message = thread::spawn(move || first_line(errors));
    let mut beat = || {
        rival.publish(&report).expect("the table is there");
        thread::sleep(Duration::from_millis(50));
        rival.shares().expect("the table is there").allotment
    };
    let begin = Instant::now();
    while !message.is_finished() {
        beat();
        if begin.elapsed() > PATIENCE {
            let is_calm = is_calm(pid, begin.elapsed());
            command.kill().expect("it lives");
            command.wait().expect("a child");
            assert!(is_calm, "the program has not been freed");
            return println!("skipped: the machine is too busy");
        }
    }
    let message = message.join().expect("text");
    let expected = "tidegate exec: the program is not confined any more: the threads of process ";
    assert!(message.starts_with(expected), "{message}");
    for _ in 0..20 {
        assert!(beat() < own.len(), "the program has given up its row");
    }
    let masks = values(pid, "Cpus_allowed_list:");
    assert_eq!(masks.len(), own.len());
    assert!(
        masks.iter().all(|mask| *mask == own.to_string()),
        "{masks:?}"
    );
    drop(command.stdin.take());
    assert!(command.wait().expect("a child").success());
    let observer = Observer::open(&location).expect("a table");
    let jobs = observer.expect("a table").jobs().expect("readable");
    assert_eq!(jobs.len(), 1, "only the rival is left");
    let files = fs::read_dir(folder.path()).expect("a folder");
    assert_eq!(files.count(), 1, "only the table");
}

/// Starts the command with a program of this many threads.
fn start(table: &Path, threads: usize) -> Child {
    let mut command = Command::new("/proc/self/exe");
    command.arg("command").arg(table).arg(threads.to_string());
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command.spawn().expect("it starts")
}

fn first_line(from: impl Read) -> String {
    let mut line = String::new();
    BufReader::new(from).read_line(&mut line).expect("a line");
    line.trim_end().to_owned()
}
