//! The processes in these tests: this test binary starts itself with the name of a role.

use crate::follow::cgroups::Cgroups;
use crate::follow::{Following, Means, Stop};
use crate::signals::Signals;
use crate::watcher::Watcher;
use crate::{How, Options, watch};
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::sys::prctl::set_child_subreaper;
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, gettid};
use procfs::process::Process;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Lines, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Instant;
use tidegate_machine::Machine;
use tidegate_policy::share::SharePolicy;
use tidegate_share::confinement::{VARIABLE, own_name};
use tidegate_share::{Location, Name, Seat};
use tidegate_testkit::PATIENCE;

const ROLE: &str = "role:";

const PLAY: [&str; 4] = [
    "follow::tests::roles::play",
    "--exact",
    "--nocapture",
    "--test-threads=1",
];

/// Plays a role if the process was started for that. Otherwise, does nothing.
#[test]
fn play() {
    let Some(role) = std::env::args().find_map(|word| word.strip_prefix(ROLE).map(String::from))
    else {
        return;
    };
    match role.split_once(':') {
        None if role == "program" => program(),
        None if role == "parent" => parent(),
        None => super::masks::free_without_writing(),
        Some(("watch", path)) => watch(Some(Path::new(path))),
        Some(("command", table)) => command(table, How::Affinity, Path::new("/")),
        Some(("quota", table)) => {
            let root = Path::new(table).with_file_name("machine");
            Cgroups::new(&root, std::process::id()).make("cpu cpuset", "cpu cpuset");
            command(table, How::Quota, &root);
        }
        Some(_) => panic!("no such role: {role}"),
    }
}

/// Returns the command that starts a process in this role.
pub(super) fn in_role(role: &str) -> Command {
    let mut command = Command::new("/proc/self/exe");
    command.args(PLAY).arg(format!("{ROLE}{role}"));
    command
}

fn say(what: impl std::fmt::Display) {
    println!("\n={what}");
}

/// A program that does what the lines of its standard input say, and ends with them.
fn program() {
    say(std::process::id());
    for line in std::io::stdin().lines().map_while(Result::ok) {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |at: usize| -> usize { words[at].parse().unwrap() };
        match words[0] {
            "thread" => start_thread(None),
            "pinned" => start_thread(Some(number(1))),
            "pin" => {
                pin(number(1), number(2));
                say("done");
            }
            "fork" => say(fork_twice()),
            "spin" => spin(number(1)),
            _ => panic!("{line}"),
        }
    }
    // Threads that sleep do not keep the process.
    std::process::exit(0);
}

/// Starts a thread that sleeps, and that may bind itself to a processor first.
fn start_thread(processor: Option<usize>) {
    let (started, tid) = mpsc::channel();
    thread::spawn(move || {
        let tid = gettid().as_raw().unsigned_abs() as usize;
        processor
            .into_iter()
            .for_each(|processor| pin(tid, processor));
        started.send(tid).unwrap();
        thread::sleep(PATIENCE);
    });
    say(tid.recv().unwrap());
}

fn pin(tid: usize, processor: usize) {
    let mut set = CpuSet::new();
    set.set(processor).unwrap();
    sched_setaffinity(Pid::from_raw(i32::try_from(tid).unwrap()), &set).unwrap();
}

/// Starts a process whose parent has ended. Returns its number.
fn fork_twice() -> String {
    let script = "sleep 60 >/dev/null 2>&1 & echo $!";
    let child = Command::new("sh").args(["-c", script]).output().unwrap();
    String::from_utf8_lossy(&child.stdout).trim().to_owned()
}

fn spin(threads: usize) {
    let spin = || {
        let begin = Instant::now();
        while begin.elapsed() < 2 * PATIENCE {
            std::hint::spin_loop();
        }
    };
    (1..threads).for_each(|_| drop(thread::spawn(spin)));
    say("done");
    spin();
}

/// The parent of a program, and of all its orphans.
fn parent() {
    set_child_subreaper(true).unwrap();
    in_role("program").spawn().unwrap().wait().unwrap();
}

/// The command: follows a program, which gets the command's standard streams, until that ends.
fn command(table: &str, how: How, root: &Path) {
    let _signals = Signals::block().unwrap();
    set_child_subreaper(true).unwrap();
    let location = Location::at(table);
    let seat = Seat::take(&location, &Name::new("program")).unwrap();
    let mut means = Means::prepare_with(how, &location, root, watcher_in_test);
    let mut program = in_role("program");
    program.env(VARIABLE, own_name());
    let mut program = means.start(|| program.spawn()).unwrap();
    let pid = i32::try_from(program.id()).unwrap();
    let following = Following::begin(&options(), (seat, &Machine::read()), means, None, pid);
    let stop: Stop = following.stop();
    let following = thread::spawn(move || following.run());
    program.wait().unwrap();
    stop.set();
    following.join().unwrap();
}

/// Starts a watcher of the record at this path.
pub(super) fn watcher_in_test(record: &Path) -> io::Result<Watcher> {
    let role = format!("{ROLE}watch:{}", record.display());
    let mut command = Command::new("/proc/self/exe");
    command.args(PLAY).arg(role);
    Watcher::start_as(command)
}

fn options() -> Options {
    Options {
        command: vec!["program".into()],
        name: None,
        weight: 100,
        min: 0,
        max: None,
        how: How::Affinity,
        jobserver: None,
        kill_with_command: false,
        explain: false,
        share: SharePolicy::Auto,
    }
}

/// A process that plays a role.
pub(super) struct Actor {
    pub(super) child: Child,
    input: Option<ChildStdin>,
    output: Lines<BufReader<ChildStdout>>,
    errors: File,
    /// The program's first process, a child of `child`.
    pub(super) program: i32,
}

impl Actor {
    /// Starts a parent and its program, whose environment names this record.
    pub(super) fn parent(record: &str) -> Self {
        let mut actor = Self::start("parent", record);
        actor.program = actor.answer();
        actor
    }

    /// Starts a command and its program, with the table at `table`.
    pub(super) fn command(table: &Path) -> Self {
        Self::command_as("command", table)
    }

    /// Like [`command`](Self::command), but in made-up cgroups, in the folder `machine` beside the
    /// table.
    pub(super) fn quota(table: &Path) -> Self {
        Self::command_as("quota", table)
    }

    fn command_as(role: &str, table: &Path) -> Self {
        let mut actor = Self::start(&format!("{role}:{}", table.display()), "none");
        actor.program = actor.answer();
        actor
    }

    fn start(role: &str, record: &str) -> Self {
        let mut command = in_role(role);
        command.env(VARIABLE, record);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let errors = tempfile::tempfile().unwrap();
        command.stderr(errors.try_clone().unwrap());
        let mut child = command.spawn().unwrap();
        Self {
            input: child.stdin.take(),
            output: BufReader::new(child.stdout.take().unwrap()).lines(),
            errors,
            child,
            program: 0,
        }
    }

    /// Makes the program do something, and returns the number that it answers.
    pub(super) fn order(&mut self, line: &str) -> i32 {
        let input = self.input.as_mut().unwrap();
        writeln!(input, "{line}").unwrap();
        self.answer()
    }

    fn answer(&mut self) -> i32 {
        let mut lines = self.output.by_ref().map(Result::unwrap);
        let answer = lines.find_map(|line| line.strip_prefix('=').map(String::from));
        answer.expect("the process lives").parse().unwrap_or(0)
    }

    /// Returns what the processes have written to standard error.
    pub(super) fn messages(&self) -> String {
        // Not by a seek: the processes write at the same offset.
        let length = self.errors.metadata().unwrap().len();
        let mut text = vec![0; length as usize];
        self.errors.read_exact_at(&mut text, 0).unwrap();
        String::from_utf8(text).unwrap()
    }

    pub(super) fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).unwrap()
    }

    /// Returns the command's watcher, which there is once the program has been confined.
    pub(super) fn watcher(&self) -> Option<i32> {
        let tasks = Process::new(self.pid()).unwrap().tasks().unwrap();
        let lists = tasks.map(|task| task.unwrap().children().unwrap());
        let mut children = lists.flatten().map(|pid| i32::try_from(pid).unwrap());
        children.find(|pid| *pid != self.program)
    }

    /// Kills the program, and waits for the end of the child.
    pub(super) fn kill(&mut self) {
        kill_process(self.program);
        self.end();
    }

    /// Ends the program, and waits for the end of the child.
    pub(super) fn end(&mut self) {
        self.input = None;
        self.child.wait().unwrap();
    }
}

impl Drop for Actor {
    fn drop(&mut self) {
        self.input = None;
        let _ = self.child.kill();
        kill_process(self.program);
        let _ = self.child.wait();
        if thread::panicking() {
            eprint!("{}", self.messages());
        }
    }
}

pub(super) fn kill_process(pid: i32) {
    if pid > 0 {
        let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
    }
}

/// Returns the processors of a thread, in ascending order; none if it has ended.
pub(super) fn mask(tid: i32) -> Vec<usize> {
    let set = sched_getaffinity(Pid::from_raw(tid)).unwrap_or_default();
    (0..CpuSet::count())
        .filter(|cpu| set.is_set(*cpu).unwrap())
        .collect()
}

/// Returns the masks of all threads of a process.
pub(super) fn masks(pid: i32) -> Vec<Vec<usize>> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task"))
        .into_iter()
        .flatten()
        .flatten();
    let tids = tasks.filter_map(|task| task.file_name().to_str()?.parse().ok());
    tids.map(mask).collect()
}

/// Binds this thread, and so the processes that it starts, to two of its processors: the tests expect
/// a rival to leave one to the program. Returns `None`, with a message, if it has only one.
pub(super) fn two_processors() -> Option<Vec<usize>> {
    let Some(two) = mask(0).get(..2).map(<[usize]>::to_vec) else {
        println!("skipped: needs two processors");
        return None;
    };
    let mut set = CpuSet::new();
    two.iter().for_each(|cpu| set.set(*cpu).unwrap());
    sched_setaffinity(Pid::from_raw(0), &set).unwrap();
    Some(two)
}
