//! `unsafe` stands only in a few files. Clippy checks that each block has its note and a single operation.

use super::source::{code, has_word};
use super::{Repo, crate_of, violation};

/// The files that may hold `unsafe`, each with the folder of its modules.
const FILES: [&str; 18] = [
    "crates/sync/src/cell",
    "crates/sync/src/futex",
    "crates/sync/src/clock",
    "crates/sync/src/barrier",
    "crates/sync/src/thread",
    "crates/sync/src/segmented",
    "crates/deque/src/claim",
    "crates/deque/src/ring",
    "crates/deque/src/split",
    "crates/share/src/mapping",
    "crates/share/tests/support/sys",
    "crates/tidegate/src/job",
    "crates/tidegate/src/latch",
    "crates/tidegate/src/worker",
    "crates/tidegate/src/scope",
    "crates/tidegate/src/interval",
    "crates/tidegate/src/allocator",
    "crates/rayon-core/src/scope",
];

/// Tests that begin with a call of the C library.
const TESTS: [&str; 1] = ["crates/tidegate/tests/support/forks.rs"];

const FORBID: &str = "#![forbid(unsafe_code)]";

/// Finds `unsafe` in other files, and crates without `unsafe` that do not forbid it.
pub fn check(repo: &Repo) -> Vec<String> {
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
    let listed = |file: &&str| {
        let rest = path.strip_prefix(*file);
        rest.is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
    };
    FILES.iter().any(listed) || TESTS.contains(&path)
}

/// What the root of a crate lacks.
fn root(path: &str, text: &str) -> Option<String> {
    let name = crate_of(path)?;
    let roots = ["lib.rs", "main.rs"].map(|file| format!("crates/{name}/src/{file}"));
    let sources = format!("crates/{name}/src/");
    let safe = !FILES.iter().any(|file| file.starts_with(&sources));
    let lacks = |attribute| roots.contains(&path.to_string()) && !text.contains(attribute);
    let missing = match name {
        _ if safe && lacks(FORBID) => FORBID,
        // Its decisions depend on nothing but their arguments.
        "policy" if lacks("#![no_std]") => "#![no_std]",
        _ => return None,
    };
    Some(violation(
        path,
        1,
        format!("this crate begins with {missing}"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::house::lines;

    #[test]
    fn only_the_listed_files_hold_it() {
        let text = concat!("fn f() {\n    un", "safe { g() }\n}");
        let found = |path| lines(check, path, text);
        assert_eq!(found("crates/tidegate/src/job.rs"), [0; 0]);
        assert_eq!(found("crates/tidegate/src/job/frame.rs"), [0; 0]);
        assert_eq!(found("crates/tidegate/src/join.rs"), [2]);
        assert_eq!(found("crates/tidegate/tests/job.rs"), [2]);
        assert_eq!(found("benches/a.rs"), [2]);
        let words = "// unsafe\nfn f() { g(\"unsafe\") }";
        assert_eq!(lines(check, "a.rs", words), [0; 0]);
    }

    #[test]
    fn a_crate_without_it_forbids_it() {
        let root = "crates/policy/src/lib.rs";
        assert_eq!(lines(check, root, ""), [1]);
        assert_eq!(lines(check, root, FORBID), [1]);
        assert_eq!(lines(check, root, &format!("{FORBID}#![no_std]")), [0; 0]);
        assert_eq!(lines(check, "crates/sync/src/lib.rs", ""), [0; 0]);
    }
}
