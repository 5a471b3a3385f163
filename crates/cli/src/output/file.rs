//! Files that a command writes.

use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use crate::failure::Failure;

/// An error if the file, which is to be `what`, can surely not be written. Nothing is made or changed.
pub fn find_room(file: &Path, what: &str) -> Result<(), Failure> {
    room(file).map_err(|error| refused(file, what, &error))
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
