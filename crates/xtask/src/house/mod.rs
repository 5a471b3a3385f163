//! Checks that no other tool makes: `cargo run -p xtask -- house`.
//!
//! If rustc, clippy, rustdoc or cargo-deny can check something, this module leaves it to them.
//! Their settings are the lints in the root manifest, `clippy.toml` and `deny.toml`. The checks
//! here read text line by line, and rely on rustfmt's layout.

mod architecture;
mod door;
mod files;
mod guide;
mod links;
mod measures;
mod modules;
mod orderings;
mod rooms;
mod source;

use cargo_metadata::Package;

use crate::beside;
use crate::step::Outcome;
use crate::workspace::Workspace;

pub use links::web;
pub use measures::limit;

/// The page that describes the house.
pub const PAGE: &str = "ARCHITECTURE.md";

/// The sources of the runtime: of its core, and of what users call.
const CORE: &str = "crates/core/src/";
const TIDEGATE: &str = "crates/tidegate/src/";

/// The text files of the repository with their paths, and its packages with their folders.
struct Repo {
    texts: Vec<(String, String)>,
    packages: Vec<(String, Package)>,
}

/// A check; returns the violations that it finds.
type Rule = fn(&Repo) -> Vec<String>;

const RULES: [Rule; 9] = [
    architecture::check,
    door::check,
    measures::check,
    rooms::cycles,
    rooms::floors,
    files::texts,
    orderings::check,
    links::check,
    guide::check,
];

pub fn check(workspace: &Workspace) -> Outcome {
    let repo = Repo::read(workspace)?;
    let mut violations: Vec<String> = RULES.iter().flat_map(|rule| rule(&repo)).collect();
    violations.sort();
    match violations.len() {
        0 => Ok(format!("{} files", repo.texts.len())),
        _ => Err(violations.join("\n").into()),
    }
}

/// Returns what a text has in backticks.
fn quoted(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// Formats a violation in a line of a file. Lines are counted from 1.
fn violation(path: &str, line: usize, advice: impl AsRef<str>) -> String {
    format!("{path}:{line}: {}", advice.as_ref())
}

impl Repo {
    fn read(workspace: &Workspace) -> Result<Repo, String> {
        let files = workspace.files()?.into_iter();
        let text = |path: String| workspace.read(&path).ok().map(|text| (path, text));
        let mut packages = workspace.packages.clone();
        packages.extend(beside::packages(workspace)?);
        let in_folder = |package| (workspace.folder(&package), package);
        Ok(Repo {
            texts: files.filter_map(text).collect(),
            packages: packages.into_iter().map(in_folder).collect(),
        })
    }

    fn text(&self, path: &str) -> Option<&str> {
        let mut texts = self.texts.iter();
        texts.find_map(|(other, text)| (other == path).then_some(text.as_str()))
    }

    /// Returns the Rust files, each with its path.
    fn sources(&self) -> impl Iterator<Item = (&str, &str)> {
        let texts = self.texts.iter();
        let texts = texts.map(|(path, text)| (path.as_str(), text.as_str()));
        texts.filter(|(path, _)| path.ends_with(".rs"))
    }

    /// Returns the path prefixes of modules that are declared only for tests.
    fn test_modules(&self) -> Vec<String> {
        let declared = |(path, text)| source::test_modules(path, text);
        self.sources().flat_map(declared).collect()
    }

    /// Creates a repository that has these files and no packages.
    #[cfg(test)]
    fn of(files: &[(&str, &str)]) -> Repo {
        let texts = files.iter().map(|(p, t)| (p.to_string(), t.to_string()));
        let (texts, packages) = (texts.collect(), Vec::new());
        Repo { texts, packages }
    }
}

fn crate_of(path: &str) -> Option<&str> {
    path.strip_prefix("crates/")?.split('/').next()
}

/// Returns the line numbers of the violations that `rule` finds in one file.
#[cfg(test)]
fn lines(rule: Rule, path: &str, text: &str) -> Vec<usize> {
    let found = rule(&Repo::of(&[(path, text)])).into_iter();
    let line = |violation: String| violation.split(':').nth(1)?.parse().ok();
    found.filter_map(line).collect()
}
