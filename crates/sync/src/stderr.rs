//! Prints lines to standard error.

use std::fmt;
#[cfg(all(unix, not(miri)))]
use std::fs::File;
use std::io::{self, Write};
#[cfg(all(unix, not(miri)))]
use std::os::fd::AsFd;

/// Prints a message from Tidegate itself.
///
/// The line is written in a single call, so that lines from different threads don't mix. Errors are
/// ignored: there is nowhere to report them.
pub fn print_line(line: fmt::Arguments<'_>) {
    let line = format!("tidegate: {line}\n");
    let _ = write(line.as_bytes());
}

/// Bypasses the standard library's lock. If another thread held that lock during a `fork`, the
/// child would wait for it forever.
#[cfg(all(unix, not(miri)))]
fn write(line: &[u8]) -> io::Result<()> {
    let stderr = io::stderr().as_fd().try_clone_to_owned()?;
    File::from(stderr).write_all(line)
}

#[cfg(not(all(unix, not(miri))))]
fn write(line: &[u8]) -> io::Result<()> {
    io::stderr().write_all(line)
}
