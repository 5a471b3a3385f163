//! Starts the program, relays signals to it and waits for its end.

use std::ffi::{CString, OsStr, OsString};
use std::fs::File;
use std::iter;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use nix::errno::Errno;
use nix::spawn::{PosixSpawnAttr, PosixSpawnFileActions, PosixSpawnFlags, posix_spawnp};
use nix::sys::prctl::{set_child_subreaper, set_dumpable};
use nix::sys::signal::{SigSet, Signal, kill, killpg};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::{AccessFlags, Pid, access, getpgid, getpgrp, getpid, getsid};
use procfs::process::{Process, StatFlags};
use rustix::process::{self, WaitOptions, wait};
use signal_hook::low_level::emulate_default_handler;

use crate::Failure;
use crate::environment::Additions;
use crate::signals::{Received, Signals, let_stop};

/// The exit codes of a program that was not run.
const MISSING: u8 = 127;
pub const NOT_EXECUTABLE: u8 = 126;

/// If the start takes longer, the command looks whether a signal has stopped it.
const SLOW_START: Duration = Duration::from_millis(20);

/// The program's first process.
pub struct Program {
    pid: Pid,
    /// Whether the process was stopped when the command last looked for that.
    is_stopped: bool,
}

/// How the program's first process has ended.
pub struct End(process::WaitStatus);

impl End {
    fn signal(&self) -> Option<i32> {
        self.0.terminating_signal()
    }

    /// Ends the command by the signal that has ended the program: after Ctrl-C, some shells go on
    /// with a script or a loop if the command only exits. Returns the exit code if the program has
    /// exited, or if this process cannot end by that signal.
    pub fn repeat(self) -> u8 {
        let Some(signal) = self.signal() else {
            return self.0.exit_status().unwrap_or_default() as u8;
        };
        // The kernel protects the first process of a container from its own signals.
        if getpid() != Pid::from_raw(1) {
            // A core of the command would replace that of the program.
            let _ = set_dumpable(false);
            // This fails for real-time signals and a few others.
            let _ = emulate_default_handler(signal);
        }
        128 + signal as u8
    }
}

impl Program {
    /// Starts the program, and relays the signals that came before: the kernel sends them to the
    /// whole group, in which the program was not yet.
    pub fn start(
        command: &[OsString],
        additions: &Additions,
        signals: &Signals,
    ) -> Result<Self, Failure> {
        // So that the processes of the program stay descendants of the command when their parents
        // end. No kernel since 3.4 refuses this.
        let _ = set_child_subreaper(true);
        let text =
            |argument: &OsString| CString::new(argument.as_bytes()).map_err(|_| Errno::EINVAL);
        let arguments: Result<Vec<CString>, Errno> = command.iter().map(text).collect();
        let environment = additions.applied(std::env::vars_os());
        let mut early = Vec::new();
        let pid = arguments.and_then(|arguments| {
            early.extend(iter::from_fn(|| signals.take()));
            unstopped(|| spawn(&arguments, &environment, signals.before))
        });
        let is_stopped = false;
        let program = pid.map(|pid| Self { pid, is_stopped }).map_err(|error| {
            let code = match error {
                Errno::ENOENT => MISSING,
                _ => NOT_EXECUTABLE,
            };
            let program = command.first().cloned().unwrap_or_default();
            let program = program.to_string_lossy();
            let reason = match error {
                Errno::EAGAIN => {
                    "too many processes of this user or its cgroup; end some, or \
                                  raise the limit (ulimit -u, pids.max)"
                }
                _ => error.desc(),
            };
            let text = format!("cannot run \"{}\": {reason}", program.escape_debug());
            Failure { code, text }
        })?;
        early.retain(|received| received.signal != Signal::SIGCHLD);
        early
            .iter()
            .for_each(|received| program.send(received.signal, false));
        Ok(program)
    }

    pub fn pid(&self) -> i32 {
        self.pid.as_raw()
    }

    /// Relays signals to the program until its first process has ended.
    pub fn supervise(mut self, signals: &Signals) -> End {
        loop {
            self.relay(signals);
            if let Some(end) = self.reap() {
                return end;
            }
            self.stop_like_the_program(signals);
            signals.wait();
        }
    }

    fn relay(&mut self, signals: &Signals) {
        while let Some(received) = signals.take() {
            if self.must_relay(&received) {
                let concerns_groups =
                    received.sender.is_none() || received.signal == Signal::SIGCONT;
                self.send(received.signal, concerns_groups);
            }
        }
    }

    /// Sends a signal to the first process, or `to_group` to the group that it leads.
    fn send(&self, signal: Signal, to_group: bool) {
        let leads = to_group && getpgid(Some(self.pid)) == Ok(self.pid);
        // An error means that the process has ended, or runs as another user.
        let _ = if leads {
            killpg(self.pid, signal)
        } else {
            kill(self.pid, signal)
        };
    }

    /// Returns whether the program has not got the signal itself, as far as the command can know.
    fn must_relay(&mut self, received: &Received) -> bool {
        match (received.signal, received.sender) {
            (Signal::SIGCHLD, _) => false,
            // From a timer that the caller has set before it became the command.
            (Signal::SIGALRM, None) => true,
            // When the terminal hangs up, the kernel sends these only to the leader of the session.
            (Signal::SIGHUP | Signal::SIGCONT, None) if getsid(None) == Ok(getpid()) => true,
            // The kernel sends the others to the whole group, which the program may have left.
            (_, None) => getpgid(Some(self.pid)).is_ok_and(|group| group != getpgrp()),
            (_, Some(sender)) if sender == self.pid || sender == getpid() => false,
            (Signal::SIGCONT, Some(_)) => !self.was_continued(),
            (_, Some(_)) => true,
        }
    }

    /// Returns whether the program has been continued since the command saw it stop.
    fn was_continued(&mut self) -> bool {
        // It may also have stopped again.
        let either = WaitPidFlag::WCONTINUED | WaitPidFlag::WSTOPPED | WaitPidFlag::WNOWAIT;
        let was_continued = self.is_stopped && self.look(either).is_some();
        if was_continued {
            self.is_stopped = false;
            self.look(WaitPidFlag::WCONTINUED);
        }
        was_continued
    }

    /// Returns what the first process has done since the last look.
    fn look(&self, flags: WaitPidFlag) -> Option<WaitStatus> {
        let status = waitid(Id::Pid(self.pid), flags | WaitPidFlag::WNOHANG).ok()?;
        (status != WaitStatus::StillAlive).then_some(status)
    }

    /// Waits for all children that have ended, which include descendants of the program whose
    /// parents have ended. Returns the end of the program if it has ended.
    fn reap(&self) -> Option<End> {
        // An error means that there are no children.
        let ended = iter::from_fn(|| wait(WaitOptions::NOHANG).ok()?);
        let mut ends = ended.filter(|(pid, _)| pid.as_raw_pid() == self.pid());
        ends.next().map(|(_, status)| End(status))
    }

    /// If the program has stopped, stops the command as well, so that the shell sees a stopped job.
    fn stop_like_the_program(&mut self, signals: &Signals) {
        let stopped = WaitPidFlag::WSTOPPED;
        let Some(WaitStatus::Stopped(_, signal)) = self.look(stopped | WaitPidFlag::WNOWAIT) else {
            return;
        };
        // Nothing could end a stop by SIGSTOP in a group that no shell supervises.
        let signal = if signal == Signal::SIGSTOP {
            Signal::SIGTSTP
        } else {
            signal
        };
        // Without a terminal, no shell would continue the command.
        let has_shell = File::open("/dev/tty").is_ok();
        if has_shell {
            // The stop signal discards a SIGCONT that is pending.
            self.relay(signals);
            let _ = kill(getpid(), signal);
        }
        // SIGCONT reaches the program before the command: either it is visible here, or it will end
        // the command's stop.
        self.is_stopped = self.look(stopped).is_some();
        if has_shell && self.is_stopped {
            let_stop(signal);
        }
    }
}

/// Calls `spawn`, which waits in the kernel for the child's exec. If a signal to the group stops
/// the child before that, continues it, and sends it the signal again afterwards.
fn unstopped(spawn: impl FnOnce() -> nix::Result<Pid>) -> nix::Result<Pid> {
    // Children of the shell that became the command may have stopped before.
    let old = || waitid(Id::All, WaitPidFlag::WSTOPPED | WaitPidFlag::WNOHANG);
    while let Ok(WaitStatus::Stopped(..)) = old() {}
    let (spawning, spawned) = mpsc::channel::<()>();
    let continues = move || {
        let stopped = WaitPidFlag::WSTOPPED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
        let mut discarded = None;
        while spawned.recv_timeout(SLOW_START) == Err(RecvTimeoutError::Timeout) {
            if let Ok(WaitStatus::Stopped(child, signal)) = waitid(Id::All, stopped)
                && !has_called_exec(child)
            {
                discarded = Some(signal);
                let _ = kill(child, Signal::SIGCONT);
            }
        }
        discarded
    };
    // Without this thread the command still starts the program.
    let thread = thread::Builder::new().spawn(continues);
    let pid = spawn();
    drop(spawning);
    let discarded = thread.ok().and_then(|thread| thread.join().ok()?);
    if let (Ok(pid), Some(signal)) = (pid, discarded) {
        let _ = kill(pid, signal);
    }
    pid
}

/// Returns whether the process has called exec since it was forked, or has ended.
fn has_called_exec(process: Pid) -> bool {
    let stat = Process::new(process.as_raw()).and_then(|process| process.stat());
    !stat.is_ok_and(|stat| stat.flags & StatFlags::PF_FORKNOEXEC.bits() != 0)
}

fn spawn(arguments: &[CString], environment: &[CString], mask: SigSet) -> nix::Result<Pid> {
    let mut attributes = PosixSpawnAttr::init()?;
    attributes.set_flags(
        PosixSpawnFlags::POSIX_SPAWN_SETSIGMASK | PosixSpawnFlags::POSIX_SPAWN_SETSIGDEF,
    )?;
    attributes.set_sigmask(&mask)?;
    // The standard library has made the command ignore this signal.
    attributes.set_sigdefault(&SigSet::from(Signal::SIGPIPE))?;
    let streams = PosixSpawnFileActions::init()?;
    let start = |arguments: &[CString]| {
        let program = arguments.first().ok_or(Errno::ENOENT)?;
        posix_spawnp(program, &streams, &attributes, arguments, environment)
    };
    match start(arguments) {
        Err(Errno::ENOEXEC) => {
            let path = std::env::var_os("PATH");
            start(&by_shell(arguments, path).ok_or(Errno::ENOEXEC)?)
        }
        started => started,
    }
}

/// Returns what runs a script that does not name its interpreter, like `execvp`: a shell, with the
/// first file of the path that may be executed.
fn by_shell(arguments: &[CString], path: Option<OsString>) -> Option<Vec<CString>> {
    let program = Path::new(OsStr::from_bytes(arguments.first()?.to_bytes()));
    // As in `posix_spawnp`.
    let folders = path.unwrap_or_else(|| "/bin:/usr/bin".into());
    let mut files = std::env::split_paths(&folders).map(|folder| folder.join(program));
    let file = if program.parent() == Some(Path::new("")) {
        files.find(|file| file.is_file() && access(file, AccessFlags::X_OK).is_ok())?
    } else {
        program.to_owned()
    };
    let file = CString::new(file.into_os_string().into_vec()).ok()?;
    let mut by_shell = vec![c"/bin/sh".to_owned(), file];
    by_shell.extend_from_slice(&arguments[1..]);
    Some(by_shell)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shell_finds_scripts_without_path() {
        let found = by_shell(&[c"sh".to_owned()], None);
        assert_eq!(found, Some(vec![c"/bin/sh".to_owned(); 2]));
    }
}
