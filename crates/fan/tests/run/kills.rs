//! Runs that are interrupted or killed, and pieces that are killed.

use std::fs::{self, File};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};

use crate::support::{Ended, Fan, assert_contains};

tests! {
    killed_pieces_are_tried_again,
    #[cfg(target_os = "linux")]
    killed_run_is_resumed,
    status_shows_living_pieces, interrupts_end_pieces, second_run_is_refused,
}

pub const PATIENCE: Duration = Duration::from_secs(120);

/// Waits until `find` finds something.
pub fn wait_for<T>(what: &str, mut find: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = find() {
            return found;
        }
        assert!(start.elapsed() < PATIENCE, "no {what}");
        sleep(Duration::from_millis(5));
    }
}

impl Fan {
    pub fn start(&self, words: &str) -> Child {
        start(&mut self.command(words))
    }

    /// Waits until a piece other than `known` holds at this number. Returns its process.
    pub fn held(&self, number: u64, known: &[u32]) -> u32 {
        let prefix = format!("{number}~");
        wait_for("piece that holds", || {
            let names = self.names("hold");
            let pids = names.iter().filter_map(|name| name.strip_prefix(&prefix));
            let mut pids = pids.map(|pid| pid.parse().expect("a number"));
            pids.find(|pid| !known.contains(pid))
        })
    }

    /// Lets the pieces that hold go on.
    pub fn go(&self) {
        fs::create_dir_all(self.path("hold")).expect("a folder");
        File::create(self.path("hold/go")).expect("a file");
    }
}

/// Two items, of which the other one holds.
const HALF: &str = "run sum --below 20 --pieces 2 --from 10 --dir D";

pub fn start(command: &mut Command) -> Child {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("a process")
}

pub fn signal(pid: u32, signal: Signal) {
    let pid = Pid::from_raw(pid.cast_signed()).expect("a process");
    kill_process(pid, signal).expect("a signal");
}

pub fn ended(run: Child) -> Ended {
    Ended::of(run.wait_with_output().expect("an end"))
}

/// Waits until a process has ended, even if its parent has not noticed.
fn wait_for_end(pid: u32) {
    wait_for("end", || {
        let exists = test_kill_process(Pid::from_raw(pid.cast_signed())?).is_ok();
        let state = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        (!exists || state.contains(") Z ")).then_some(())
    });
}

/// Waits until the first of the two items is published and the other one holds. Returns the result
/// of the first, and the process of the other.
fn half(fan: &Fan) -> (String, u32) {
    let piece = fan.held(10, &[]);
    wait_for("result", || fan.path("D/0.out").exists().then_some(()));
    (fan.read("D/0.out"), piece)
}

fn none_is_marked_running(fan: &Fan) {
    let names = fan.names("D");
    let is_marked = |name: &&String| name.ends_with(".running");
    assert_eq!(names.iter().find(is_marked), None);
}

/// Runs the rest, and checks that nothing was computed again.
fn resume(fan: &Fan, first: &str) {
    fan.go();
    assert_eq!(fan.output(HALF).done(), "sum 190\n");
    assert_eq!(fan.read("D/0.out"), first);
    none_is_marked_running(fan);
}

fn killed_pieces_are_tried_again() {
    let fan = Fan::new();
    let run = fan.start("run sum --below 20 --pieces 1 --from 0 --dir D");
    let first = fan.held(0, &[]);
    signal(first, Signal::KILL);
    let second = fan.held(0, &[first]);
    signal(second, Signal::KILL);
    fan.held(0, &[first, second]);
    fan.go();
    assert_eq!(ended(run).done(), "sum 190\n");
    none_is_marked_running(&fan);
}

#[cfg(target_os = "linux")]
fn killed_run_is_resumed() {
    let fan = Fan::new();
    let run = fan.start(HALF);
    let (first, piece) = half(&fan);
    signal(run.id(), Signal::KILL);
    wait_for_end(piece);
    assert_eq!(ended(run).code, None);
    resume(&fan, &first);
}

fn interrupts_end_pieces() {
    for (number, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let fan = Fan::new();
        let run = fan.start(HALF);
        let (first, piece) = half(&fan);
        signal(run.id(), number);
        let run = ended(run);
        run.refused(code, &["interrupted: 1 of 2 results are in", "to resume"]);
        wait_for_end(piece);
        assert!(!fan.path("D/1.out").exists());
        resume(&fan, &first);
    }
}

fn status_shows_living_pieces() {
    let fan = Fan::new();
    let run = fan.start(HALF);
    let (_, piece) = half(&fan);
    let line = |what| format!("item 1 {what} on ");
    let process = format!(", process {piece}, begun ");
    let status = fan.output("status D").done();
    assert_contains(&status, &[&line("runs"), &process]);
    signal(run.id(), Signal::KILL);
    signal(piece, Signal::KILL);
    wait_for_end(piece);
    ended(run);
    let status = fan.output("status D").done();
    assert_contains(&status, &[&line("was killed"), &process, "nothing runs"]);
}

fn second_run_is_refused() {
    let fan = Fan::new();
    let run = fan.start(HALF);
    let (first, _) = half(&fan);
    let process = format!("process {} on ", run.id());
    fan.output(HALF).refused(3, &["D/run.lock", &process]);
    fan.go();
    assert_eq!(ended(run).done(), "sum 190\n");
    resume(&fan, &first);
}
