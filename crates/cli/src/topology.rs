//! A file that says what the CPUs of a made-up machine share.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use tidegate::machine::Topology;

use crate::failure::Failure;

/// Longer files are not read: one that names each CPU of the largest machines for each of its things is shorter.
const BYTES_MAX: u64 = 1 << 20;

/// What the file says.
pub fn read(file: &Path) -> Result<Topology, Failure> {
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
    let text = String::from_utf8(bytes).map_err(|error| {
        let after = error.utf8_error().valid_up_to();
        let what = format!("{shown} is no text from byte {after} on; allowed: UTF-8");
        Failure::Usage(what)
    })?;
    text.parse()
        .map_err(|error| Failure::Usage(format!("{shown}: {error}")))
}
