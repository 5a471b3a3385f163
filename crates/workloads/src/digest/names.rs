//! File names as bytes: detects unusual names, and formats names for a checksum list or a terminal.

use std::ffi::{OsStr, OsString};

use serde::{Deserialize, Serialize};

/// A name or path that is written as text if it is UTF-8, and as a list of bytes otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Bytes {
    /// A name in UTF-8.
    Text(String),
    /// Any other name.
    Raw(Vec<u8>),
}

impl Bytes {
    /// Returns the bytes.
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Text(text) => text.as_bytes(),
            Self::Raw(bytes) => bytes,
        }
    }

    /// Returns the name for the operating system. Where names are not bytes, what is no text is
    /// replaced.
    pub fn to_os_string(&self) -> OsString {
        os_string(self.as_bytes())
    }
}

impl From<&[u8]> for Bytes {
    fn from(bytes: &[u8]) -> Self {
        match std::str::from_utf8(bytes) {
            Ok(text) => Self::Text(text.to_owned()),
            Err(_) => Self::Raw(bytes.to_owned()),
        }
    }
}

impl From<&OsStr> for Bytes {
    fn from(name: &OsStr) -> Self {
        Self::from(name.as_encoded_bytes())
    }
}

pub(super) fn os_string(bytes: &[u8]) -> OsString {
    #[cfg(unix)]
    let name = <OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(bytes).to_owned();
    #[cfg(not(unix))]
    let name = String::from_utf8_lossy(bytes).into_owned().into();
    name
}

/// Whether a name is unusual: it isn't UTF-8, or it contains control characters or backslashes.
pub(crate) fn is_odd(name: &OsStr) -> bool {
    name.to_str()
        .is_none_or(|name| name.chars().any(|c| c.is_control() || c == '\\'))
}

/// Appends the line that `sha256sum` prints for a file; `sha256sum -c` accepts it.
///
/// If the name has a backslash or a line break, the name is escaped and the line starts with a
/// backslash. The name `-` is written as `./-`, because `-` would mean standard input.
pub(crate) fn push_line(line: &mut Vec<u8>, digest: &[u8; 32], path: &[u8]) {
    let escaped = path.iter().any(|byte| escape(*byte).is_some());
    line.extend(escaped.then_some(b'\\'));
    line.extend(digits(digest));
    line.extend_from_slice(b"  ");
    line.extend_from_slice(if path == b"-" { b"./" } else { b"" });
    if escaped {
        for &byte in path {
            let letter = escape(byte);
            line.extend(letter.map(|_| b'\\'));
            line.push(letter.unwrap_or(byte));
        }
    } else {
        line.extend_from_slice(path);
    }
    line.push(b'\n');
}

/// Returns what a backslash and a letter stand for in an escaped name, as the letter.
fn escape(byte: u8) -> Option<u8> {
    match byte {
        b'\\' => Some(b'\\'),
        b'\n' => Some(b'n'),
        b'\r' => Some(b'r'),
        _ => None,
    }
}

/// Returns the 64 lowercase hexadecimal digits of a digest.
fn digits(digest: &[u8; 32]) -> impl Iterator<Item = u8> {
    let digit = |nibble: u8| b"0123456789abcdef"[usize::from(nibble)];
    digest
        .iter()
        .flat_map(move |b| [digit(b >> 4), digit(b & 15)])
}

/// Formats a digest as 64 lowercase hexadecimal digits.
pub fn hex(digest: &[u8; 32]) -> String {
    digits(digest).map(char::from).collect()
}

/// Makes a path safe to print on a terminal: bytes that are not UTF-8, control characters and
/// backslashes are escaped as in a Rust string.
///
/// ```
/// use tidegate_workloads::digest::printable;
///
/// assert_eq!(printable(b"caf\xc3\xa9/a\nb\xff"), r"café/a\nb\xff");
/// ```
pub fn printable(path: &[u8]) -> String {
    let mut text = String::new();
    for chunk in path.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\\' => text.push_str("\\\\"),
                c if c.is_control() => text.extend(c.escape_default()),
                c => text.push(c),
            }
        }
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02x}"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(path: &[u8]) -> String {
        let mut line = Vec::new();
        push_line(&mut line, &[0xa5; 32], path);
        String::from_utf8(line).unwrap()
    }

    #[test]
    fn lines_are_those_of_sha256sum() {
        let hex = "a5".repeat(32);
        assert_eq!(line(b"a/b c"), format!("{hex}  a/b c\n"));
        assert_eq!(line(b"a\\b\nc\rd"), format!("\\{hex}  a\\\\b\\nc\\rd\n"));
        assert_eq!(line(b"-"), format!("{hex}  ./-\n"));
        assert_eq!(line(b"a/-"), format!("{hex}  a/-\n"));
    }

    #[test]
    fn names_with_special_characters_are_odd() {
        for name in ["a b", "é", "-", "..."] {
            assert!(!is_odd(OsStr::new(name)), "{name}");
        }
        for name in ["a\nb", "a\\b", "\u{7f}", "\u{85}"] {
            assert!(is_odd(OsStr::new(name)), "{name}");
        }
    }
}
