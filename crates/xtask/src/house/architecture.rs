//! Checks that ARCHITECTURE.md is true. Its table of crates lists what each crate may depend on,
//! and the manifests must agree with the table. The page must not name files that don't exist.
//!
//! Dependencies of tests are not restricted. Programs outside `crates/` may depend on anything and
//! are not published.

use cargo_metadata::{DependencyKind, Package};

use super::{CORE, PAGE, Repo, TIDEGATE, crate_of, holds, quoted, rows, violation};
use crate::workspace::{folder, is_published};

/// A crate and what it may depend on, a row of the table in ARCHITECTURE.md.
struct Crate<'a> {
    name: &'a str,
    imports: Vec<&'a str>,
    /// Whether the crate may also use external packages that are not listed.
    any: bool,
    /// The external packages that are listed. If the crate may use any package, it may use the
    /// listed ones only optionally.
    listed: Vec<&'a str>,
}

pub fn check(repo: &Repo) -> Vec<String> {
    let page = repo.text(PAGE);
    let crates = crates(page);
    let known = |name: &str| {
        let mut folders = repo.packages.iter().map(folder);
        folders.any(|folder| crate_of(&folder) == Some(name))
    };
    let missing = crates.iter().filter(|it| !known(it.name));
    let missing = missing.map(|it| violation(PAGE, 1, format!("there is no {}", it.name)));
    let packages = repo.packages.iter().flat_map(|package| {
        let folder = folder(package);
        let found = manifest(crate_of(&folder), package, &crates).into_iter();
        found.map(move |advice| violation(&format!("{folder}/Cargo.toml"), 1, advice))
    });
    missing.chain(packages).chain(named(repo)).collect()
}

/// Finds names of files and folders in the page's inline code that don't exist.
fn named(repo: &Repo) -> impl Iterator<Item = String> {
    let lines = repo.text(PAGE).lines().enumerate();
    let names = lines.flat_map(|(at, line)| quoted(line).into_iter().map(move |name| (at, name)));
    let paths = names.filter(|(_, name)| name.ends_with(".rs") || name.ends_with('/'));
    let exists = |name: &str| {
        let below = ["", CORE, TIDEGATE].map(|folder| format!("{folder}{name}"));
        let mut paths = repo.texts.keys();
        paths.any(|path| below.iter().any(|name| holds(name, path)))
    };
    let missing = paths.filter(move |(_, name)| !exists(name));
    missing.map(|(at, name)| violation(PAGE, at + 1, format!("there is no {name}")))
}

fn crates(page: &str) -> Vec<Crate<'_>> {
    let rows = rows(page).filter_map(|(_, [name, _, imports, others, _])| {
        Some(Crate {
            name: name.split('`').nth(1)?,
            imports: quoted(imports),
            any: others.starts_with("any"),
            listed: quoted(others),
        })
    });
    rows.collect()
}

/// Returns the errors in the manifest of the crate `name`, or of a program outside `crates/`.
fn manifest(name: Option<&str>, package: &Package, all: &[Crate]) -> Vec<String> {
    let Some(name) = name else {
        let published = is_published(package).then(|| "write publish = false".to_string());
        return Vec::from_iter(published);
    };
    let Some(own) = all.iter().find(|it| it.name == name) else {
        return vec![format!("add the crate to {PAGE}")];
    };
    let used = package.dependencies.iter();
    let used = used.filter(|used| used.kind != DependencyKind::Development);
    let forbidden = used.filter(|it| !allowed(own, all, &it.name, it.path.is_some(), it.optional));
    let forbidden = forbidden.map(|used| format!("{name} may not use {}, see {PAGE}", used.name));
    forbidden.collect()
}

/// Whether the crate may depend on the package `used`, which is in this repository if `here`: a
/// package in the registry may have the same name as a crate here.
fn allowed(own: &Crate, all: &[Crate], used: &str, here: bool, optional: bool) -> bool {
    let is_it = |name: &str| package_of(name) == used;
    if here && all.iter().any(|other| is_it(other.name)) {
        return own.imports.iter().any(|name| is_it(name));
    }
    let listed = own.listed.contains(&used);
    if own.any { !listed || optional } else { listed }
}

fn package_of(name: &str) -> String {
    match name {
        "tidegate" | "rayon-core" | "xtask" => name.to_string(),
        _ => format!("tidegate-{name}"),
    }
}
