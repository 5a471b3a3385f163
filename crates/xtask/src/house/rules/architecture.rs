//! ARCHITECTURE.md agrees with the plan and with the sources.
//!
//! Its table of crates says what `ROOMS` says about imports, the files and folders that it names exist, and each file of
//! the runtime belongs to one of its rooms. The state diagram is checked by a test of `policy`, which has the table.

use crate::house::Breach;
use crate::house::plan::{ROOMS, Room};
use crate::house::repo::Repo;

const PAGE: &str = "ARCHITECTURE.md";
const RUNTIME: &str = "crates/tidegate/src/";
const RULE: &str = "architecture";

/// Where the page disagrees. A missing page is found by the links to it.
pub fn check(repo: &Repo) -> Vec<Breach> {
    let Some(page) = repo.text(PAGE) else {
        return Vec::new();
    };
    let mut found: Vec<Breach> = ROOMS.iter().filter_map(|room| row(page, room)).collect();
    found.extend(missing(repo, page));
    found.extend(homeless(repo, page));
    found
}

/// The room's row in the table of crates, if it is missing or differs from the plan.
fn row(page: &str, room: &Room) -> Option<Breach> {
    let start = format!("| `{}` |", room.folder);
    let line = page.lines().position(|line| line.starts_with(&start));
    let expected = match room.imports {
        [] => "nothing".to_string(),
        imports => format!("`{}`", imports.join("`, `")),
    };
    let imports = |line: usize| page.lines().nth(line)?.rsplit('|').nth(1).map(str::trim);
    if line.and_then(imports) == Some(expected.as_str()) {
        return None;
    }
    let advice = format!(
        "the plan lets {} import {expected}: say so in the table of crates",
        room.folder
    );
    Some(Breach::new(PAGE, line.map_or(1, |at| at + 1), RULE, advice))
}

/// Files and folders that the page names and that do not exist, from the root or in the runtime.
fn missing(repo: &Repo, page: &str) -> Vec<Breach> {
    let exists = |name: &str| {
        let under = |folder: &str| format!("{folder}{name}");
        let is_it = |path: &str, wanted: &str| match wanted.ends_with('/') {
            true => path.starts_with(wanted),
            false => path == wanted,
        };
        let mut paths = repo.texts.iter().map(|text| text.path.as_str());
        paths.any(|path| is_it(path, &under("")) || is_it(path, &under(RUNTIME)))
    };
    let names = names(page).filter(|(_, name)| !exists(name));
    names
        .map(|(line, name)| {
            let advice = format!("there is no {name}: say where it is now");
            Breach::new(PAGE, line, RULE, advice)
        })
        .collect()
}

/// Files of the runtime that are in no room.
fn homeless(repo: &Repo, page: &str) -> Vec<Breach> {
    let in_a_room = |file: &str| {
        names(page).any(|(_, name)| name == file || (name.ends_with('/') && file.starts_with(name)))
    };
    let shipped = repo.sources.iter().filter(|source| !source.in_test(1));
    shipped
        .filter_map(|source| source.path.strip_prefix(RUNTIME))
        .filter(|file| !in_a_room(file))
        .map(|file| {
            let advice = format!("{RUNTIME}{file} is in no room: add it to the table of rooms");
            Breach::new(PAGE, 1, RULE, advice)
        })
        .collect()
}

/// The files and folders in the page's inline code, each with its line.
fn names(page: &str) -> impl Iterator<Item = (usize, &str)> {
    page.lines().enumerate().flat_map(|(index, line)| {
        let words = line.split('`').skip(1).step_by(2);
        let is_path = |word: &&str| word.ends_with(".rs") || word.ends_with('/');
        words.filter(is_path).map(move |word| (index + 1, word))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::house::rules::small::repo;

    fn table() -> String {
        let row = |room: &Room| {
            let imports = match room.imports {
                [] => "nothing".to_string(),
                some => format!("`{}`", some.join("`, `")),
            };
            format!("| `{}` | does something | {imports} |\n", room.folder)
        };
        ROOMS.iter().map(row).collect()
    }

    /// The lines of the breaches of a page, in a runtime with four files, one of them for tests only.
    fn lines(page: &str) -> Vec<usize> {
        let files = [
            ("ARCHITECTURE.md", page),
            (
                "crates/tidegate/src/pool.rs",
                "mod end;\n#[cfg(test)]\nmod tests;",
            ),
            ("crates/tidegate/src/pool/end.rs", ""),
            ("crates/tidegate/src/pool/tests.rs", ""),
            ("crates/tidegate/src/wake.rs", ""),
        ];
        let found = check(&repo(&files));
        found.iter().map(|breach| breach.line).collect()
    }

    const FILES: &str = "`pool.rs`, `pool/`, `crates/tidegate/src/wake.rs`, `wake.rs`\n";

    #[test]
    fn an_accurate_page_passes() {
        assert_eq!(lines(&(table() + FILES)), [0; 0]);
    }

    #[test]
    fn the_plan_decides_on_imports() {
        let page = table() + FILES;
        let more = page.replacen("| nothing |", "| `sync` |", 1);
        assert_eq!(lines(&more), [1]);
        let without = page.split_once('\n').unwrap().1;
        assert_eq!(lines(without), [1]);
    }

    #[test]
    fn named_files_exist() {
        let page = table() + FILES + "see `sleep.rs` and `space/`";
        assert_eq!(lines(&page), [ROOMS.len() + 2; 2]);
    }

    #[test]
    fn every_file_has_a_room() {
        let page = table() + "`pool.rs`, `pool/end.rs`";
        assert_eq!(lines(&page), [1], "wake.rs");
    }
}
