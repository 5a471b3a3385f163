//! What runs the test of a fault, and how the fault is switched on there.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::Fault;
use crate::command::Cmd;
use crate::loom;
use crate::miri;
use crate::workspace::Workspace;

/// What runs the test of a fault.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Tool {
    /// Loom, with this bound on preemptions.
    Loom(usize),
    /// Miri, over the integration test of this name, one schedule: a thread runs until it waits or ends.
    Miri(&'static str),
}

/// Takes luck out of Miri's schedule.
const NEVER_PREEMPT: &str = "-Zmiri-preemption-rate=0";

impl Tool {
    /// Makes sure that the tool is there; the error says why it is not.
    pub fn ready(self, workspace: &Workspace) -> Result<(), String> {
        match self {
            Tool::Loom(_) => Ok(()),
            Tool::Miri(_) => miri::ready(workspace),
        }
    }

    /// `cargo test` of the fault's package, up to the arguments for the test program.
    pub fn command(self, workspace: &Workspace, fault: &Fault) -> Cmd {
        let log = format!("fault {}", fault.name);
        let command = match self {
            Tool::Loom(preemptions) => loom::command(workspace, &log, fault.package, preemptions),
            Tool::Miri(program) => miri::command(workspace, &log, fault.package, NEVER_PREEMPT)
                .args(["--test", program]),
        };
        command.env("RUST_BACKTRACE", "0")
    }

    /// The same with the fault.
    pub fn faulty(self, workspace: &Workspace, fault: &Fault) -> Result<Cmd, String> {
        let command = self.command(workspace, fault);
        Ok(match self {
            Tool::Loom(_) => command.env("RUSTC_WORKSPACE_WRAPPER", wrapper(workspace, fault)?),
            // Miri is itself the compiler's wrapper.
            Tool::Miri(_) => command.env("RUSTFLAGS", switch(fault)),
        })
    }
}

/// The compiler's argument that switches the fault on.
fn switch(fault: &Fault) -> String {
    format!("--cfg=tidegate_fault=\"{}\"", fault.name)
}

/// The compiler wrapper that switches the fault on.
fn wrapper(workspace: &Workspace, fault: &Fault) -> Result<PathBuf, String> {
    let folder = workspace.scratch("fault-wrappers");
    let file = folder.join(fault.name);
    let script = format!("#!/bin/sh\nexec \"$@\" '{}'\n", switch(fault));
    fs::create_dir_all(&folder)
        .and_then(|()| fs::write(&file, script))
        .and_then(|()| make_executable(&file))
        .map_err(|error| format!("{}: {error}", file.display()))?;
    Ok(file)
}

#[cfg(unix)]
fn make_executable(file: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(file, fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn make_executable(_file: &Path) -> io::Result<()> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "the wrapper is a script for a Unix shell",
    ))
}
