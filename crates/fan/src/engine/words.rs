//! The command line of a piece, as words of text.

use std::ffi::OsStr;

use crate::Error;
use crate::engine::{Launch, Round};

/// The command line of every piece, with the variable in which it finds its item.
pub struct Words(Vec<String>);

impl Words {
    /// Returns the words, which must be text for the engines. The engine names the item in
    /// `variable`.
    pub fn new(launch: &Launch, variable: &str) -> Result<Self, Error> {
        let mut words = launch.words();
        words.extend(["--item-from".into(), variable.into()]);
        let words: Result<_, _> = words.iter().map(|word| text(word)).collect();
        Ok(Self(words?))
    }

    /// Returns the words of an engine that gives an entry to each piece.
    pub fn bare(&self) -> Vec<String> {
        self.0.clone()
    }

    /// Returns the words of an engine that gives only a number to each piece.
    pub fn with_list(&self, round: &Round) -> Vec<String> {
        let list = ["--list".to_owned(), list(round)];
        self.0.iter().cloned().chain(list).collect()
    }
}

/// Returns the path of the list. It is in the folder, whose path is text.
pub fn list(round: &Round) -> String {
    round.list.display().to_string()
}

fn text(word: &OsStr) -> Result<String, Error> {
    let refused = || Error::never(format!("{} is not UTF-8", word.display()));
    word.to_str().map(str::to_owned).ok_or_else(refused)
}

/// Joins words to a line that a shell splits into the same words.
pub fn line(words: &[impl AsRef<OsStr>]) -> String {
    let words = words.iter().map(|word| word.as_ref().to_string_lossy());
    let quoted: Vec<_> = words.map(|word| quoted(&word)).collect();
    quoted.join(" ")
}

fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
