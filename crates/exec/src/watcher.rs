//! The process that gives the program its processors back if the command dies, or ends the program
//! if the user wants that.
//!
//! Its standard input is a pipe of which only the command has the other end. The kernel closes that
//! end when the command dies, whatever the cause. The watcher inherits that the command blocks its
//! signals, so a signal that a supervisor sends to all processes of a service does not end it. It
//! soon enters a session of its own, so that a terminal does not stop it either.

use procfs::ProcResult;
use procfs::process::{Process, Stat, all_processes};
use rustix::process::{
    Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal, setsid,
};
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use tidegate_share::confinement;

/// A path at which there is no record.
const NO_RECORD: &str = "none";

/// The most looks for processes that a program has started while it was being stopped.
const LOOKS: usize = 16;

/// A process. Its number alone is not enough, because it may be used again after its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    pub pid: i32,
    /// In ticks of the kernel since the start of the machine.
    pub started: u64,
}

impl Identity {
    pub fn of(process: &Process) -> ProcResult<Self> {
        process.stat().map(|stat| Self::from(&stat))
    }

    /// Returns the process that has this number now.
    fn numbered(pid: i32) -> ProcResult<Self> {
        Process::new(pid).and_then(|process| Self::of(&process))
    }

    fn is_there(self) -> bool {
        Self::numbered(self.pid).is_ok_and(|now| now == self)
    }

    /// Returns whether the process is there.
    fn signal(self, signal: Signal) -> bool {
        let Some(pid) = Pid::from_raw(self.pid) else {
            return false;
        };
        // Another process may get the number after the check, but never this descriptor. Kernels
        // before 5.3 and some containers have none.
        let descriptor = pidfd_open(pid, PidfdFlags::empty());
        let is_there = self.is_there();
        if is_there {
            // An error means that the process has ended, or belongs to another user.
            let _ = match descriptor {
                Ok(descriptor) => pidfd_send_signal(descriptor, signal),
                Err(_) => kill_process(pid, signal),
            };
        }
        is_there
    }

    fn parse(line: &str) -> Option<Self> {
        let (pid, started) = line.split_once(' ')?;
        let (pid, started) = (pid.parse().ok()?, started.parse().ok()?);
        Some(Self { pid, started })
    }
}

impl From<&Stat> for Identity {
    fn from(stat: &Stat) -> Self {
        Self {
            pid: stat.pid,
            started: stat.starttime,
        }
    }
}

/// The command's end of the pipe to its watcher.
#[derive(Debug)]
pub struct Watcher {
    child: Child,
    identity: Identity,
}

/// The hidden subcommand that calls [`watch`].
pub const SUBCOMMAND: &str = "exec-watch";

impl Watcher {
    /// Starts a watcher that restores what the record at `path` says, once this process is dead.
    ///
    /// # Errors
    /// Returns an error if the process cannot be started.
    pub fn start(path: &Path) -> io::Result<Self> {
        let mut command = Command::new("/proc/self/exe");
        command.arg0("tidegate").arg(SUBCOMMAND).arg(path);
        Self::start_as(command)
    }

    /// Starts a watcher that has nothing to restore.
    ///
    /// # Errors
    /// Like [`start`](Self::start).
    pub fn without_record() -> io::Result<Self> {
        Self::start(Path::new(NO_RECORD))
    }

    /// Starts `command`, which must call [`watch`].
    pub(crate) fn start_as(mut command: Command) -> io::Result<Self> {
        command.current_dir("/").stdin(Stdio::piped());
        // A reader of the command's output must not wait for the watcher.
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn()?;
        let pid = i32::try_from(child.id()).unwrap_or(i32::MAX);
        let identity = Identity::numbered(pid).map_err(io::Error::other)?;
        Ok(Self { child, identity })
    }

    /// Returns the watcher's process.
    #[must_use]
    pub fn identity(&self) -> Identity {
        self.identity
    }

    /// Makes the watcher end the program, whose first process is the child `pid`, if this process
    /// dies.
    pub fn take_along(&self, pid: i32) {
        let identity = Identity::numbered(pid).ok();
        if let Some((Identity { pid, started }, mut pipe)) = identity.zip(self.child.stdin.as_ref())
        {
            // This fails if the watcher is dead.
            let _ = pipe.write_all(format!("{pid} {started}\n").as_bytes());
        }
    }
}

/// Makes the watcher restore and end, and waits for that. The record must be dropped before.
impl Drop for Watcher {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        // The command waits for all its children that end. So if the watcher was killed, its number
        // may be that of another child now, which may live on. A supervisor may have stopped the
        // watcher.
        if self.identity.signal(Signal::CONT) {
            let _ = self.child.wait();
        }
    }
}

/// Waits until the command ends. If it dies, ends the program that it has named, if any, and
/// restores what the record at `path` says.
///
/// Any process that a user starts by hand may call this: it only restores a record whose command is
/// dead, and only ends a program that its standard input names.
pub fn watch(path: &Path) -> ! {
    // This fails if the process already leads a session.
    let _ = setsid();
    let mut program = None;
    for line in io::stdin().lines().map_while(Result::ok) {
        program = Identity::parse(&line);
    }
    // First, because restoring may wait for another process that restores.
    // After a usual end, the program is gone, and a walk over all processes would be in vain.
    if let Some(program) = program.filter(|program| program.is_there()) {
        end_program(program);
    }
    // The next process of this user tries again.
    let _ = confinement::restore(path);
    std::process::exit(0)
}

/// Ends the program's first process and all its descendants. If the first one has ended already,
/// the others go on, as they would if the command lived.
fn end_program(first: Identity) {
    let mut stopped = Vec::new();
    for _ in 0..LOOKS {
        let mut new = family(first);
        new.retain(|process| !stopped.contains(process));
        if new.is_empty() {
            break;
        }
        // A process that is stopped starts no others, whose parents would be unknown after its end.
        for process in &new {
            process.signal(Signal::STOP);
        }
        stopped.extend(new);
    }
    // Descendants first: the kernel continues a stopped group that nobody supervises any more.
    for process in stopped.into_iter().rev() {
        process.signal(Signal::KILL);
    }
}

/// Returns `first` and its descendants; none if it has ended.
fn family(first: Identity) -> Vec<Identity> {
    let processes = all_processes().into_iter().flatten().flatten();
    let stats: Vec<Stat> = processes
        .filter_map(|process| process.stat().ok())
        .collect();
    let select = |is_it: &dyn Fn(&Stat) -> bool| -> Vec<Identity> {
        let selected = stats.iter().filter(|stat| is_it(stat));
        selected.map(Identity::from).collect()
    };
    let mut family = select(&|stat| Identity::from(stat) == first);
    let mut at = 0;
    while let Some(parent) = family.get(at).copied() {
        family.extend(select(&|stat| stat.ppid == parent.pid));
        at += 1;
    }
    family
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::sys::wait::waitpid;
    use nix::unistd::Pid;
    use std::io::{BufRead, BufReader, Read};

    /// Starts a process that ends when its standard input does.
    fn waiting() -> Watcher {
        Watcher::start_as(Command::new("cat")).unwrap()
    }

    /// Such a process has got the number of the program's first one.
    #[test]
    fn another_program_is_not_ended() {
        let mut watcher = waiting();
        let Identity { pid, started } = watcher.identity();
        let started = started - 1;
        end_program(Identity { pid, started });
        drop(watcher.child.stdin.take());
        assert!(watcher.child.wait().unwrap().success());
    }

    /// Else the kernel would continue them at the end of their parent, and they could start others.
    #[test]
    fn stopped_groups_do_not_run_again() {
        // `timeout` leads a group of its own. A shell with a trap would print a line.
        let script = "exec 3<&0; for i in 1 2 3 4 5 6 7 8; do
                timeout 100 sh -c 'trap \"echo woken\" HUP; echo; while :; do read line; done' <&3 &
            done; wait";
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut program = command.spawn().unwrap();
        let mut output = BufReader::new(program.stdout.take().unwrap());
        for _ in 0..8 {
            output.read_line(&mut String::new()).unwrap();
        }
        end_program(Identity::numbered(i32::try_from(program.id()).unwrap()).unwrap());
        let mut rest = String::new();
        output.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "");
        assert!(!program.wait().unwrap().success());
    }

    #[test]
    fn watcher_is_waited_for() {
        let watcher = waiting();
        let Identity { pid, .. } = watcher.identity();
        drop(watcher);
        assert!(Process::new(pid).is_err());
    }

    /// Such a process has got the number of a watcher that was killed.
    #[test]
    fn another_process_is_not_waited_for() {
        let mut watcher = waiting();
        watcher.identity.started -= 1;
        let Identity { pid, .. } = watcher.identity();
        drop(watcher);
        let pid = Pid::from_raw(pid);
        assert!(waitpid(pid, None).is_ok(), "it is still a child");
    }
}
