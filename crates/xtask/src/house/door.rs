//! Compares the names that the core exports to the crates above it with the page that lists them.

use super::{CORE, Repo, violation};

const PAGE: &str = "docs/door.md";

/// Finds exported names that the page does not list.
pub fn check(repo: &Repo) -> Vec<String> {
    let page = repo.text(PAGE).unwrap_or_default();
    let listed: Vec<&str> = page.split('`').skip(1).step_by(2).collect();
    let missing = names(repo)
        .into_iter()
        .filter(|name| !listed.contains(name));
    let advice = |name: &str| violation(PAGE, 1, format!("describe {name}, or close the door"));
    missing.map(advice).collect()
}

/// Returns the names that the core's door exports.
pub fn names(repo: &Repo) -> Vec<&str> {
    let text = repo.text(&format!("{CORE}door.rs")).unwrap_or_default();
    let statements = text.split(';').filter_map(|before| {
        let path = before.rsplit_once("pub use ");
        path.or_else(|| before.rsplit_once("pub mod "))
            .map(|(_, path)| path)
    });
    statements.flat_map(exported).collect()
}

/// Returns the names that a path, or a tree of paths, exports.
fn exported(path: &str) -> Vec<&str> {
    let (before, tree) = path.split_once("::{").unwrap_or(("", path));
    let names = tree.trim_end_matches('}').split(',').map(str::trim);
    let names = names.filter(|name| !name.is_empty());
    names
        .map(|name| if name == "self" { before } else { name })
        .map(|path| path.rsplit_once("::").map_or(path, |(_, name)| name))
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
        assert_eq!(names(&repo), ["closed", "a", "B", "c", "e", "f"]);
        assert_eq!(check(&repo).len(), 1);
    }
}
