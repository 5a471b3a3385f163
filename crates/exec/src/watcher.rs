//! The process that gives the program its processors back if the command dies.
//!
//! Its standard input is a pipe of which only the command has the other end. The kernel closes that
//! end when the command dies, whatever the cause. The watcher inherits that the command blocks its
//! signals, so a signal that a supervisor sends to all processes of a service does not end it. It
//! soon enters a session of its own, so that a terminal does not stop it either.

use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, setsid};
use procfs::ProcResult;
use procfs::process::Process;
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use tidegate_share::confinement;

/// A process. Its number alone is not enough, because it may be used again after its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    pub pid: i32,
    /// In ticks of the kernel since the start of the machine.
    pub started: u64,
}

impl Identity {
    pub fn of(process: &Process) -> ProcResult<Self> {
        Ok(Self {
            pid: process.pid,
            started: process.stat()?.starttime,
        })
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

    /// Starts `command`, which must call [`watch`].
    pub(crate) fn start_as(mut command: Command) -> io::Result<Self> {
        command.current_dir("/").stdin(Stdio::piped());
        // A reader of the command's output must not wait for the watcher.
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn()?;
        let identity = identity(&child).map_err(io::Error::other)?;
        Ok(Self { child, identity })
    }

    /// Returns the watcher's process.
    #[must_use]
    pub fn identity(&self) -> Identity {
        self.identity
    }

    /// Ends the watcher, which restores nothing. Does nothing if it is dead.
    pub fn end(mut self) {
        if let Some(pipe) = &mut self.child.stdin {
            let _ = pipe.write_all(&[0]);
        }
    }
}

/// Makes the watcher restore and end, and waits for that. The record must be dropped before.
impl Drop for Watcher {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        // The command waits for all its children that end. So if the watcher was killed, its number
        // may be that of another child now, which may live on.
        if identity(&self.child).is_ok_and(|now| now == self.identity) {
            // A supervisor may have stopped it.
            let _ = kill(Pid::from_raw(self.identity.pid), Signal::SIGCONT);
            let _ = self.child.wait();
        }
    }
}

fn identity(child: &Child) -> ProcResult<Identity> {
    let pid = i32::try_from(child.id()).unwrap_or(i32::MAX);
    Process::new(pid).and_then(|process| Identity::of(&process))
}

/// Waits until the command ends. If it dies, restores what the record at `path` says.
///
/// Any process that a user starts by hand may call this: it only reads its standard input, and only
/// restores a record whose command is dead.
pub fn watch(path: &Path) -> ! {
    // This fails if the process already leads a session.
    let _ = setsid();
    let mut byte = [0];
    let ended = loop {
        match io::stdin().read(&mut byte) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            read => break read.is_ok_and(|length| length == 1),
        }
    };
    if !ended {
        // The next process of this user tries again.
        let _ = confinement::restore(path);
    }
    std::process::exit(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::sys::wait::waitpid;
    use nix::unistd::Pid;

    /// Starts a process that ends when its standard input does.
    fn waiting() -> Watcher {
        Watcher::start_as(Command::new("cat")).unwrap()
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
