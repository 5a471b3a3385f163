//! Checks that no other tool makes: `cargo run -p xtask -- house`.
//!
//! If rustc, clippy, rustdoc or cargo-deny can check something, this module leaves it to them.
//! Their settings are the lints in the root manifest, `clippy.toml` and `deny.toml`. The checks
//! here read tables of Markdown, and Rust as text or as tokens.

mod architecture;
mod door;
mod guide;
mod links;
mod measures;
mod modules;
mod orderings;
mod rooms;
mod source;

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Result, ensure};
use cargo_metadata::Package;

use crate::beside::{self, files};
use crate::command::Cmd;
use crate::step::Outcome;
use crate::workspace::WORKSPACE;
use source::Source;

pub use links::web;
pub use measures::most;

/// The page that describes the house.
pub const PAGE: &str = "ARCHITECTURE.md";

/// The page that has the numbers of `unsafe`.
const SECURITY: &str = "SECURITY.md";

/// The sources of the runtime: of its core, and of what users call.
const CORE: &str = "crates/core/src/";
const TIDEGATE: &str = "crates/tidegate/src/";

/// The maximum number of lines of a file.
const LINES: usize = 600;

/// Generated files, and the texts of licences.
const NOT_OURS: [&str; 3] = ["Cargo.lock", "LICENSE-APACHE", "LICENSE-MIT"];

/// Paths and hosts that exist only on one machine or network, not as part of a longer path or name.
/// Brackets keep this line from matching itself.
const FOREIGN: &str = "(^|[^[:alnum:]_.}-])(/wor[k]|/roo[t]|/hom[e]|[.][.]/share[d]|/tmp/targe[t]|\
    inde[x][.]crates[.]io|stati[c][.]crates[.]io|stati[c][.]rust-lang[.]org|registr[y][.]npmjs[.]org|\
    file[s][.]pythonhosted[.]org|de[b][.]debian[.]org)([^[:alnum:]_-]|$)";

/// The text files of the repository by path, the sources below `crates/*/src` that are not only for
/// tests, and the packages.
struct Repo {
    texts: BTreeMap<String, String>,
    sources: Vec<Source>,
    packages: Vec<Package>,
}

/// A check; returns the violations that it finds.
type Rule = fn(&Repo) -> Vec<String>;

const RULES: [Rule; 10] = [
    architecture::check,
    door::check,
    measures::check,
    rooms::cycles,
    rooms::floors,
    lengths,
    unsafety,
    orderings::check,
    links::check,
    guide::check,
];

pub fn check() -> Outcome {
    let packages = [WORKSPACE.packages.clone(), beside::packages()?].concat();
    let repo = Repo::new(texts()?, packages);
    let mut violations: Vec<String> = RULES.iter().flat_map(|rule| rule(&repo)).collect();
    // git prints lines as violations, and fails if it finds none.
    let foreign = Cmd::new("git").args(["grep", "--untracked", "-nIE", FOREIGN]);
    let advice = "is a place that means nothing to readers elsewhere";
    let lines = foreign.run()?.1;
    violations.extend(lines.lines().skip(1).map(|it| format!("{it}: {advice}")));
    violations.sort();
    ensure!(violations.is_empty(), "{}", violations.join("\n"));
    Ok(measures::sizes(&repo))
}

/// Returns the text files of the repository, by path.
fn texts() -> Result<BTreeMap<String, String>> {
    let text = |path: String| Some((path.clone(), fs::read_to_string(path).ok()?));
    Ok(files()?.into_iter().filter_map(text).collect())
}

/// Returns what a text has in backticks.
fn quoted(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// Returns the part of a page below a heading.
fn section<'a>(page: &'a str, heading: &str) -> &'a str {
    let below = page.split(heading).nth(1).unwrap_or_default();
    below.split("\n## ").next().unwrap_or_default()
}

/// Returns the rows of the tables with `N` columns, each with its line.
fn rows<const N: usize>(text: &str) -> impl Iterator<Item = (usize, [&str; N])> {
    (1..).zip(text.lines()).filter_map(|(line, text)| {
        let cells = text.strip_prefix('|')?.strip_suffix('|')?.split('|');
        let cells: Vec<&str> = cells.map(str::trim).collect();
        Some((line, cells.try_into().ok()?))
    })
}

/// Whether `name` is this file, or a folder with a slash at its end that contains the file.
fn holds(name: &str, file: &str) -> bool {
    name == file || name.ends_with('/') && file.starts_with(name)
}

/// Formats a violation in a line of a file. Lines are counted from 1.
fn violation(path: &str, line: usize, advice: impl AsRef<str>) -> String {
    format!("{path}:{line}: {}", advice.as_ref())
}

impl Repo {
    fn new(texts: BTreeMap<String, String>, packages: Vec<Package>) -> Repo {
        let is_source = |path: &str| {
            path.starts_with("crates/") && path.contains("/src/") && path.ends_with(".rs")
        };
        let sources = texts.iter().filter(|(path, _)| is_source(path));
        let mut sources: Vec<Source> = sources.map(|it| Source::new(it.0, it.1)).collect();
        let tests: Vec<String> = sources.iter().flat_map(|it| it.tests.clone()).collect();
        sources.retain(|source| !tests.iter().any(|test| holds(test, &source.path)));
        Repo {
            texts,
            sources,
            packages,
        }
    }

    fn text(&self, path: &str) -> &str {
        self.texts.get(path).map_or("", String::as_str)
    }

    /// Returns the sources below a folder, with their paths in that folder.
    fn below(&self, folder: &str) -> impl Iterator<Item = (&str, &Source)> {
        let sources = self.sources.iter();
        sources.filter_map(move |source| Some((source.path.strip_prefix(folder)?, source)))
    }

    /// Creates a repository that has these files and no packages.
    #[cfg(test)]
    fn with(files: &[(&str, &str)]) -> Repo {
        let owned = |(path, text): &(&str, &str)| (path.to_string(), text.to_string());
        Repo::new(files.iter().map(owned).collect(), Vec::new())
    }
}

/// Finds files that are too long.
fn lengths(repo: &Repo) -> Vec<String> {
    let mut found = Vec::new();
    for (path, text) in &repo.texts {
        if text.lines().count() > LINES && !NOT_OURS.iter().any(|name| path.ends_with(name)) {
            let advice = format!("at most {LINES} lines are allowed: split the file");
            found.push(violation(path, LINES + 1, advice));
        }
    }
    found
}

/// Compares the table of SECURITY.md with how often each crate has `unsafe` outside tests.
fn unsafety(repo: &Repo) -> Vec<String> {
    let mut numbers = BTreeMap::<_, usize>::new();
    for source in &repo.sources {
        let tokens = source.tokens.iter().filter(|it| it.text == "unsafe");
        *numbers.entry(crate_of(&source.path)).or_default() += tokens.count();
    }
    numbers.retain(|_, number| *number > 0);
    let written = rows(repo.text(SECURITY)).filter_map(|(_, [name, number, _, _])| {
        let number = number.parse().ok()?;
        Some((name.split('`').nth(1), number))
    });
    let written = written.collect();
    let advice = format!("the crates have `unsafe` this often: {numbers:?}");
    let wrong = (numbers != written).then(|| violation(SECURITY, 1, advice));
    wrong.into_iter().collect()
}

fn crate_of(path: &str) -> Option<&str> {
    path.strip_prefix("crates/")?.split('/').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_numbers_of_unsafe_are_right() {
        let source =
            "fn a() {\n    unsafe { b() }\n}\n#[cfg(test)]\nmod t {\n    unsafe fn c() {}\n}";
        let found = |row: &str| {
            let files = [(SECURITY, row), ("crates/a/src/lib.rs", source)];
            unsafety(&Repo::with(&files)).len()
        };
        let rows = ["| `a` | 1 | x | y |", "| `a` | 2 | x | y |", ""];
        assert_eq!(rows.map(found), [0, 1, 1]);
    }
}
