//! Reads the files that describe a machine, and formats messages about problems in reading it.
//!
//! Paths are absolute, as on the machine itself. [`Files`] is a trait so that tests can supply
//! other files, and deny access to some of them.
//!
//! This module does not interpret the content of a file.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// Reading stops after this many bytes; no file read here is longer in practice.
const FILE_BYTES_MAX: u64 = 1 << 24;

/// The maximum number of characters of a file, a variable or a word that a message quotes.
const QUOTED_MAX: usize = 40;

/// The files that describe a machine.
pub(crate) trait Files {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;

    fn is_dir(&self, path: &Path) -> bool;
}

/// Files below a root directory: `/` for this machine, or another directory for a made-up machine.
pub(crate) struct Root<'a>(pub(crate) &'a Path);

impl Root<'_> {
    fn resolve(&self, path: &Path) -> PathBuf {
        self.0.join(path.strip_prefix("/").unwrap_or(path))
    }
}

impl Files for Root<'_> {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let mut content = Vec::new();
        std::fs::File::open(self.resolve(path))?
            .take(FILE_BYTES_MAX)
            .read_to_end(&mut content)?;
        Ok(content)
    }

    fn is_dir(&self, path: &Path) -> bool {
        self.resolve(path).is_dir()
    }
}

/// Returns a file's content as text, without surrounding white space.
pub(crate) fn text(files: &dyn Files, path: &Path) -> io::Result<String> {
    let content = files.read(path)?;
    Ok(String::from_utf8_lossy(&content).trim().to_owned())
}

/// Finds and reads the calling thread's file `name` in `/proc`.
///
/// A thread can have its own affinity mask and cgroup, which the workers it starts inherit. On
/// kernels without `thread-self`, the main thread's file is read.
///
/// # Errors
/// Returns a sentence for the report if neither file can be read.
pub(crate) fn of_this_thread(files: &dyn Files, name: &str) -> Result<(PathBuf, Vec<u8>), String> {
    let of = |whose: &str| {
        let path = Path::new("/proc").join(whose).join(name);
        match files.read(&path) {
            Ok(content) => Ok((path, content)),
            Err(error) => Err(unreadable(&path, &error)),
        }
    };
    of("thread-self").or_else(|_| of("self"))
}

/// Formats the message about a file that could not be read.
pub(crate) fn unreadable(path: &Path, error: &io::Error) -> String {
    format!("cannot read {}: {}", shown(path), error.kind())
}

/// Formats the message about a file whose content is not in the expected format.
pub(crate) fn garbled(path: &Path, content: &str, expected: &str) -> String {
    let content = escaped(start(content));
    format!("{} holds \"{content}\", not {expected}", shown(path))
}

/// Formats the message about an environment variable whose value is not in the expected format.
pub(crate) fn invalid(variable: &str, value: &str, expected: &str) -> String {
    let value = escaped(start(value));
    format!("invalid value \"{value}\" for {variable}: expected {expected}")
}

/// Prepares a path for a terminal: on one line, with control characters escaped.
pub(crate) fn shown(path: &Path) -> String {
    escaped(&path.to_string_lossy())
}

/// Returns the part of a text that a message quotes.
pub(crate) fn start(text: &str) -> &str {
    let end = text.char_indices().nth(QUOTED_MAX);
    end.map_or(text, |(end, _)| &text[..end])
}

/// Escapes the control characters of a text for a terminal.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() {
            out += &character.to_string().escape_default().to_string();
        } else {
            out.push(character);
        }
    }
    out
}
