//! Checks that ARCHITECTURE.md is true. Its table of crates lists what each crate may depend on,
//! and the manifests must agree with the table. The page must not name files that don't exist.
//!
//! Dependencies of tests are not restricted. Programs outside `crates/` may depend on anything and
//! are not published.

use cargo_metadata::{Dependency, DependencyKind, Package};

use super::{CORE, PAGE, Repo, TIDEGATE, crate_of, quoted, violation};
use crate::workspace::is_published;

/// A row of the table in ARCHITECTURE.md.
struct Row<'a> {
    name: &'a str,
    imports: Vec<&'a str>,
    /// Whether the crate may also use external packages that are not listed.
    any: bool,
    /// The external packages that are listed. If the crate may use any package, it may use the
    /// listed ones only optionally.
    listed: Vec<&'a str>,
}

pub fn check(repo: &Repo) -> Vec<String> {
    let page = repo.text(PAGE).unwrap_or_default();
    let rows: Vec<Row> = page.lines().filter_map(row).collect();
    let known = |folder: &str| repo.packages.iter().any(|(other, _)| other == folder);
    let folders = rows.iter().map(|row| format!("crates/{}", row.name));
    let missing = folders.filter(|folder| !known(folder));
    let missing = missing.map(|folder| violation(PAGE, 1, format!("there is no {folder}")));
    let manifests = repo.texts.iter().filter_map(|(path, _)| {
        let unknown = !known(path.strip_suffix("/Cargo.toml")?);
        unknown.then(|| violation(path, 1, "make it a member or a row of beside::BESIDE"))
    });
    let packages = repo.packages.iter().flat_map(|(folder, package)| {
        let path = format!("{folder}/Cargo.toml");
        let found = manifest(crate_of(&path), package, &rows).into_iter();
        found.map(move |advice| violation(&path, 1, advice))
    });
    let found = missing.chain(manifests).chain(packages);
    found.chain(map(repo)).collect()
}

/// Finds names of files that don't exist.
fn map(repo: &Repo) -> Vec<String> {
    let page = repo.text(PAGE).unwrap_or_default();
    // The files and folders that the page names in inline code.
    let names = page.lines().enumerate().flat_map(|(at, line)| {
        let words = quoted(line).into_iter();
        let paths = words.filter(|word| word.ends_with(".rs") || word.ends_with('/'));
        paths.map(move |word| (at + 1, word))
    });
    let names: Vec<(usize, &str)> = names.collect();
    let is_or_holds = |name: &str, file: &str| {
        if name.ends_with('/') {
            file.starts_with(name)
        } else {
            file == name
        }
    };
    let exists = |name: &str| {
        let below = ["", CORE, TIDEGATE].map(|folder| format!("{folder}{name}"));
        let mut paths = repo.texts.iter().map(|(path, _)| path);
        paths.any(|path| below.iter().any(|name| is_or_holds(name, path)))
    };
    let missing = names.iter().filter(|(_, name)| !exists(name));
    let missing = missing.map(|(line, name)| violation(PAGE, *line, format!("there is no {name}")));
    missing.collect()
}

fn row(line: &str) -> Option<Row<'_>> {
    let [_, name, _, imports, others, _, _] = line.split('|').collect::<Vec<_>>()[..] else {
        return None;
    };
    Some(Row {
        name: name.split('`').nth(1)?,
        imports: quoted(imports),
        any: others.trim_start().starts_with("any"),
        listed: quoted(others),
    })
}

/// Returns the errors in the manifest of the crate `name`, or of a program outside `crates/`.
fn manifest(name: Option<&str>, package: &Package, rows: &[Row]) -> Vec<String> {
    let Some(name) = name else {
        let published = is_published(package).then(|| "write publish = false".to_string());
        return published.into_iter().collect();
    };
    let Some(row) = rows.iter().find(|row| row.name == name) else {
        return vec![format!("add the crate to {PAGE}")];
    };
    let used = package.dependencies.iter();
    let used = used.filter(|used| used.kind != DependencyKind::Development);
    let forbidden = used.filter(|used| !allowed(row, rows, used));
    let forbidden = forbidden.map(|used| format!("{name} may not use {}, see {PAGE}", used.name));
    let expected = package_of(name);
    let misnamed = (package.name != expected).then(|| format!("call this package {expected}"));
    forbidden.chain(misnamed).collect()
}

fn allowed(row: &Row, rows: &[Row], used: &Dependency) -> bool {
    // A package in the registry may have the same name as a crate here.
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
    match name {
        "tidegate" | "rayon-core" | "xtask" => name.to_string(),
        _ => format!("tidegate-{name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const TABLE: &str = "| crate | purpose | may import | packages of others | largest cycle |\n\
        | `sync` | x | nothing | `libc` | 0 |\n| `deque` | x | `sync` | nothing | 0 |\n\
        | `sim` | x | nothing | any, but only optionally `rayon` | 0 |\n";

    /// Returns the number of violations if the crate `name` depends on this package. The package is
    /// in this repository if `here`, otherwise in a registry.
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
        let rows: Vec<Row> = TABLE.lines().filter_map(row).collect();
        manifest(Some(name), &package, &rows).len()
    }

    #[test]
    fn crates_import_what_their_row_names() {
        let on = |name, used, kind| violations(name, used, true, false, kind);
        assert_eq!(on("deque", "tidegate-sync", "normal"), 0);
        assert_eq!(on("sync", "tidegate-deque", "normal"), 1);
        assert_eq!(on("sync", "tidegate-deque", "dev"), 0);
        assert_eq!(on("cellar", "tidegate-deque", "dev"), 1, "has no row");
    }

    #[test]
    fn external_packages_are_listed_or_optional() {
        let on = |name, used, optional| violations(name, used, false, optional, "normal");
        assert_eq!(on("sync", "libc", false) + on("sim", "libc", false), 0);
        assert_eq!(on("deque", "libc", false), 1);
        assert_eq!(on("sim", "rayon", true), 0);
        assert_eq!(on("sim", "rayon", false), 1);
    }

    #[test]
    fn manifests_and_rows_belong_together() {
        let files = [(PAGE, TABLE), ("tools/a/Cargo.toml", "")];
        assert_eq!(check(&Repo::of(&files)).len(), 1 + 3);
    }

    #[test]
    fn named_files_exist() {
        let violations = |page: &str| {
            let files = [(PAGE, page), ("crates/tidegate/src/pool/end.rs", "")];
            map(&Repo::of(&files)).len()
        };
        assert_eq!(violations("`pool/end.rs`, `pool/`, `crates/`"), 0);
        assert_eq!(violations("`pool/`, `sleep.rs`, `memory/`"), 2);
    }
}
