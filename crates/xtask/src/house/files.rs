//! Checks what files contain: `unsafe` is only in the listed modules, files have at most 600 lines,
//! and no file names a path or host that only its author can reach. Clippy checks that each
//! `unsafe` block has a safety comment and a single operation.

use super::source::{code, has_word};
use super::{Repo, crate_of, violation};

/// The modules that may contain `unsafe`, with their submodules, by folder.
const MODULES: [(&str, &str); 8] = [
    (
        "crates/sync/src",
        "cell futex clock barrier thread pages segmented simulation",
    ),
    ("crates/deque/src", "claim ring slots split"),
    ("crates/share/src", "mapping"),
    ("crates/core/src", "job latch worker scope allocator"),
    ("crates/tidegate/src", "interval owned results spawn"),
    ("crates/rayon-core/src", "scope"),
    // These tests call the C library to fork, trace, stop and kill processes.
    ("crates/share/tests/support", "sys"),
    ("crates/tidegate/tests/support", "forks"),
];

const FORBID: &str = "#![forbid(unsafe_code)]";

/// Finds `unsafe` in other files, and crates without `unsafe` that do not forbid it.
pub fn unsafety(repo: &Repo) -> Vec<String> {
    let found = repo.sources().flat_map(|(path, text)| {
        let lines = text.lines().enumerate().filter(|_| !may_hold(path));
        let used = lines.filter(|(_, line)| has_word(&code(line), "unsafe"));
        let advice = "move this unsafe behind a safe function of a file that may hold it";
        let used = used.map(move |(at, _)| violation(path, at + 1, advice));
        used.chain(root(path, text))
    });
    found.collect()
}

fn may_hold(path: &str) -> bool {
    MODULES.iter().any(|(folder, modules)| {
        let inside = path
            .strip_prefix(folder)
            .map(|inside| inside.split(['/', '.']));
        let module = inside.and_then(|mut parts| parts.nth(1));
        module.is_some_and(|module| has_word(modules, module))
    })
}

/// Returns the violation if a crate's root file lacks an attribute that the crate needs.
fn root(path: &str, text: &str) -> Option<String> {
    let name = crate_of(path)?;
    let folder = format!("crates/{name}/src");
    let file = path.strip_prefix(&folder)?;
    let safe = !MODULES.iter().any(|(other, _)| *other == folder);
    let missing = match name {
        _ if !["/lib.rs", "/main.rs"].contains(&file) => return None,
        _ if safe && !text.contains(FORBID) => FORBID,
        // Without `std`, the decisions of this crate can depend only on their arguments.
        "policy" if !text.contains("#![no_std]") => "#![no_std]",
        _ => return None,
    };
    let advice = format!("this crate begins with {missing}");
    Some(violation(path, 1, advice))
}

const LINES: usize = 600;

/// Generated files, and the texts of licences.
const NOT_OURS: [&str; 3] = ["Cargo.lock", "LICENSE-APACHE", "LICENSE-MIT"];

/// Paths and hosts that exist only on one machine or network. Each is cut in two, so that this file
/// does not contain it.
const FOREIGN: &str = "/wor+k /roo+t /hom+e ../sha+red /tmp/tar+get index.+crates.io static.+crates.io \
    static.+rust-lang.org registry.+npmjs.org files.+pythonhosted.org deb.+debian.org";

/// Finds files that are too long, and files that name a path or host in `FOREIGN`.
pub fn texts(repo: &Repo) -> Vec<String> {
    let places = FOREIGN.replace('+', "");
    let mut found = Vec::new();
    for (path, text) in &repo.texts {
        let lines = text.lines().count();
        let name = path.rsplit('/').next().unwrap_or_default();
        if lines > LINES && !NOT_OURS.contains(&name) {
            let advice = format!("{lines} lines, and at most {LINES} are allowed: split the file");
            found.push(violation(path, 1, advice));
        }
        for place in places
            .split_whitespace()
            .filter(|place| text.contains(place))
        {
            let lines = text.lines().enumerate();
            let advice = format!("{place} means nothing to readers elsewhere");
            let named = lines.filter(|(_, line)| mentions(line, place));
            found.extend(named.map(|(at, _)| violation(path, at + 1, &advice)));
        }
    }
    found
}

/// Whether the line contains `word`, but not as part of a longer path or name.
fn mentions(line: &str, word: &str) -> bool {
    let part_of_name = |c: char| c.is_alphanumeric() || ['_', '-'].contains(&c);
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        !before.is_some_and(|c| part_of_name(c) || ['.', '}'].contains(&c))
            && !after.is_some_and(part_of_name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::house::lines;

    #[test]
    fn only_the_listed_files_hold_it() {
        let text = concat!("fn f() {\n    un", "safe { g() }\n}");
        let found = |path| lines(unsafety, path, text);
        assert_eq!(found("crates/core/src/job.rs"), [0; 0]);
        assert_eq!(found("crates/core/src/job/frame.rs"), [0; 0]);
        assert_eq!(found("crates/tidegate/src/join.rs"), [2]);
        assert_eq!(found("crates/tidegate/tests/job.rs"), [2]);
        assert_eq!(found("benches/a.rs"), [2]);
        let words = "// unsafe\nfn f() { g(\"unsafe\") }";
        assert_eq!(lines(unsafety, "a.rs", words), [0; 0]);
    }

    #[test]
    fn a_crate_without_it_forbids_it() {
        let root = "crates/policy/src/lib.rs";
        assert_eq!(lines(unsafety, root, ""), [1]);
        assert_eq!(lines(unsafety, root, FORBID), [1]);
        assert_eq!(
            lines(unsafety, root, &format!("{FORBID}#![no_std]")),
            [0; 0]
        );
        assert_eq!(lines(unsafety, "crates/sync/src/lib.rs", ""), [0; 0]);
    }

    #[test]
    fn too_long_file_is_found() {
        let text = "line\n".repeat(LINES);
        assert_eq!(lines(texts, "docs/a.md", &text), [0; 0]);
        let longer = text + "line\n";
        assert_eq!(lines(texts, "docs/a.md", &longer), [1]);
        assert_eq!(lines(texts, "fuzz/Cargo.lock", &longer), [0; 0]);
    }

    #[test]
    fn machine_specific_path_is_found() {
        let places = FOREIGN.replace('+', "");
        let place = places.split(' ').next().unwrap();
        let text = format!("crates/workloads, src/work/a.rs, /working\nsee {place}/main");
        assert_eq!(lines(texts, "docs/a.md", &text), [2]);
    }
}
