//! Everything that leaves the process.
//!
//! A reader may go away at any time (`| head -1`): a closed pipe ends the output and nothing else, so
//! the exit code stays that of the work done. Any other trouble with standard output is a failure.

use std::io::{self, BufWriter, ErrorKind, Write};

mod fields;
mod file;
mod progress;
mod table;
mod units;

pub use fields::{show_fields, show_value};
pub use file::{answer, find_room, is_aside, keep_apart, write_file};
pub use progress::Progress;
pub use table::{Table, Value};
pub use units::{
    show_age, show_bytes, show_count, show_nanos, show_number, show_rate, show_ratio, show_seconds,
    show_whole_bytes,
};

use crate::failure::Failure;

/// Writes to standard output what `write` writes.
pub fn to_stdout(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    let mut out = BufWriter::new(io::stdout().lock());
    let written = write(&mut out).and_then(|()| out.flush());
    // Nothing is to be written a second time when the writer goes.
    let _ = out.into_parts();
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failure::Impossible(format!(
            "standard output cannot be written: {error}"
        ))),
        _ => Ok(()),
    }
}

/// Prints one JSON value.
pub fn print_json(value: &serde_json::Value) -> Result<(), Failure> {
    to_stdout(|out| writeln!(out, "{value:#}"))
}

/// Writes to standard error. When nobody listens there either, nothing can be done.
pub fn to_stderr(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}

/// `text` without control characters other than line breaks: these are escaped as in Rust.
pub fn tame(text: &str) -> String {
    let mut tamed = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => tamed.push(c),
            c if c.is_control() => tamed.extend(c.escape_default()),
            c => tamed.push(c),
        }
    }
    tamed
}
