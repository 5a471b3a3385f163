//! Starts the program, forwards signals to it and waits for its end.

use std::ffi::{CString, OsString};
use std::os::unix::ffi::OsStrExt;

use nix::errno::Errno;
use nix::spawn::{PosixSpawnAttr, PosixSpawnFileActions, PosixSpawnFlags, posix_spawnp};
use nix::sys::prctl::set_child_subreaper;
use nix::sys::signal::{SigSet, Signal, kill};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid, waitpid};
use nix::unistd::Pid;
use procfs::process::Process;

use crate::Failure;
use crate::environment::Additions;
use crate::signals::{Signals, forward};
use crate::terminal::Terminal;

/// The exit codes of a program that was not run.
const MISSING: u8 = 127;
const NOT_EXECUTABLE: u8 = 126;

/// The number of the first real-time signal that programs may use.
const REAL_TIME: i32 = 34;

/// The program's first process, which leads a process group.
pub struct Program {
    pid: Pid,
}

impl Program {
    /// Starts the program in a process group of its own.
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
        let pid = arguments.and_then(|arguments| spawn(&arguments, &environment, signals.before));
        pid.map(|pid| Self { pid }).map_err(|error| {
            let code = match error {
                Errno::ENOENT => MISSING,
                _ => NOT_EXECUTABLE,
            };
            let program = command.first().cloned().unwrap_or_default();
            let program = program.to_string_lossy();
            let text = format!(
                "cannot run \"{}\": {}",
                program.escape_debug(),
                error.desc()
            );
            Failure { code, text }
        })
    }

    pub fn pid(&self) -> i32 {
        self.pid.as_raw()
    }

    /// Forwards signals to the program until its first process has ended. Returns that process's
    /// exit code.
    pub fn supervise(&self, signals: &Signals, terminal: &mut Terminal) -> u8 {
        terminal.offer(self.pid);
        let code = loop {
            match signals.wait() {
                Signal::SIGCHLD => {
                    if let Some(code) = self.look(signals, terminal) {
                        break code;
                    }
                }
                Signal::SIGCONT => {
                    terminal.offer(self.pid);
                    forward(self.pid, Signal::SIGCONT);
                }
                Signal::SIGHUP => {
                    forward(self.pid, Signal::SIGHUP);
                    terminal.hang_up(self.pid);
                }
                signal => forward(self.pid, signal),
            }
        };
        terminal.take_back();
        code
    }

    /// Waits for all children that have ended, which include descendants of the program whose
    /// parents have ended. Returns the program's exit code if it has ended.
    fn look(&self, signals: &Signals, terminal: &mut Terminal) -> Option<u8> {
        if let Some(code) = self.code() {
            return Some(code);
        }
        let flags = WaitPidFlag::WNOHANG | WaitPidFlag::WUNTRACED;
        loop {
            match waitpid(None, Some(flags)) {
                Ok(WaitStatus::Stopped(pid, signal)) if pid == self.pid => {
                    terminal.stopped(pid, signal, signals);
                }
                // The program has ended since the call of `code`.
                Ok(WaitStatus::Exited(pid, code)) if pid == self.pid => return Some(code as u8),
                Ok(WaitStatus::Signaled(pid, signal, _)) if pid == self.pid => {
                    return Some(by_signal(signal as i32));
                }
                // A child has ended by a real-time signal, for which `nix` has no name.
                Err(Errno::EINVAL) if kill(self.pid, None) == Err(Errno::ESRCH) => {
                    return Some(by_signal(REAL_TIME));
                }
                Ok(WaitStatus::StillAlive) | Err(Errno::ECHILD) => return None,
                Ok(_) | Err(_) => {}
            }
        }
    }

    /// Returns the program's exit code if it has ended. Its process number stays in use.
    fn code(&self) -> Option<u8> {
        let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
        match waitid(Id::Pid(self.pid), flags) {
            Ok(WaitStatus::Exited(_, code)) => Some(code as u8),
            Ok(WaitStatus::Signaled(_, signal, _)) => Some(by_signal(signal as i32)),
            // It has ended by a real-time signal, for which `nix` has no name.
            Err(Errno::EINVAL) => {
                let stat = Process::new(self.pid.as_raw()).and_then(|process| process.stat());
                let status = stat.ok().and_then(|stat| stat.exit_code);
                Some(by_signal(status.map_or(REAL_TIME, |status| status & 0x7f)))
            }
            _ => None,
        }
    }
}

fn by_signal(signal: i32) -> u8 {
    128 + signal as u8
}

fn spawn(arguments: &[CString], environment: &[CString], mask: SigSet) -> nix::Result<Pid> {
    let program = arguments.first().ok_or(Errno::ENOENT)?;
    let mut attributes = PosixSpawnAttr::init()?;
    attributes.set_flags(
        PosixSpawnFlags::POSIX_SPAWN_SETPGROUP
            | PosixSpawnFlags::POSIX_SPAWN_SETSIGMASK
            | PosixSpawnFlags::POSIX_SPAWN_SETSIGDEF,
    )?;
    let new_group = Pid::from_raw(0);
    attributes.set_pgroup(new_group)?;
    attributes.set_sigmask(&mask)?;
    // The standard library has made the command ignore this signal.
    attributes.set_sigdefault(&SigSet::from(Signal::SIGPIPE))?;
    let streams = PosixSpawnFileActions::init()?;
    posix_spawnp(program, &streams, &attributes, arguments, environment)
}
