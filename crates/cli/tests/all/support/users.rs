//! Runs programs as an ordinary user, and reads their processors.

use std::fs;
use std::io::{BufRead, BufReader, Lines, Read};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Command, Stdio};

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, geteuid};
use tempfile::TempDir;

use super::jobs::Running;

const NOBODY: u32 = 65534;

/// An ordinary user, with a folder that the user can reach, unlike that in which the test's program
/// was built.
pub struct User(TempDir);

impl User {
    /// Returns `None`, with a message, if this process may not become another user.
    pub fn ordinary() -> Option<Self> {
        if !geteuid().is_root() {
            eprintln!("skipped: only root may become another user");
            return None;
        }
        let user = Self(tempfile::tempdir().expect("a folder"));
        fs::set_permissions(user.0.path(), PermissionsExt::from_mode(0o711)).expect("a folder");
        fs::copy(env!("CARGO_BIN_EXE_tidegate"), user.tidegate()).expect("a copy");
        fs::create_dir(user.own()).expect("a folder");
        fs::set_permissions(user.own(), PermissionsExt::from_mode(0o700)).expect("a folder");
        chown(user.own(), Some(NOBODY), Some(NOBODY)).expect("a folder");
        if user.become_it().arg("true").output().is_err() {
            eprintln!("skipped: there is no setpriv");
            return None;
        }
        Some(user)
    }

    fn become_it(&self) -> Command {
        let mut command = Command::new("setpriv");
        command
            .arg(format!("--reuid={NOBODY}"))
            .arg(format!("--regid={NOBODY}"))
            .arg("--clear-groups");
        command.current_dir("/").env("TIDEGATE_TABLE", self.table());
        command
    }

    /// Returns the user's copy of the command.
    pub fn tidegate(&self) -> PathBuf {
        self.0.path().join("tidegate")
    }

    /// Returns the folder that belongs to the user.
    pub fn own(&self) -> PathBuf {
        self.0.path().join("own")
    }

    pub fn table(&self) -> PathBuf {
        self.own().join("table")
    }

    /// Returns the command with these arguments, which are separated by spaces, as this user.
    pub fn program(&self, arguments: &str) -> Command {
        let mut command = self.become_it();
        command
            .arg(self.tidegate())
            .args(arguments.split_whitespace());
        command
    }

    /// Copies a program of the path, with this mode. The copy belongs to root.
    pub fn copy(&self, name: &str, mode: u32) -> PathBuf {
        let path = std::env::var_os("PATH").expect("a path");
        let mut files = std::env::split_paths(&path).map(|folder| folder.join(name));
        let original = files.find(|file| file.is_file()).expect("a program");
        let copy = self.0.path().join(name);
        fs::copy(original, &copy).expect("a copy");
        fs::set_permissions(&copy, PermissionsExt::from_mode(mode)).expect("a copy");
        copy
    }

    /// Returns whether the setuid program `setpriv` makes this user root.
    pub fn becomes_root_by(&self, setpriv: &Path) -> bool {
        let mut command = self.become_it();
        command.arg(setpriv).args(["--reuid=0", "id", "-ru"]);
        command.output().is_ok_and(|output| output.stdout == b"0\n")
    }
}

/// A shell that spins below `exec` until it is ended.
pub struct Spinning {
    command: Running,
    lines: Lines<BufReader<ChildStdout>>,
    /// The shell's process.
    pub pid: i32,
}

impl Spinning {
    /// Starts a shell with these options of `exec`. The shell runs `script` and then spins.
    pub fn start(user: &User, options: &str, script: &str) -> Self {
        // The shell must not outlive a command that a failed test kills.
        let shell = "setpriv --pdeathsig=KILL sh -c";
        let mut command = user.program(&format!("exec --how affinity {options} -- {shell}"));
        command.arg(format!("echo $$; {script} while :; do :; done"));
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("it starts");
        let lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        let mut spinning = Self {
            command: Running(child),
            lines,
            pid: 0,
        };
        spinning.pid = spinning.number();
        spinning
    }

    /// Returns the number in the next line of the shell's output.
    pub fn number(&mut self) -> i32 {
        let line = self.lines.next().expect("it runs").expect("text");
        line.parse().expect("a number")
    }

    /// Ends the shell, and returns what the command has written to standard error.
    pub fn end(&mut self) -> String {
        let child = &mut self.command.0;
        kill(Pid::from_raw(self.pid), Signal::SIGKILL).expect("it runs");
        child.wait().expect("a child");
        let mut told = String::new();
        let mut errors = child.stderr.take().expect("a pipe");
        errors.read_to_string(&mut told).expect("text");
        told
    }
}

/// Whether the real user of a process is root.
pub fn is_of_root(pid: i32) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    status.lines().any(|line| line.starts_with("Uid:\t0\t"))
}

/// Returns the processors of a thread, in ascending order; none if it has ended.
pub fn mask(tid: i32) -> Vec<usize> {
    let set = sched_getaffinity(Pid::from_raw(tid)).unwrap_or_default();
    let is_set = |cpu: &usize| set.is_set(*cpu).unwrap_or(false);
    (0..CpuSet::count()).filter(is_set).collect()
}

/// Binds this thread, and so the processes that it starts, to two of its processors. Returns
/// `None`, with a message, if it has only one.
pub fn two_processors() -> Option<Vec<usize>> {
    let this_thread = Pid::from_raw(0);
    let Some(two) = mask(0).get(..2).map(<[usize]>::to_vec) else {
        eprintln!("skipped: needs two processors");
        return None;
    };
    let mut set = CpuSet::new();
    two.iter()
        .for_each(|cpu| set.set(*cpu).expect("a processor"));
    sched_setaffinity(this_thread, &set).expect("its own processors");
    Some(two)
}
