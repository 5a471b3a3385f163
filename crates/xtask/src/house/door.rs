//! Compares the names that the core exports to the crates above it with the page that lists them.

use super::{CORE, Repo, modules, quoted, violation};

const PAGE: &str = "docs/door.md";

/// Finds exported names that the page does not list.
pub fn check(repo: &Repo) -> Vec<String> {
    let mut names = names(repo);
    names.retain(|name| !quoted(repo.text(PAGE)).contains(name));
    let advice = |name| violation(PAGE, 1, format!("describe {name}, or close the door"));
    names.into_iter().map(advice).collect()
}

/// Returns the names that the core's door exports.
pub fn names(repo: &Repo) -> Vec<&str> {
    let door = repo.below(CORE).find(|it| it.0 == "door.rs");
    let mut names = door.map_or(Vec::new(), |it| modules::exports(&it.1.tokens));
    let lines = repo.text("crates/core/src/door.rs").lines();
    names.extend(lines.filter_map(|it| it.strip_prefix("pub mod ")?.strip_suffix(';')));
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exported_names_are_listed() {
        let door = "pub mod closed;\npub use crate::a::{self, B};\npub use crate::c;\n\
            pub mod d {\n    pub use crate::d::{\n        e,\n        f,\n    };\n}";
        let page = "`closed`, `a`, `B`, `c` and `e`";
        let repo = Repo::with(&[(PAGE, page), ("crates/core/src/door.rs", door)]);
        assert_eq!(names(&repo), ["a", "B", "c", "e", "f", "closed"]);
        assert_eq!(check(&repo).len(), 1);
    }
}
