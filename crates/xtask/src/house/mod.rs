//! Checks that no other tool makes: `cargo run -p xtask -- house`.
//!
//! If rustc, clippy, rustdoc or cargo-deny can check something, this module leaves it to them.
//! Their settings are the lints in the root manifest, `clippy.toml` and `deny.toml`. The checks
//! here read tables of Markdown, and Rust as text or as tokens.

mod architecture;
mod links;
mod measures;
mod modules;
mod orderings;
mod pages;
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

/// The sources of the runtime: of its core, and of what users call.
const CORE: &str = "crates/core/src/";
const TIDEGATE: &str = "crates/tidegate/src/";

/// The crates of the runtime, which run in users' programs.
const RUNTIME: &str = "core deque machine orx policy rayon-core share sync tidegate";

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

#[rustfmt::skip]
const RULES: [Rule; 10] = [
    architecture::check, pages::check_door, measures::check, rooms::cycles, rooms::floors, lengths,
    pages::check_security, orderings::check, links::check, pages::check_guide,
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
        let rust = texts.iter().filter(|(path, _)| path.ends_with(".rs"));
        let ours = rust.filter(|(path, _)| crate_of(path).is_some() && path.contains("/src/"));
        let mut sources: Vec<Source> = ours.map(|it| Source::new(it.0, it.1)).collect();
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

fn of_runtime(path: &str) -> bool {
    RUNTIME.split(' ').any(|name| crate_of(path) == Some(name))
}

fn crate_of(path: &str) -> Option<&str> {
    path.strip_prefix("crates/")?.split('/').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORDERINGS: &str = "fn a() { f(Relaxed); // a mere hint\n}\n\
        fn b() {\n    // Pairs with g's release.\n    f(\n        Acquire\n    );\n}\n\
        /// Only a hint.\nfn c() { f(Relaxed) }\nuse Ordering::{Acquire, Relaxed};\n\
        fn d() { f(Ordering::Acquire, SeqCst) }\nfn e() {\n    f(Acquire);\n}\n\
        fn g() {\n    unsafe { f(\"// unsafe\") }\n}\n#[cfg(all(test, loom))]\nmod models;\n\
        #[test]\n#[ignore]\nfn h() {\n    unsafe { f(Relaxed) }\n}";

    const ROOMS: &str = "| `core` | x | nothing | `libc` | 3 |\n| `deque` | x | `core` | nothing | 0 |\n\
        `sleep.rs`, `worker/`, `crates/`, `none.rs`\n| test programs | 0 |\n| lines of Rust | 5 |\n\
        ## The core\n| 2 | api | `lib.rs`, `door.rs` | x |\n| 1 | worker | `worker.rs`, `worker/` | x |\n\
        | 0 | leaves | `sleep.rs` | x |\n## The upper crate\n";

    const LINKS: &str = "# Own\n[a](sleep.md#how-to-sleep-1-2) [b](../README.md) [c](../docs) [d](#own)\n\
        [a](https://a.org/x.md)\n```\n[b](none.md)\n```\nand `[c](none.md)`\n\
        [there](sleeping.md)\n[there]: ../sleep.md\n[a](#other) [b](sleep.md#how-to-wake)";

    #[test]
    fn each_rule_finds_its_faults() {
        #[rustfmt::skip]
        let files = [
            ("README.md", ""),
            (PAGE, ROOMS),
            ("SECURITY.md", "| `deque` | 2 | x | y |"),
            ("docs/door.md", "`closed`, `a`, `B`, `c` and `e`"),
            ("docs/links.md", LINKS),
            ("docs/sleep.md", "# How to sleep: 1, 2\n"),
            ("docs/guide/a.md", "# A\n\n```rust\nfn main() {}\n```\n"),
            ("examples/a.rs", "//! A: `docs/guide/a.md`.\n\nfn main() {}\n"),
            ("examples/b.rs", "//! B: `docs/guide/a.md`.\n\nfn main() { serve() }\n"),
            ("crates/deque/src/lib.rs", ORDERINGS),
            ("crates/deque/src/models.rs", "fn f() { unsafe { f(Relaxed) } }"),
            ("crates/core/src/worker.rs", "use crate::sleep;"),
            ("crates/core/src/worker/join.rs", "use crate::sleep;"),
            ("crates/core/src/sleep.rs", "use crate::worker;"),
            ("crates/core/src/a.rs", ""),
            ("crates/core/src/door.rs", "pub mod closed;\npub use crate::a::{self, B};\npub use crate::c;\n\
                pub mod d {\n    pub use crate::d::{\n        e,\n        f,\n    };\n}"),
            ("long.md", &"\n".repeat(601)),
        ];
        let texts = files.map(|(path, text)| (path.to_string(), text.to_string()));
        let mut packages = WORKSPACE.packages.clone();
        packages.retain(|it| it.name == "tidegate-deque");
        let repo = Repo::new(texts.into(), packages);
        let place = |it: &String| it.split(": ").next().unwrap_or_default().to_string();
        let found = RULES.map(|rule| Vec::from_iter(rule(&repo).iter().map(place)).join(" "));
        let expected = [
            // No core; deque uses sync; no `none.rs`; no `lib.rs`.
            "ARCHITECTURE.md:1 crates/deque/Cargo.toml:1 ARCHITECTURE.md:3 ARCHITECTURE.md:7",
            "docs/door.md:1",
            // Too many lines of Rust, no number for five measures, and more test programs.
            "ARCHITECTURE.md:5 ARCHITECTURE.md:1 ARCHITECTURE.md:1 ARCHITECTURE.md:1 ARCHITECTURE.md:1 \
                ARCHITECTURE.md:1 ARCHITECTURE.md:4",
            "ARCHITECTURE.md:1",
            "crates/core/src/a.rs:1 crates/core/src/sleep.rs:1",
            "long.md:601",
            "SECURITY.md:1",
            "crates/deque/src/lib.rs:12 crates/deque/src/lib.rs:12 crates/deque/src/lib.rs:14",
            "docs/links.md:8 docs/links.md:9 docs/links.md:10 docs/links.md:10",
            "docs/guide/a.md:1",
        ];
        assert_eq!(found, expected);
    }
}
