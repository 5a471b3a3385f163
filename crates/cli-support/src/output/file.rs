//! Writes output files. A file name may stand for standard output.

use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use super::{to_stderr, to_stdout};
use crate::failure::Failure;
use crate::standard::is_standard;

/// Returns whether human-readable output must go to standard error, because one of `files` is
/// standard output. Each file is paired with the name of its option.
///
/// # Errors
/// Returns an error if two files, or a file and JSON, would both go to standard output.
pub fn is_aside(files: &[(&str, Option<&PathBuf>)], json: bool) -> Result<bool, Failure> {
    let files = files
        .iter()
        .filter(|(_, file)| file.is_some_and(|file| is_standard(file)));
    let mut takers = files
        .map(|(option, _)| format!("{option} -"))
        .chain(json.then(|| "--json".to_owned()));
    match (takers.next(), takers.next()) {
        (Some(one), Some(other)) => Err(Failure::Usage(format!(
            "{one} and {other} both write to standard output: expected one of the two, or a file (./- for a file named -)"
        ))),
        (one, _) => Ok(one.is_some() && !json),
    }
}

/// Writes human-readable output to standard output, or to standard error if `aside` is true.
pub fn answer(
    aside: bool,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    if !aside {
        return to_stdout(write);
    }
    let mut text = Vec::new();
    write(&mut text).expect("writing to memory cannot fail");
    to_stderr(&String::from_utf8_lossy(&text));
    Ok(())
}

/// Checks whether the file can be written, without creating or changing any file. An error means
/// that writing would certainly fail. `what` describes the file's future contents.
pub fn find_room(file: &Path, what: &str) -> Result<(), Failure> {
    room(file).map_err(|error| refused(file, what, &error))
}

/// Checks that writing `what` to `out` would not overwrite one of its input `files`.
pub fn keep_apart(out: &Path, what: &str, files: &[PathBuf]) -> Result<(), Failure> {
    let is_file = |file: &&PathBuf| !is_standard(file) && !is_standard(out);
    let same = |file: &&PathBuf| match (fs::canonicalize(out), fs::canonicalize(file)) {
        (Ok(out), Ok(file)) => out == file,
        _ => false,
    };
    match files.iter().filter(is_file).find(same) {
        Some(file) => Err(Failure::Usage(format!(
            "{}: {what} would overwrite its input {}: expected another file",
            out.display(),
            file.display()
        ))),
        None => Ok(()),
    }
}

/// Writes a file. `what` describes its contents in error messages.
pub fn write_file(
    file: &Path,
    what: &str,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    if is_standard(file) {
        return to_stdout(write);
    }
    let written = fs::File::create(file).and_then(|file| {
        let mut out = io::BufWriter::new(file);
        write(&mut out)?;
        out.flush()
    });
    written.map_err(|error| refused(file, what, &error))
}

fn room(file: &Path) -> io::Result<()> {
    if is_standard(file) {
        return Ok(());
    }
    match fs::OpenOptions::new().write(true).open(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let folder = file
                .parent()
                .filter(|folder| !folder.as_os_str().is_empty());
            fs::read_dir(folder.unwrap_or(Path::new("."))).map(drop)
        }
        opened => opened.map(drop),
    }
}

fn refused(file: &Path, what: &str, error: &io::Error) -> Failure {
    let file = file.display();
    Failure::Impossible(format!("{file}: cannot write {what}: {error}"))
}
