//! ARCHITECTURE.md names every file of the runtime, and only files that exist.

use super::source::test_modules;
use super::{Repo, violation};

/// The page.
pub const PAGE: &str = "ARCHITECTURE.md";

const RUNTIME: &str = "crates/tidegate/src/";

/// Finds names without a file, and files of the runtime without a room.
pub fn check(repo: &Repo) -> Vec<String> {
    let Some(page) = repo.text(PAGE) else {
        return vec![violation(PAGE, 1, "this page says what the crates are")];
    };
    let exists = |name: &str| {
        let at = |path: &str, wanted: &str| match wanted.ends_with('/') {
            true => path.starts_with(wanted),
            false => path == wanted,
        };
        let mut paths = repo.texts.iter().map(|(path, _)| path);
        paths.any(|path| at(path, name) || at(path, &format!("{RUNTIME}{name}")))
    };
    let missing = names(page).filter(|(_, name)| !exists(name));
    let missing = missing.map(|(line, name)| violation(PAGE, line, format!("there is no {name}")));
    let in_a_room = |file: &str| {
        let is_room = |name: &str| name == file || (name.ends_with('/') && file.starts_with(name));
        names(page).any(|(_, name)| is_room(name))
    };
    let declare = repo
        .sources()
        .flat_map(|(path, text)| test_modules(path, text));
    let tests: Vec<String> = declare.collect();
    let files = repo.sources().filter_map(|(path, _)| {
        let file = path.strip_prefix(RUNTIME)?;
        let is_test = tests.iter().any(|module| path.starts_with(module));
        (!is_test && !in_a_room(file)).then(|| violation(PAGE, 1, format!("{file} has no room")))
    });
    missing.chain(files).collect()
}

/// The files and folders in the page's inline code, each with its line.
fn names(page: &str) -> impl Iterator<Item = (usize, &str)> {
    page.lines().enumerate().flat_map(|(at, line)| {
        let words = line.split('`').skip(1).step_by(2);
        let paths = words.filter(|word| word.ends_with(".rs") || word.ends_with('/'));
        paths.map(move |word| (at + 1, word))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn violations(page: &str) -> usize {
        let files = [
            (PAGE, page),
            ("crates/tidegate/src/pool.rs", "#[cfg(test)]\nmod tests;"),
            ("crates/tidegate/src/pool/tests.rs", ""),
            ("crates/tidegate/src/wake.rs", ""),
        ];
        check(&Repo::of(&files)).len()
    }

    #[test]
    fn files_and_page_agree() {
        assert_eq!(violations("`pool.rs`, `crates/`, `wake.rs`"), 0);
        assert_eq!(violations("`pool.rs`, `pool/`"), 1, "wake.rs has no room");
        assert_eq!(violations("`pool.rs`, `wake.rs`, `sleep.rs`, `space/`"), 2);
    }
}
