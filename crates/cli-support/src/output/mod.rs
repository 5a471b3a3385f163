//! All output of the process.
//!
//! The reader of a pipe may close it at any time (`| head -1`). That ends the output but isn't an
//! error, so the exit code still depends only on the work. Any other problem with standard output
//! is an error.

use std::io::{self, BufWriter, ErrorKind, Write};

mod fields;
mod file;
mod progress;
pub mod sheet;
mod table;
mod units;

pub use fields::{JsonField, describe, describe_all, show_fields, show_value, to_json};
pub use file::{answer, find_room, is_aside, keep_apart, write_file};
pub use progress::Progress;
pub use table::{Table, Value, WIDTH};
pub use units::{
    show_age, show_bytes, show_count, show_nanos, show_number, show_rate, show_ratio, show_seconds,
    show_whole_bytes,
};

use crate::failure::Failure;

/// Calls `write` with a buffered writer to standard output.
pub fn to_stdout(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    let mut out = BufWriter::new(io::stdout().lock());
    let written = write(&mut out).and_then(|()| out.flush());
    // Dropping the writer would try again to write the rest of its buffer.
    let _ = out.into_parts();
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failure::Impossible(format!(
            "cannot write to standard output: {error}"
        ))),
        _ => Ok(()),
    }
}

/// Prints one JSON value.
pub fn print_json(value: &serde_json::Value) -> Result<(), Failure> {
    to_stdout(|out| writeln!(out, "{value:#}"))
}

/// Writes to standard error. Ignores errors, because there is nowhere left to report them.
pub fn to_stderr(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Escapes control characters as Rust does, except line breaks.
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
