//! Manifests agree with the table of crates in ARCHITECTURE.md, which says what a crate may depend on.
//!
//! Dependencies of tests alone are free. Programs outside `crates/` may depend on anything and are not published.

use cargo_metadata::{Dependency, DependencyKind, Package};

use super::map::PAGE;
use super::{Repo, crate_of, violation};
use crate::workspace::is_published;

/// Crates whose packages have the same name; the others' begin with `tidegate-`.
const SAME_NAME: [&str; 3] = ["tidegate", "rayon-core", "xtask"];

/// A row of the table.
struct Row<'a> {
    name: &'a str,
    imports: Vec<&'a str>,
    /// Whether packages from elsewhere may be used that are not listed.
    any: bool,
    /// Packages from elsewhere. If others may be used too, these must be optional.
    listed: Vec<&'a str>,
}

/// Finds crates without a row, rows without a crate, and dependencies that are not allowed.
pub fn check(repo: &Repo) -> Vec<String> {
    let rows = rows(repo.text(PAGE).unwrap_or_default());
    let mut found = unknown(repo);
    for row in &rows {
        let folder = format!("crates/{}", row.name);
        if !repo.packages.iter().any(|(other, _)| *other == folder) {
            found.push(violation(PAGE, 1, format!("there is no {folder}")));
        }
    }
    for (folder, package) in &repo.packages {
        let path = format!("{folder}/Cargo.toml");
        let row = crate_of(&path).map(|name| rows.iter().find(|row| row.name == name));
        found.extend(match row {
            Some(Some(row)) => manifest(&path, package, row, &rows),
            Some(None) => vec![violation(&path, 1, format!("add the crate to {PAGE}"))],
            None if is_published(package) => vec![violation(&path, 1, "write publish = false")],
            None => Vec::new(),
        });
    }
    found
}

/// Manifests of packages that are neither members nor known to lie beside the workspace, so nothing checks them.
fn unknown(repo: &Repo) -> Vec<String> {
    let manifests = repo.texts.iter().filter_map(|(path, _)| {
        let folder = path.strip_suffix("/Cargo.toml")?;
        let known = repo.packages.iter().any(|(other, _)| other == folder);
        (!known).then(|| violation(path, 1, "make it a member or a row of beside::BESIDE"))
    });
    manifests.collect()
}

/// The rows of the table of crates.
fn rows(page: &str) -> Vec<Row<'_>> {
    page.lines().filter_map(row).collect()
}

fn row(line: &str) -> Option<Row<'_>> {
    let cells: Vec<&str> = line.split('|').collect();
    let [_, name, _, imports, outside, _] = cells[..] else {
        return None;
    };
    Some(Row {
        name: quoted(name).first()?,
        imports: quoted(imports),
        any: outside.trim_start().starts_with("any"),
        listed: quoted(outside),
    })
}

/// The words in backquotes.
fn quoted(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

fn manifest(path: &str, package: &Package, row: &Row, rows: &[Row]) -> Vec<String> {
    let dependencies = package.dependencies.iter();
    let forbidden = dependencies
        .filter(|used| used.kind != DependencyKind::Development && !allowed(row, rows, used))
        .map(|used| format!("{} may not depend on {}, see {PAGE}", row.name, used.name));
    let expected = package_of(row.name);
    let misnamed = (package.name != expected).then(|| format!("call this package {expected}"));
    let found = forbidden.chain(misnamed);
    found.map(|advice| violation(path, 1, advice)).collect()
}

fn allowed(row: &Row, rows: &[Row], used: &Dependency) -> bool {
    // A package of the registry may have the name of a crate here.
    let is_ours = |name: &str| used.path.is_some() && package_of(name) == used.name;
    if rows.iter().any(|other| is_ours(other.name)) {
        return row.imports.iter().any(|name| is_ours(name));
    }
    let listed = row.listed.contains(&used.name.as_str());
    if row.any {
        !listed || used.optional
    } else {
        listed
    }
}

fn package_of(name: &str) -> String {
    match SAME_NAME.contains(&name) {
        true => name.to_string(),
        false => format!("tidegate-{name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const TABLE: &str = "| crate | purpose | may import | packages of others |\n\
        | `sync` | x | nothing | `libc` |\n| `deque` | x | `sync` | nothing |\n\
        | `sim` | x | nothing | any, but only optionally `rayon` |\n";

    /// How many violations there are if the crate `name` depends on this package: here or elsewhere.
    fn violations(name: &str, used: &str, here: bool, optional: bool, kind: &str) -> usize {
        let dependency = json!({
            "name": used, "req": "*", "kind": kind, "optional": optional, "features": [],
            "uses_default_features": true, "path": here.then_some("/a"),
        });
        let package = json!({
            "name": package_of(name), "version": "0.1.0", "id": "a", "targets": [],
            "features": {}, "manifest_path": "/a", "dependencies": [dependency],
        });
        let package = serde_json::from_value(package).unwrap();
        let rows = rows(TABLE);
        let row = rows.iter().find(|row| row.name == name).unwrap();
        manifest("a", &package, row, &rows).len()
    }

    #[test]
    fn crates_import_what_their_row_names() {
        let on = |name, used| violations(name, used, true, false, "normal");
        assert_eq!(on("deque", "tidegate-sync"), 0);
        assert_eq!(on("sync", "tidegate-deque"), 1);
        assert_eq!(violations("sync", "tidegate-deque", true, false, "dev"), 0);
    }

    #[test]
    fn packages_of_others_are_listed_or_optional() {
        let on = |name, used, optional| violations(name, used, false, optional, "normal");
        assert_eq!(on("sync", "libc", false), 0);
        assert_eq!(on("deque", "libc", false), 1);
        assert_eq!(on("sim", "libc", false), 0);
        assert_eq!(
            (on("sim", "rayon", true), on("sim", "rayon", false)),
            (0, 1)
        );
    }

    #[test]
    fn manifests_and_rows_belong_together() {
        let files = [(PAGE, TABLE), ("tools/a/Cargo.toml", "")];
        let found = check(&Repo::of(&files));
        assert_eq!(found.len(), 1 + rows(TABLE).len());
    }
}
