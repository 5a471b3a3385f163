//! Text files that somebody gives us.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::failure::Failure;

/// Longer files are not read: one that names each CPU of the largest machines for each of its things is shorter.
const BYTES_MAX: u64 = 1 << 20;

/// What is in the file.
pub fn text(file: &Path) -> Result<String, Failure> {
    let shown = file.display();
    let mut bytes = Vec::new();
    // One more than allowed, to see that there are more.
    File::open(file)
        .and_then(|open| open.take(BYTES_MAX + 1).read_to_end(&mut bytes))
        .map_err(|error| Failure::Impossible(format!("{shown} cannot be read: {error}")))?;
    if bytes.len() as u64 > BYTES_MAX {
        let what = format!("{shown} is longer than {BYTES_MAX} bytes; allowed: up to that");
        return Err(Failure::Usage(what));
    }
    String::from_utf8(bytes).map_err(|error| {
        let after = error.utf8_error().valid_up_to();
        let what = format!("{shown} is no text from byte {after} on; allowed: UTF-8");
        Failure::Usage(what)
    })
}
