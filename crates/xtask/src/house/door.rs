//! Compares the names that the core exports to the crates above it with the page that lists them.

use super::{CORE, Repo, modules, quoted, violation};

const PAGE: &str = "docs/door.md";

/// Finds exported names that the page does not list.
pub fn check(repo: &Repo) -> Vec<String> {
    let page = repo.text(PAGE).unwrap_or_default();
    let listed = quoted(page);
    let names = names(repo).into_iter();
    let missing = names.filter(|name| !listed.contains(&name.as_str()));
    let advice = |name| violation(PAGE, 1, format!("describe {name}, or close the door"));
    missing.map(advice).collect()
}

/// Returns the names that the core's door exports.
pub fn names(repo: &Repo) -> Vec<String> {
    let text = repo.text(&format!("{CORE}door.rs")).unwrap_or_default();
    let modules = text
        .lines()
        .filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'));
    modules::exports(text)
        .chain(modules.map(str::to_string))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exported_names_are_listed() {
        let door = "pub mod closed;\npub use crate::a::{self, B};\npub use crate::c;\n\
            pub mod d {\n    pub use crate::d::{\n        e,\n        f,\n    };\n}";
        let page = "`closed`, `a`, `B`, `c` and `e`";
        let file = format!("{CORE}door.rs");
        let files = [(PAGE, page), (file.as_str(), door)];
        let repo = Repo::of(&files);
        assert_eq!(names(&repo), ["a", "B", "c", "e", "f", "closed"]);
        assert_eq!(check(&repo).len(), 1);
    }
}
