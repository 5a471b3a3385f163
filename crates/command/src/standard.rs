//! What `-` means where a file is named: standard input, or standard output. A file of that name is `./-`.

use std::path::Path;

/// Whether it is none of the files.
pub fn is_standard(file: &Path) -> bool {
    file.as_os_str() == "-"
}

/// What a file that is read is called in messages.
pub fn shown_input(file: &Path) -> String {
    shown(file, "standard input")
}

/// What a file that is written is called in messages.
pub fn shown_output(file: &Path) -> String {
    shown(file, "standard output")
}

fn shown(file: &Path, standard: &str) -> String {
    match is_standard(file) {
        true => standard.to_owned(),
        false => file.display().to_string(),
    }
}
