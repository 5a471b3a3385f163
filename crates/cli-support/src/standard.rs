//! The file name `-`, which means standard input or output. A file named `-` must be written as
//! `./-`.

use std::path::Path;

/// Returns whether this name means standard input or output.
pub fn is_standard(file: &Path) -> bool {
    file.as_os_str() == "-"
}

/// Returns the name of an input file for messages.
pub fn shown_input(file: &Path) -> String {
    shown(file, "standard input")
}

/// Returns the name of an output file for messages.
pub fn shown_output(file: &Path) -> String {
    shown(file, "standard output")
}

fn shown(file: &Path, standard: &str) -> String {
    if is_standard(file) {
        standard.to_owned()
    } else {
        file.display().to_string()
    }
}
