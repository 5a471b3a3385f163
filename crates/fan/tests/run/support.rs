//! A folder in which the program runs.

use std::env::current_exe;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use tempfile::TempDir;

pub struct Fan {
    folder: TempDir,
}

impl Fan {
    pub fn new() -> Self {
        let folder = TempDir::new().expect("a folder");
        Self { folder }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn read(&self, name: &str) -> String {
        let text = fs::read_to_string(self.path(name));
        text.unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Returns the names in a folder, in order.
    pub fn names(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(folder)).into_iter().flatten();
        let names = entries.map(|entry| entry.expect("an entry").file_name());
        let mut names: Vec<_> = names
            .map(|name| name.into_string().expect("UTF-8"))
            .collect();
        names.sort();
        names
    }

    /// Returns the command whose words are separated by spaces.
    pub fn command(&self, words: &str) -> Command {
        let mut command = Command::new(current_exe().expect("a path"));
        command.args(words.split_whitespace());
        command.current_dir(self.folder.path());
        command.env_remove("TIDEGATE_WORKERS");
        command
    }

    pub fn output(&self, words: &str) -> Ended {
        Ended::of(self.command(words).output().expect("a process"))
    }
}

#[track_caller]
pub fn assert_contains(text: &str, parts: &[&str]) {
    assert!(parts.iter().all(|part| text.contains(part)), "{text}");
}

/// What has become of a command.
#[derive(Debug)]
pub struct Ended {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Ended {
    pub fn of(output: Output) -> Self {
        Self {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).expect("UTF-8"),
            err: String::from_utf8(output.stderr).expect("UTF-8"),
        }
    }

    /// Checks that the command has succeeded, and returns what it has printed.
    pub fn done(self) -> String {
        assert_eq!(self.code, Some(0), "{self:?}");
        self.out
    }

    /// Checks the code, and that the messages have these parts.
    #[track_caller]
    pub fn told(&self, code: i32, parts: &[&str]) {
        assert_eq!(self.code, Some(code), "{self:?}");
        assert!(parts.iter().all(|part| self.err.contains(part)), "{self:?}");
    }

    /// Checks that the command has failed with this code, one line, and these parts of it.
    #[track_caller]
    pub fn refused(&self, code: i32, parts: &[&str]) {
        self.told(code, parts);
        assert_eq!(self.err.lines().count(), 1, "{self:?}");
    }
}
