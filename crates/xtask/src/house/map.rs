//! ARCHITECTURE.md names every file of the runtime, and only files that exist.

use super::{Repo, violation};

/// The page.
pub const PAGE: &str = "ARCHITECTURE.md";

const RUNTIME: &str = "crates/tidegate/src/";

/// Finds names without a file, and files of the runtime without a room.
pub fn check(repo: &Repo) -> Vec<String> {
    let page = repo.text(PAGE).unwrap_or_default();
    // The files and folders in the page's inline code.
    let names = page.lines().enumerate().flat_map(|(at, line)| {
        let words = line.split('`').skip(1).step_by(2);
        let paths = words.filter(|word| word.ends_with(".rs") || word.ends_with('/'));
        paths.map(move |word| (at + 1, word))
    });
    let names: Vec<(usize, &str)> = names.collect();
    let is_or_holds = |name: &str, file: &str| match name.ends_with('/') {
        true => file.starts_with(name),
        false => file == name,
    };
    let exists = |name: &str| {
        let below = format!("{RUNTIME}{name}");
        let mut paths = repo.texts.iter().map(|(path, _)| path);
        paths.any(|path| is_or_holds(name, path) || is_or_holds(&below, path))
    };
    let missing = names.iter().filter(|(_, name)| !exists(name));
    let missing = missing.map(|(line, name)| violation(PAGE, *line, format!("there is no {name}")));
    let tests = repo.test_modules();
    let shipped = repo.sources().filter_map(|(path, _)| {
        let is_test = tests.iter().any(|test| path.starts_with(test));
        path.strip_prefix(RUNTIME).filter(|_| !is_test)
    });
    let homeless = shipped.filter(|file| !names.iter().any(|(_, name)| is_or_holds(name, file)));
    let homeless = homeless.map(|file| violation(PAGE, 1, format!("{file} has no room")));
    missing.chain(homeless).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_page_agree() {
        let violations = |page: &str| {
            let files = [
                (PAGE, page),
                ("crates/tidegate/src/pool.rs", "#[cfg(test)]\nmod tests;"),
                ("crates/tidegate/src/pool/tests.rs", ""),
                ("crates/tidegate/src/wake.rs", ""),
            ];
            check(&Repo::of(&files)).len()
        };
        assert_eq!(violations("`pool.rs`, `crates/`, `wake.rs`"), 0);
        assert_eq!(violations("`pool.rs`, `pool/`"), 1, "wake.rs has no room");
        assert_eq!(violations("`pool.rs`, `wake.rs`, `sleep.rs`, `space/`"), 2);
    }
}
