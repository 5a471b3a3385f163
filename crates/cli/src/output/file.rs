//! Files that a command writes.

use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// An error if the file, which is to be `what`, can surely not be written. Nothing is made or changed.
pub fn find_room(file: &Path, what: &str) -> Result<(), Failure> {
    room(file).map_err(|error| refused(file, what, &error))
}

/// Refuses to write `what` over one of the files that it is made of.
pub fn keep_apart(out: &Path, what: &str, files: &[PathBuf]) -> Result<(), Failure> {
    let same = |file: &&PathBuf| match (fs::canonicalize(out), fs::canonicalize(file)) {
        (Ok(out), Ok(file)) => out == file,
        _ => false,
    };
    match files.iter().find(same) {
        Some(file) => Err(Failure::Usage(format!(
            "{}: {what} would take the place of {}, of which it is made; allowed: another file",
            out.display(),
            file.display()
        ))),
        None => Ok(()),
    }
}

/// Writes a file, which is `what`.
pub fn write_file(
    file: &Path,
    what: &str,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    let written = fs::File::create(file).and_then(|file| {
        let mut out = io::BufWriter::new(file);
        write(&mut out)?;
        out.flush()
    });
    written.map_err(|error| refused(file, what, &error))
}

fn room(file: &Path) -> io::Result<()> {
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
    Failure::Impossible(format!("{file}: {what} cannot be written here: {error}"))
}
