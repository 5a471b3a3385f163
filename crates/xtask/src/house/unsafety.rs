//! `unsafe` stands only in a few files. Clippy checks that each block has its note and a single operation.

use super::source::{code, has_word};
use super::{Repo, crate_of, violation};

/// The modules that may hold `unsafe`, with the modules in them, by folder.
const MODULES: [(&str, &str); 7] = [
    (
        "crates/sync/src",
        "cell futex clock barrier thread segmented",
    ),
    ("crates/deque/src", "claim ring split"),
    ("crates/share/src", "mapping"),
    (
        "crates/tidegate/src",
        "job latch worker scope interval allocator",
    ),
    ("crates/rayon-core/src", "scope"),
    // Tests that begin with a call of the C library.
    ("crates/share/tests/support", "sys"),
    ("crates/tidegate/tests/support", "forks"),
];

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
    MODULES.iter().any(|(folder, modules)| {
        let inside = path
            .strip_prefix(folder)
            .map(|inside| inside.split(['/', '.']));
        let module = inside.and_then(|mut parts| parts.nth(1));
        module.is_some_and(|module| has_word(modules, module))
    })
}

/// What the root of a crate lacks.
fn root(path: &str, text: &str) -> Option<String> {
    let name = crate_of(path)?;
    let folder = format!("crates/{name}/src");
    let file = path.strip_prefix(&folder)?;
    let safe = !MODULES.iter().any(|(other, _)| *other == folder);
    let missing = match name {
        _ if !["/lib.rs", "/main.rs"].contains(&file) => return None,
        _ if safe && !text.contains(FORBID) => FORBID,
        // Its decisions depend on nothing but their arguments.
        "policy" if !text.contains("#![no_std]") => "#![no_std]",
        _ => return None,
    };
    let advice = format!("this crate begins with {missing}");
    Some(violation(path, 1, advice))
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
