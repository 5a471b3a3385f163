//! The processes that give the program its processors back if the command dies, and end the program
//! if the user wants that.
//!
//! Their standard input is a pipe of which only the command has the other end. The kernel closes
//! that end when the command dies, whatever the cause. A watcher inherits that the command blocks
//! its signals, so a signal that a supervisor sends to all processes of a service does not end it.
//! It has a process group of its own, so that neither SIGKILL to the command's group nor a terminal
//! reaches it.

use procfs::ProcResult;
use procfs::process::{Process, Stat, all_processes};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use tidegate_share::confinement;

/// The most looks for processes that a program has started while it was being stopped, and the most
/// times that such processes are killed.
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
}

impl From<&Stat> for Identity {
    fn from(stat: &Stat) -> Self {
        Self {
            pid: stat.pid,
            started: stat.starttime,
        }
    }
}

/// A program that ends with its command.
struct Program {
    /// The first process; `None` if the command died while it started the program.
    first: Option<Identity>,
    /// The name of the command's record, which the program's environment contains.
    name: String,
}

impl Program {
    /// Reads the last line that the command has written; `None` if that is empty.
    fn parse(line: &str) -> Option<Self> {
        let mut words = line.split(' ');
        let name = words.next().filter(|name| !name.is_empty())?.to_owned();
        let mut number = || words.next()?.parse::<u64>().ok();
        let first = number().zip(number());
        let first = first.and_then(|(pid, started)| {
            let pid = i32::try_from(pid).ok()?;
            Some(Identity { pid, started })
        });
        Some(Self { first, name })
    }

    /// Ends the program's processes.
    ///
    /// When the last process that supervises a stopped group ends, the kernel continues the group,
    /// whose processes may start others until they are killed. So this repeats until it finds no more.
    fn end(&self) {
        let mut known = Vec::new();
        for _ in 0..LOOKS {
            let begin = known.len();
            self.stop(&mut known);
            if known.len() == begin {
                break;
            }
            // Descendants first, because their parents supervise them.
            for process in known[begin..].iter().rev() {
                process.signal(Signal::KILL);
            }
        }
    }

    /// Stops the processes that are not `known`, and adds them to these. A process that is stopped
    /// starts no others, whose parents would be unknown after its end.
    fn stop(&self, known: &mut Vec<Identity>) {
        for _ in 0..LOOKS {
            let mut new = self.processes();
            new.retain(|process| !known.contains(process));
            if new.is_empty() {
                break;
            }
            for process in &new {
                process.signal(Signal::STOP);
            }
            known.extend(new);
        }
    }

    /// Returns the first process, those that the command's environment has reached, and the
    /// descendants of these; parents before their children.
    ///
    /// The first process may have ended already: when the command dies, the kernel sends SIGHUP to
    /// the program's group if one of its processes was stopped.
    fn processes(&self) -> Vec<Identity> {
        let processes = all_processes().into_iter().flatten().flatten();
        let stats: Vec<Stat> = processes
            .filter_map(|process| process.stat().ok())
            .collect();
        let is_known = |stat: &&Stat| {
            let is_named = |pid| confinement::is_named(pid, &self.name);
            let is_first = Some(Identity::from(*stat)) == self.first;
            is_first || u32::try_from(stat.pid).is_ok_and(is_named)
        };
        let known: Vec<&Stat> = stats.iter().filter(is_known).collect();
        let is_known = |pid| known.iter().any(|stat| stat.pid == pid);
        let roots = known.iter().filter(|stat| !is_known(stat.ppid));
        let mut found: Vec<Identity> = roots.map(|stat| Identity::from(*stat)).collect();
        let mut at = 0;
        while let Some(parent) = found.get(at).copied() {
            let children = stats.iter().filter(|stat| stat.ppid == parent.pid);
            found.extend(children.map(Identity::from));
            at += 1;
        }
        found
    }
}

/// The command's end of the pipe to a watcher.
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
        let mut command = itself();
        command.arg(path);
        Self::start_as(command)
    }

    /// Starts a watcher that ends the program whose environment contains `name`, once this process
    /// is dead.
    ///
    /// # Errors
    /// Like [`start`](Self::start).
    pub fn of_program(name: &str) -> io::Result<Self> {
        let watcher = Self::start_as(itself())?;
        watcher.write(&format!("{name}\n"));
        Ok(watcher)
    }

    /// Starts `command`, which must call [`watch`].
    pub(crate) fn start_as(mut command: Command) -> io::Result<Self> {
        command.process_group(0);
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

    /// Tells the watcher that the first process of the program `name` is the child `pid`, which may
    /// replace its environment.
    pub fn take_along(&self, pid: i32, name: &str) {
        if let Ok(Identity { pid, started }) = Identity::numbered(pid) {
            self.write(&format!("{name} {pid} {started}\n"));
        }
    }

    /// Makes the watcher leave the program alone, because its first process has ended.
    pub fn let_go(&self) {
        self.write("\n");
    }

    fn write(&self, line: &str) {
        if let Some(mut pipe) = self.child.stdin.as_ref() {
            // This fails if the watcher is dead.
            let _ = pipe.write_all(line.as_bytes());
        }
    }
}

/// Makes the watcher do its work and end, and waits for that. The record must be dropped before.
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

/// Returns a command that calls [`watch`].
fn itself() -> Command {
    let mut command = Command::new("/proc/self/exe");
    command.arg0("tidegate").arg(SUBCOMMAND);
    command
}

/// Waits until the command ends. Then restores what the record at this path says, if the command
/// has not done so. Without a path, ends the program that the command has named, if the command has
/// died before the program's first process.
///
/// Any process that a user starts by hand may call this: it only restores a record whose command is
/// dead, and only ends a program that its standard input names.
pub fn watch(record: Option<&Path>) -> ! {
    let last = io::stdin().lines().map_while(Result::ok).last();
    match record {
        // If this fails, the next process of this user tries again.
        Some(path) => drop(confinement::restore(path)),
        None => {
            let program = last.as_deref().and_then(Program::parse);
            program.iter().for_each(Program::end);
        }
    }
    std::process::exit(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::sys::wait::waitpid;
    use nix::unistd::{Pid, getpgid};
    use std::io::{BufRead, BufReader, Read};
    use std::thread;
    use std::time::{Duration, Instant};

    /// Starts a process that ends when its standard input does.
    fn waiting() -> Watcher {
        Watcher::start_as(Command::new("cat")).unwrap()
    }

    fn program(first: Identity) -> Program {
        let name = "exec-1-1.masks".to_owned();
        Program {
            first: Some(first),
            name,
        }
    }

    /// Such a process has got the number of the program's first one.
    #[test]
    fn another_program_is_not_ended() {
        let mut watcher = waiting();
        let Identity { pid, started } = watcher.identity();
        let started = started - 1;
        program(Identity { pid, started }).end();
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
        let mut child = command.spawn().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        for _ in 0..8 {
            output.read_line(&mut String::new()).unwrap();
        }
        let first = Identity::numbered(i32::try_from(child.id()).unwrap()).unwrap();
        program(first).end();
        let mut rest = String::new();
        output.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "");
        assert!(!child.wait().unwrap().success());
    }

    /// The kernel sends SIGHUP to a stopped group as soon as its last process that had a parent in
    /// the session has ended, and continues it.
    #[test]
    fn orphans_that_start_others_are_ended() {
        let orphan = "trap 'sleep 1000 & wait' HUP; echo; sleep 1000 & wait";
        // `timeout` leads a group, and its parent is in the session.
        let inner = "for i in $(seq 200); do (sh -c \"$0\" &); done; wait; sleep 1000";
        let script = format!("timeout 1000 sh -c '{inner}' \"$0\" & wait");
        let name = format!("exec-{}-1.masks", std::process::id());
        let mut command = Command::new("sh");
        command
            .args(["-c", &script, orphan])
            .env(confinement::VARIABLE, &name);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        for _ in 0..200 {
            output.read_line(&mut String::new()).unwrap();
        }
        let program = Program { first: None, name };
        program.end();
        assert!(!child.wait().unwrap().success());
        // Those that were killed may take a moment to end.
        let begin = Instant::now();
        while !program.processes().is_empty() {
            assert!(begin.elapsed() < Duration::from_secs(60), "some are left");
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// So SIGKILL to the command's group does not reach it.
    #[test]
    fn watcher_leads_a_group() {
        let watcher = waiting();
        let pid = Pid::from_raw(watcher.identity().pid);
        assert_eq!(getpgid(Some(pid)), Ok(pid));
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
