//! Reads input files.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::OnceLock;

use crate::failure::Failure;
use crate::standard::{is_standard, shown_input};

/// The maximum length of a text file, in bytes. A topology file is shorter, even if it lists each
/// CPU of the largest machine for every core, cache and node.
const BYTES_MAX: u64 = 1 << 20;

/// Reads a file of any length.
pub fn bytes(file: &Path) -> Result<Vec<u8>, Failure> {
    read(file, u64::MAX)
}

/// Reads a text file in UTF-8, of at most 1 MiB.
pub fn text(file: &Path) -> Result<String, Failure> {
    let shown = shown_input(file);
    // Read one byte more than the limit, to detect files that are too long.
    let bytes = read(file, BYTES_MAX + 1)?;
    if bytes.len() as u64 > BYTES_MAX {
        let what = format!("{shown} is too long: expected at most {BYTES_MAX} bytes");
        return Err(Failure::Usage(what));
    }
    String::from_utf8(bytes).map_err(|error| {
        let after = error.utf8_error().valid_up_to();
        let what = format!("{shown} is not text from byte {after} on: expected UTF-8");
        Failure::Usage(what)
    })
}

/// Reads at most the first `most` bytes.
fn read(file: &Path, most: u64) -> Result<Vec<u8>, Failure> {
    static TAKEN: OnceLock<()> = OnceLock::new();
    let mut bytes = Vec::new();
    let read = if is_standard(file) {
        if TAKEN.set(()).is_err() {
            let what = "standard input can be read only once: expected - for one file";
            return Err(Failure::Usage(what.to_owned()));
        }
        io::stdin().lock().take(most).read_to_end(&mut bytes)
    } else {
        File::open(file).and_then(|open| open.take(most).read_to_end(&mut bytes))
    };
    match read {
        Ok(_) => Ok(bytes),
        Err(error) => Err(Failure::Impossible(format!(
            "{} cannot be read: {error}",
            shown_input(file)
        ))),
    }
}
