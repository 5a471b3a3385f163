//! The process that gives the program its processors back if the command dies.
//!
//! Its standard input is a pipe of which only the command has the other end. The kernel closes that
//! end when the command dies, whatever the cause. The watcher inherits that the command blocks its
//! signals, so a signal that a supervisor sends to all processes of a service does not end it. It
//! soon enters a session of its own, so that a terminal does not stop it either.

use nix::unistd::setsid;
use std::ffi::OsStr;
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use tidegate_share::confinement;

/// The command's end of the pipe to its watcher.
#[derive(Debug)]
pub struct Watcher(Child);

/// The hidden subcommand that calls [`watch`].
pub const SUBCOMMAND: &str = "exec-watch";

impl Watcher {
    /// Starts a watcher that restores what the record at `path` says, once this process is dead.
    ///
    /// # Errors
    /// Returns an error if the process cannot be started.
    pub fn start(path: &Path) -> io::Result<Self> {
        Self::start_as("/proc/self/exe", &[SUBCOMMAND.as_ref(), path.as_os_str()])
    }

    /// Starts `program`, which must call [`watch`].
    pub(crate) fn start_as(program: &str, arguments: &[&OsStr]) -> io::Result<Self> {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir("/")
            .stdin(Stdio::piped());
        // A reader of the command's output must not wait for the watcher.
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().map(Self)
    }

    /// Returns the number of the watcher's process.
    #[must_use]
    pub fn pid(&self) -> i32 {
        i32::try_from(self.0.id()).unwrap_or(i32::MAX)
    }

    /// Ends the watcher, which restores nothing. Does nothing if it is dead.
    pub fn end(mut self) {
        if let Some(pipe) = &mut self.0.stdin {
            let _ = pipe.write_all(&[0]);
        }
    }
}

/// Makes the watcher restore and end, and waits for that. The record must be dropped before.
impl Drop for Watcher {
    fn drop(&mut self) {
        // This closes the pipe first.
        let _ = self.0.wait();
    }
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
