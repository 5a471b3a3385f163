//! Starts the program, forwards signals to it and waits for its end.

use std::ffi::{CString, OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use nix::errno::Errno;
use nix::spawn::{PosixSpawnAttr, PosixSpawnFileActions, PosixSpawnFlags, posix_spawnp};
use nix::sys::prctl::{set_child_subreaper, set_dumpable};
use nix::sys::signal::{SigSet, Signal, kill};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::{AccessFlags, Pid, access, getpid};
use rustix::process::{self, WaitOptions, wait};
use signal_hook::low_level::emulate_default_handler;

use crate::Failure;
use crate::environment::Additions;
use crate::signals::{Signals, forward};
use crate::terminal::Terminal;

/// The exit codes of a program that was not run.
const MISSING: u8 = 127;
const NOT_EXECUTABLE: u8 = 126;

/// How often a program that starts is continued if it was stopped.
const TICK: Duration = Duration::from_millis(10);

/// The program's first process, which leads a process group.
pub struct Program {
    pid: Pid,
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
    /// Starts the program in a process group of its own, and lends it the terminal if it is needed.
    /// Calls `started` with the number of the first process as soon as there is one.
    pub fn start(
        command: &[OsString],
        additions: &Additions,
        signals: &Signals,
        terminal: &mut Terminal,
        started: impl FnOnce(i32),
    ) -> Result<Self, Failure> {
        // So that the processes of the program stay descendants of the command when their parents
        // end. No kernel since 3.4 refuses this.
        let _ = set_child_subreaper(true);
        let text =
            |argument: &OsString| CString::new(argument.as_bytes()).map_err(|_| Errno::EINVAL);
        let arguments: Result<Vec<CString>, Errno> = command.iter().map(text).collect();
        let environment = additions.applied(std::env::vars_os());
        let pid = arguments.and_then(|arguments| {
            with_children_continued(|| {
                let pid = spawn(&arguments, &environment, signals.before)?;
                started(pid.as_raw());
                Ok(pid)
            })
        });
        let pid = pid.inspect(|pid| terminal.offer(*pid));
        pid.map(|pid| Self { pid }).map_err(|error| {
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
                Signal::SIGCONT => terminal.resume(self.pid),
                Signal::SIGHUP => {
                    forward(self.pid, Signal::SIGHUP);
                    terminal.hang_up(self.pid);
                }
                signal @ (Signal::SIGTTIN | Signal::SIGTTOU) => {
                    terminal.requested(self.pid, signal, signals);
                }
                signal => terminal.pass_on(self.pid, signal),
            }
        };
        terminal.end(self.pid, end.signal(), signals);
        end
    }

    /// Waits for all children that have ended, which include descendants of the program whose
    /// parents have ended. Returns the end of the program if it has ended.
    fn look(&self, signals: &Signals, terminal: &mut Terminal) -> Option<End> {
        loop {
            // An error means that there are no children.
            let (pid, status) = wait(WaitOptions::NOHANG | WaitOptions::UNTRACED).ok()??;
            if pid.as_raw_pid() != self.pid() {
                continue;
            }
            match status.stopping_signal() {
                None => return Some(End(status)),
                Some(signal) => {
                    let signal = Signal::try_from(signal).unwrap_or(Signal::SIGSTOP);
                    terminal.stopped(self.pid, signal, signals);
                }
            }
        }
    }
}

/// Runs `spawn`, which returns once its child is the program. Until then, a stop of the command's
/// group, as by Ctrl-Z, may stop the child as well, and nothing would continue the child, nor this
/// thread, which waits for it. So another thread continues it. The command receives the signal later
/// and forwards it.
fn with_children_continued<T>(spawn: impl FnOnce() -> T) -> T {
    let (started, is_started) = mpsc::channel::<()>();
    let run = move || {
        while is_started.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
            let look = WaitPidFlag::WSTOPPED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
            if let Ok(WaitStatus::Stopped(pid, _)) = waitid(Id::All, look) {
                let _ = kill(pid, Signal::SIGCONT);
            }
        }
    };
    thread::scope(|scope| {
        // Without the thread, the program starts all the same.
        let _ = thread::Builder::new().spawn_scoped(scope, run);
        let spawned = spawn();
        drop(started);
        spawned
    })
}

fn spawn(arguments: &[CString], environment: &[CString], mask: SigSet) -> nix::Result<Pid> {
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
pub(crate) mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn shell_finds_scripts_without_path() {
        let found = by_shell(&[c"sh".to_owned()], None);
        assert_eq!(found, Some(vec![c"/bin/sh".to_owned(); 2]));
    }

    /// The role of a test, because all children of the process are continued.
    pub(crate) fn start_what_stops() {
        let stops = || {
            Command::new("sh")
                .args(["-c", "kill -STOP $$; exit 7"])
                .status()
        };
        assert_eq!(with_children_continued(stops).unwrap().code(), Some(7));
    }
}
