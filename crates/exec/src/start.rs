//! Starts the program, forwards signals to it and waits for its end.

use std::ffi::{CString, OsString};
use std::os::unix::ffi::OsStrExt;

use nix::errno::Errno;
use nix::spawn::{PosixSpawnAttr, PosixSpawnFileActions, PosixSpawnFlags, posix_spawnp};
use nix::sys::prctl::{set_child_subreaper, set_dumpable};
use nix::sys::signal::{SigSet, Signal, kill};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid, waitpid};
use nix::unistd::{Pid, getpid};
use procfs::process::Process;
use signal_hook::low_level::emulate_default_handler;

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

/// How the program's first process has ended.
pub enum End {
    Code(u8),
    Signal(i32),
}

impl End {
    /// Ends the command by the signal that has ended the program: after Ctrl-C, some shells go on
    /// with a script or a loop if the command only exits. Returns the exit code if the program has
    /// exited, or if this process cannot end by that signal.
    pub fn repeat(self) -> u8 {
        match self {
            Self::Code(code) => code,
            Self::Signal(signal) => {
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
    }
}

impl Program {
    /// Starts the program in a process group of its own, and lends it the terminal if it is needed.
    pub fn start(
        command: &[OsString],
        additions: &Additions,
        signals: &Signals,
        terminal: &mut Terminal,
    ) -> Result<Self, Failure> {
        // So that the processes of the program stay descendants of the command when their parents
        // end. No kernel since 3.4 refuses this.
        let _ = set_child_subreaper(true);
        let text =
            |argument: &OsString| CString::new(argument.as_bytes()).map_err(|_| Errno::EINVAL);
        let arguments: Result<Vec<CString>, Errno> = command.iter().map(text).collect();
        let environment = additions.applied(std::env::vars_os());
        let pid = arguments.and_then(|arguments| spawn(&arguments, &environment, signals.before));
        let pid = pid.inspect(|pid| terminal.offer(*pid));
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

    /// Forwards signals to the program until its first process has ended.
    pub fn supervise(&self, signals: &Signals, terminal: &mut Terminal) -> End {
        let end = loop {
            match signals.wait() {
                Signal::SIGCHLD => {
                    if let Some(end) = self.look(signals, terminal) {
                        break end;
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
                Signal::SIGTTIN | Signal::SIGTTOU if terminal.reclaim() => {}
                signal => forward(self.pid, signal),
            }
        };
        terminal.take_back();
        end
    }

    /// Waits for all children that have ended, which include descendants of the program whose
    /// parents have ended. Returns the end of the program if it has ended.
    fn look(&self, signals: &Signals, terminal: &mut Terminal) -> Option<End> {
        if let Some(end) = self.end() {
            return Some(end);
        }
        let flags = WaitPidFlag::WNOHANG | WaitPidFlag::WUNTRACED;
        loop {
            match waitpid(None, Some(flags)) {
                Ok(WaitStatus::Stopped(pid, signal)) if pid == self.pid => {
                    terminal.stopped(pid, signal, signals);
                }
                // The program has ended since the call of `end`.
                Ok(WaitStatus::Exited(pid, code)) if pid == self.pid => {
                    return Some(End::Code(code as u8));
                }
                Ok(WaitStatus::Signaled(pid, signal, _)) if pid == self.pid => {
                    return Some(End::Signal(signal as i32));
                }
                // A child has ended by a real-time signal, for which `nix` has no name.
                Err(Errno::EINVAL) if kill(self.pid, None) == Err(Errno::ESRCH) => {
                    return Some(End::Signal(REAL_TIME));
                }
                Ok(WaitStatus::StillAlive) | Err(Errno::ECHILD) => return None,
                Ok(_) | Err(_) => {}
            }
        }
    }

    /// Returns the end of the program if it has ended. Its process number stays in use.
    fn end(&self) -> Option<End> {
        let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
        match waitid(Id::Pid(self.pid), flags) {
            Ok(WaitStatus::Exited(_, code)) => Some(End::Code(code as u8)),
            Ok(WaitStatus::Signaled(_, signal, _)) => Some(End::Signal(signal as i32)),
            // It has ended by a real-time signal, for which `nix` has no name.
            Err(Errno::EINVAL) => {
                let stat = Process::new(self.pid.as_raw()).and_then(|process| process.stat());
                let status = stat.ok().and_then(|stat| stat.exit_code);
                Some(End::Signal(
                    status.map_or(REAL_TIME, |status| status & 0x7f),
                ))
            }
            _ => None,
        }
    }
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
