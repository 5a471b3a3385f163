//! The files of the repository as the rules see them.
//!
//! Every UTF-8 file of the workspace is read, tracked or not, so that a breach shows before its commit.

use std::fs;

use super::source::Source;
use crate::beside;
use crate::workspace::{Package, Workspace, slashed};

/// A text file.
pub struct Text {
    /// Its path from the root, with `/` between the parts.
    pub path: String,
    /// What it holds.
    pub text: String,
}

/// Everything the rules look at.
pub struct Repo {
    /// Every text file.
    pub texts: Vec<Text>,
    /// The Rust files among them, cut up.
    pub sources: Vec<Source>,
    /// Rust files that do not lex: path, line, why.
    pub unread: Vec<(String, usize, String)>,
    /// The members of the workspace and the packages beside it.
    pub packages: Vec<Package>,
}

impl Repo {
    /// Reads the files below the workspace's root.
    pub fn read(workspace: &Workspace) -> Result<Repo, String> {
        let mut texts = Vec::new();
        for path in workspace.files()? {
            let file = workspace.root.join(&path);
            let bytes = fs::read(&file).map_err(|error| format!("{}: {error}", file.display()))?;
            // A file that is not UTF-8 holds nothing that the rules could read.
            if let Ok(text) = String::from_utf8(bytes) {
                let path = slashed(&path);
                texts.push(Text { path, text });
            }
        }
        let mut packages = workspace.packages.clone();
        packages.extend(beside::packages(workspace)?);
        Ok(Repo::new(texts, packages))
    }

    /// The repository of these files and packages.
    pub fn new(texts: Vec<Text>, packages: Vec<Package>) -> Repo {
        let mut sources = Vec::new();
        let mut unread = Vec::new();
        for file in texts.iter().filter(|file| file.path.ends_with(".rs")) {
            match Source::read(&file.path, &file.text) {
                Ok(source) => sources.push(source),
                Err((line, why)) => unread.push((file.path.clone(), line, why)),
            }
        }
        let tests: Vec<String> = sources.iter().flat_map(test_modules).collect();
        for source in &mut sources {
            let in_module = |module: &String| {
                source
                    .path
                    .strip_prefix(module)
                    .is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
            };
            if is_test_folder(&source.path) || tests.iter().any(in_module) {
                source.test_lines.push(1..=usize::MAX);
            }
        }
        Repo {
            texts,
            sources,
            unread,
            packages,
        }
    }

    /// The file at `path`.
    pub fn text(&self, path: &str) -> Option<&str> {
        self.texts
            .iter()
            .find(|file| file.path == path)
            .map(|file| file.text.as_str())
    }
}

/// Whether cargo takes the file for a test, bench or example.
fn is_test_folder(path: &str) -> bool {
    let inside = path.split('/').nth(2).unwrap_or_default();
    path.starts_with("crates/") && ["tests", "benches", "examples"].contains(&inside)
}

/// The paths, without `.rs`, of the modules that the source declares for tests only.
fn test_modules(source: &Source) -> Vec<String> {
    let (folder, file) = source.path.rsplit_once('/').unwrap_or(("", &source.path));
    let folder = match file {
        "lib.rs" | "main.rs" | "mod.rs" => folder.to_string(),
        _ => format!("{folder}/{}", file.trim_end_matches(".rs")),
    };
    let declared = source.tokens.windows(3).filter(|words| {
        words[0].text == "mod" && words[2].text == ";" && source.in_test(words[0].line)
    });
    declared
        .map(|words| format!("{folder}/{}", words[1].text))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_declared_for_tests_only_is_a_test_in_its_own_files_too() {
        let file = |path: &str, text: &str| Text {
            path: path.to_string(),
            text: text.to_string(),
        };
        let declared = "mod word;\n#[cfg(all(test, loom))]\nmod models;";
        let repo = Repo::new(
            vec![
                file("crates/deque/src/split/mod.rs", declared),
                file("crates/deque/src/split/word.rs", ""),
                file("crates/deque/src/split/models.rs", ""),
                file("crates/deque/src/split/models/theft.rs", ""),
            ],
            Vec::new(),
        );
        let tests: Vec<bool> = repo
            .sources
            .iter()
            .map(|source| source.in_test(1))
            .collect();
        assert_eq!(tests, [false, false, true, true]);
    }
}
