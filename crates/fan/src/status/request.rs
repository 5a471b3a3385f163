//! What a plan asks the program for, and the commands that go with its folder.

use std::ffi::OsString;
use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Split;
use crate::engine::words::line;
use crate::plan::Header;
use crate::run::book::last_engine;

/// What a plan asks the program for, as its header has it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Request {
    pieces: usize,
    /// A list of words if the program stores its command line.
    arguments: Value,
}

/// What a user may do next.
pub struct Commands {
    pub merge: String,
    pub resume: String,
}

impl Request {
    pub fn of<P: Split>(header: &Header<P>) -> Self {
        let header = serde_json::to_value(header).expect("arguments are JSON");
        serde_json::from_value(header).expect("a header has these")
    }

    fn words(&self) -> Option<Vec<&str>> {
        let words = self.arguments.as_array()?.iter();
        words.map(Value::as_str).collect()
    }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.words() {
            Some(words) => write!(f, "{}, --pieces {}", line(&words), self.pieces),
            None => write!(f, "{}, --pieces {}", self.arguments, self.pieces),
        }
    }
}

impl Commands {
    /// Returns the commands for a folder. `prefix` are the arguments that lead to the verbs.
    pub fn new(dir: &Path, prefix: &[OsString], request: &Request) -> Self {
        let program = std::env::args_os().next();
        let start: Vec<_> = program.iter().chain(prefix).cloned().collect();
        let command = |words: Vec<OsString>| line(&[start.clone(), words].concat());
        let merge = vec!["merge".into(), dir.into()];
        let mut run: Vec<OsString> = vec!["run".into()];
        if let Some(engine) = last_engine(dir).filter(|engine| engine != "local") {
            run.extend(["--engine".into(), engine.into()]);
        }
        let pieces = request.pieces.to_string();
        run.extend(["--pieces".into(), pieces.into(), "--dir".into(), dir.into()]);
        let resume = match request.words() {
            Some(words) => {
                // The program comes last, because what follows a `--` of its own is no option.
                run.extend(words.iter().map(OsString::from));
                command(run)
            }
            None => command(run) + " .., with the arguments above",
        };
        Self {
            merge: command(merge),
            resume,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn request(arguments: Value) -> Request {
        let pieces = 40;
        Request { pieces, arguments }
    }

    fn resume(request: &Request, dir: &Path) -> String {
        let resume = Commands::new(dir, &["fan".into()], request).resume;
        let (_, words) = resume.split_once(" fan ").expect("the prefix");
        words.to_owned()
    }

    #[test]
    fn command_lines_are_repeated() {
        let words = request(json!(["digest", "--", "a b"]));
        assert_eq!(words.to_string(), "digest -- 'a b', --pieces 40");
        assert_eq!(
            resume(&words, Path::new("D 1")),
            "run --pieces 40 --dir 'D 1' digest -- 'a b'"
        );
    }

    #[test]
    fn other_arguments_are_shown() {
        let below = request(json!({"below": 30}));
        assert_eq!(below.to_string(), r#"{"below":30}, --pieces 40"#);
        assert_eq!(
            resume(&below, Path::new("D")),
            "run --pieces 40 --dir D .., with the arguments above"
        );
    }

    #[test]
    fn engine_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        for engine in ["local", "hq"] {
            let submission = json!({"submission": {"engine": engine, "submission": {}}});
            folder::append(&folder.path().join("jobs"), &submission).expect("a line");
        }
        let words = resume(&request(json!(["uts"])), folder.path());
        assert!(words.starts_with("run --engine hq --pieces 40 "), "{words}");
    }
}
