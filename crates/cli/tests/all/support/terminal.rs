//! Runs programs on a pseudo terminal, and reads their states.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Instant;

use nix::fcntl::OFlag;
use nix::pty::{grantpt, posix_openpt, ptsname_r, unlockpt};
use nix::sys::ptrace;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::waitpid;
use nix::unistd::Pid;

use super::jobs::{Home, PATIENCE, Running, eventually};

/// The shell's prompt.
pub const PROMPT: &str = "shell> ";

/// An interactive shell with job control, which has a terminal of its own.
pub struct Shell {
    pub child: Running,
    _home: Home,
    keys: File,
    output: Receiver<Vec<u8>>,
    /// What the shell and its programs have printed, and no test has waited for yet.
    seen: String,
}

impl Shell {
    pub fn start() -> Self {
        Self::interactive(&["sh", "-i"])
    }

    pub fn interactive(words: &[&str]) -> Self {
        let mut shell = Self::of(words[0], &words[1..]);
        shell.wait_for(PROMPT);
        // Without echo, the output contains only what programs print.
        shell.press("stty -echo\n");
        shell.wait_for(PROMPT);
        shell
    }

    /// Starts a program that leads a session, as a shell does.
    pub fn of(program: &str, arguments: &[&str]) -> Self {
        let home = Home::new();
        // Closed on exec: a program that kept the master would keep the terminal from hanging up.
        let flags = OFlag::O_RDWR | OFlag::O_NOCTTY | OFlag::O_CLOEXEC;
        let master = posix_openpt(flags).expect("a pseudo terminal");
        grantpt(&master)
            .and_then(|()| unlockpt(&master))
            .expect("ours");
        let mut options = OpenOptions::new();
        options
            .read(true)
            .write(true)
            .custom_flags(OFlag::O_NOCTTY.bits());
        let slave = options.open(ptsname_r(&master).expect("a name"));
        let slave = slave.expect("the other end");
        let keys = File::from(OwnedFd::from(master));
        let terminal = || Stdio::from(slave.try_clone().expect("one more of it"));
        // A shell or `nohup` that starts the tests may make them ignore these signals, and a shell
        // under test could not change that.
        let mut command = Command::new("env");
        command.args(["--default-signal=HUP,INT,QUIT"]);
        // Gives the program a session, whose terminal is its standard input.
        command.args(["setsid", "--ctty", program]).args(arguments);
        command
            .env("TIDEGATE_TABLE", home.table())
            .env("PS1", PROMPT)
            .env("TERM", "vt100")
            .env_remove("ENV");
        command.env("TIDEGATE", env!("CARGO_BIN_EXE_tidegate"));
        command
            .stdin(terminal())
            .stdout(terminal())
            .stderr(terminal());
        let child = command.spawn().expect("coreutils and util-linux");
        Self {
            child: Running(child),
            _home: home,
            output: output_of(&keys),
            keys,
            seen: String::new(),
        }
    }

    /// Hangs the terminal up, as soon as something has been printed. Returns the program.
    pub fn hang_up(self) -> Running {
        self.child
    }

    pub fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).expect("it reads");
    }

    /// Waits until `text` is printed. Returns what was printed up to its end.
    pub fn wait_for(&mut self, text: &str) -> String {
        let start = Instant::now();
        loop {
            if let Some(at) = self.seen.find(text) {
                let rest = self.seen.split_off(at + text.len());
                return std::mem::replace(&mut self.seen, rest);
            }
            let left = PATIENCE.saturating_sub(start.elapsed());
            match self.output.recv_timeout(left) {
                Ok(bytes) => self.seen += &String::from_utf8_lossy(&bytes),
                Err(_) => panic!("{text:?} is missing in {:?}", self.seen),
            }
        }
    }

    /// Waits until words in angle brackets are printed, and returns them.
    pub fn words<const COUNT: usize>(&mut self) -> [String; COUNT] {
        self.wait_for("<");
        let text = self.wait_for(">").replace('>', "");
        let words: Vec<_> = text.split(' ').map(str::to_owned).collect();
        words.try_into().expect("as many words")
    }

    /// Lets the shell print the exit code of the last command.
    pub fn wait_for_code(&mut self, code: u8) {
        self.wait_for(PROMPT);
        self.press("echo \"code <$?>\"\n");
        self.wait_for(&format!("code <{code}>"));
        self.wait_for(PROMPT);
    }
}

/// Receives what is printed on the terminal with this end, until that is closed.
pub fn output_of(keys: &File) -> Receiver<Vec<u8>> {
    let mut reader = keys.try_clone().expect("one more of it");
    let (sender, output) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = [0; 4096];
        while let Ok(length @ 1..) = reader.read(&mut bytes) {
            if sender.send(bytes[..length].to_vec()).is_err() {
                return;
            }
        }
    });
    output
}

/// Returns whether there is no such program, and says so.
pub fn is_missing(program: &str) -> bool {
    let is_missing = Command::new(program).arg("--version").output().is_err();
    if is_missing {
        eprintln!("skipped: there is no {program}");
    }
    is_missing
}

pub fn state(pid: &str) -> Option<char> {
    stat(pid)?.first()?.chars().next()
}

/// Returns what the kernel says about a process, without its number and name.
fn stat(pid: &str) -> Option<Vec<String>> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, fields) = stat.rsplit_once(") ")?;
    Some(fields.split(' ').map(str::to_owned).collect())
}

/// Returns whether `signal` waits in a process that blocks it or is stopped.
pub fn is_pending(pid: &str, signal: Signal) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
    let mut lines = status.lines();
    let set = lines.find_map(|line| line.strip_prefix("ShdPnd:\t"));
    let set = u64::from_str_radix(set.expect("a set"), 16).expect("a number");
    set & 1 << (signal as i32 - 1) != 0
}

pub fn send(pid: &str, signal: Signal) {
    let pid = Pid::from_raw(pid.parse().expect("a number"));
    kill(pid, signal).expect("it runs");
}

/// A process that stands still until this is dropped, even if it gets SIGCONT.
pub struct Held(Pid);

impl Held {
    pub fn new(pid: &str) -> Self {
        let pid = Pid::from_raw(pid.parse().expect("a number"));
        ptrace::seize(pid, ptrace::Options::empty()).expect("it descends from this process");
        ptrace::interrupt(pid).expect("it runs");
        waitpid(pid, None).expect("it stops");
        Self(pid)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let _ = ptrace::detach(self.0, None);
    }
}

/// Returns a part of a script that waits until the file exists, but not for ever after a failed test.
pub fn until(file: &Path) -> String {
    let look = format!("[ -e {} ] && break; sleep 0.01", file.display());
    format!("for i in $(seq 6000); do {look}; done")
}

/// Waits until the command's parent is in another session, because the shell between them has ended.
pub fn wait_for_orphan(command: &str) {
    eventually(|| {
        let session = |pid: &str| stat(pid).map(|fields| fields[SESSION].clone());
        let parent = &stat(command).expect("it runs")[PARENT];
        session(parent).is_none_or(|parent| Some(parent) != session(command))
    });
}

const PARENT: usize = 1;
const SESSION: usize = 3;

pub const CTRL_C: &str = "\x03";
pub const CTRL_D: &str = "\x04";
pub const CTRL_Z: &str = "\x1a";
