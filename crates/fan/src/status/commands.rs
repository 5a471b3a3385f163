//! The commands that go with a folder.

use std::ffi::OsString;
use std::path::Path;

use crate::engine::words::line;
use crate::request::Request;
use crate::run::book::last_engine;

/// What a user may do next.
pub struct Commands {
    pub merge: String,
    pub resume: String,
}

/// Returns the command that merges a folder.
pub fn merge(dir: &Path, prefix: &[OsString]) -> String {
    command(prefix, vec!["merge".into(), dir.into()])
}

fn command(prefix: &[OsString], words: Vec<OsString>) -> String {
    let program = std::env::args_os().next();
    let start: Vec<_> = program.iter().chain(prefix).cloned().collect();
    line(&[start, words].concat())
}

impl Commands {
    /// Returns the commands for a folder. `prefix` are the arguments that lead to the verbs.
    pub fn new(dir: &Path, prefix: &[OsString], request: &Request) -> Self {
        let command = |words| command(prefix, words);
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
            merge: merge(dir, prefix),
            resume,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    use crate::folder::Folder;
    use crate::name::Name;
    use crate::run::book::Book;

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
        let results = Folder::new(folder.path(), "0123456789".to_owned());
        for engine in ["local", "hq"] {
            let book = Book::new(&results, engine);
            let round = book.round(vec![Name::planned(0)]).expect("a list");
            book.note(&round).expect("a line");
        }
        let words = resume(&request(json!(["uts"])), folder.path());
        assert!(words.starts_with("run --engine hq --pieces 40 "), "{words}");
    }
}
