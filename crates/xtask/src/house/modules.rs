//! The imports inside a crate: which files each file names by a path that begins with `crate::`.
//! From these, the largest import cycle between the crate's top-level modules.
//!
//! Tests and models are left out, and so are the imports of the crate's root file, and paths that
//! begin with the name of a submodule. A path to an item of the root names the root file.

use std::collections::{BTreeMap, BTreeSet};

use super::Repo;
use super::source::{self, code, tests};

/// The root files of crates.
const ROOTS: [&str; 2] = ["lib.rs", "main.rs"];

/// The imports of a crate: pairs of paths below the crate's folder `src`.
pub type Imports<'a> = BTreeSet<(&'a str, &'a str)>;

/// Returns the imports of the crate whose sources are below `folder`, which ends with a slash.
pub fn imports<'a>(repo: &'a Repo, folder: &str) -> Imports<'a> {
    let sources = || repo.sources().filter(|(path, _)| path.starts_with(folder));
    let declared = |(path, text)| source::test_modules(path, text);
    let test_modules: Vec<String> = sources().flat_map(declared).collect();
    let below = |(path, text): (&'a str, &'a str)| {
        let is_test = test_modules.iter().any(|test| path.starts_with(test));
        Some((path.strip_prefix(folder)?, text)).filter(|_| !is_test)
    };
    let files: Vec<(&str, &str)> = sources().filter_map(below).collect();
    let modules: BTreeMap<String, &str> = files
        .iter()
        .map(|(file, _)| (module(file), *file))
        .collect();
    let of_file = |(file, text): &(&'a str, &'a str)| {
        let is_root = ROOTS.contains(file);
        let paths = if is_root {
            Vec::new()
        } else {
            paths(&module(file), text)
        };
        let targets = paths.iter().filter_map(|path| target(path, &modules));
        let targets: Vec<&str> = targets.filter(|target| target != file).collect();
        targets
            .into_iter()
            .map(|target| (*file, target))
            .collect::<Vec<_>>()
    };
    files.iter().flat_map(of_file).collect()
}

/// Returns the members of the largest import cycle between top-level modules.
pub fn largest_cycle(imports: &Imports<'_>) -> Vec<String> {
    let top = |file: &str| file.split(['/', '.']).next().unwrap_or_default().to_owned();
    let mut reached: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (from, to) in imports {
        if top(from) != top(to) && !ROOTS.contains(to) {
            reached.entry(top(from)).or_default().insert(top(to));
        }
    }
    let names: Vec<String> = reached.keys().cloned().collect();
    for middle in &names {
        let beyond = reached[middle].clone();
        for set in reached.values_mut().filter(|set| set.contains(middle)) {
            set.extend(beyond.iter().cloned());
        }
    }
    let reaches = |a: &String, b: &String| reached.get(a).is_some_and(|set| set.contains(b));
    let cycles = names.iter().filter(|name| reaches(name, name)).map(|name| {
        let both = |other: &&String| reaches(name, other) && reaches(other, name);
        names.iter().filter(both).cloned().collect()
    });
    cycles.max_by_key(Vec::len).unwrap_or_default()
}

/// Returns the module path of a file, such as `worker/join`.
fn module(file: &str) -> String {
    let path = file.trim_end_matches(".rs");
    path.strip_suffix("/mod").unwrap_or(path).to_owned()
}

/// Returns the file of the innermost module that the path names.
fn target<'a>(path: &[String], modules: &BTreeMap<String, &'a str>) -> Option<&'a str> {
    let prefixes = (1..=path.len()).rev().map(|len| path[..len].join("/"));
    let roots = ROOTS.iter().map(|root| module(root));
    let mut files = prefixes
        .chain(roots)
        .filter_map(|prefix| modules.get(&prefix));
    files.next().copied()
}

/// Returns the paths in the code of this module that begin with `crate::` or `super::`, from the
/// crate's root on. Leaves out tests.
fn paths(module: &str, text: &str) -> Vec<Vec<String>> {
    let lines: Vec<&str> = text.lines().collect();
    let shipped = lines.iter().zip(tests(&lines)).filter(|(_, test)| !test);
    let text: String = shipped.map(|(line, _)| code(line) + "\n").collect();
    let mut paths = Vec::new();
    for after in text.split("crate::").skip(1) {
        tree(&mut tokens(after).into_iter().peekable(), &[], &mut paths);
    }
    // In an inline module, `super` is the module itself: then the path is read as one level higher,
    // which can only find too many imports.
    let parents: Vec<String> = module.split('/').map(str::to_owned).collect();
    let supers = text.replace("super::super::", "\u{1}");
    for (mark, up) in [("super::", 1), ("\u{1}", 2)] {
        let prefix = &parents[..parents.len().saturating_sub(up)];
        for after in supers.split(mark).skip(1) {
            tree(
                &mut tokens(after).into_iter().peekable(),
                prefix,
                &mut paths,
            );
        }
    }
    paths
}

/// Splits the path or tree of paths at the beginning of the text into names, braces and commas.
fn tokens(text: &str) -> Vec<String> {
    let mut depth = 0;
    let mut is_part = |c: char| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        depth > 0 || c.is_alphanumeric() || "_:}".contains(c)
    };
    let end = text.find(|c| !is_part(c)).unwrap_or(text.len());
    let mut tree = text[..end].replace("::", " ");
    for mark in ["{", "}", ","] {
        tree = tree.replace(mark, &format!(" {mark} "));
    }
    tree.split_whitespace().map(str::to_owned).collect()
}

/// Reads `a::b::{c, d}`, without the colons, and adds each path with the prefix in front.
fn tree(
    tokens: &mut std::iter::Peekable<std::vec::IntoIter<String>>,
    prefix: &[String],
    paths: &mut Vec<Vec<String>>,
) {
    let mut path = prefix.to_vec();
    while let Some(token) = tokens.peek().cloned() {
        match token.as_str() {
            "{" => {
                tokens.next();
                while tokens.peek().is_some_and(|token| token != "}") {
                    tree(tokens, &path, paths);
                    tokens.next_if(|token| token == ",");
                }
                tokens.next();
                return;
            }
            "}" | "," => break,
            "self" => {
                tokens.next();
            }
            "as" => {
                tokens.next();
                tokens.next();
            }
            _ => path.extend(tokens.next()),
        }
    }
    paths.push(path);
}

#[cfg(test)]
mod tests {
    use super::*;

    const FOLDER: &str = "crates/tidegate/src/";

    fn read(repo: &Repo) -> Vec<(&str, &str)> {
        imports(repo, FOLDER).into_iter().collect()
    }

    fn repo(files: &[(&str, &str)]) -> Repo {
        let files: Vec<(String, &str)> = files
            .iter()
            .map(|(path, text)| (format!("{FOLDER}{path}"), *text))
            .collect();
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (&**path, *text)).collect();
        Repo::of(&files)
    }

    #[test]
    fn trees_of_imports_are_read() {
        let text =
            "use crate::{job::{self, Task as Job}, sleep::wake};\nfn f() { crate::pool::end() }";
        let repo = repo(&[
            ("a.rs", text),
            (
                "job.rs",
                "// crate::a\n#[cfg(test)]\nmod tests {\n    use crate::a;\n}",
            ),
            ("sleep.rs", "use super::a;"),
            ("sleep/wake.rs", "use super::super::pool::{self, end};"),
            ("pool.rs", "\"crate::a\";\ncrate::join();"),
            ("lib.rs", "mod a;"),
        ]);
        let expected = [
            ("a.rs", "job.rs"),
            ("a.rs", "pool.rs"),
            ("a.rs", "sleep/wake.rs"),
            ("pool.rs", "lib.rs"),
            ("sleep.rs", "a.rs"),
            ("sleep/wake.rs", "pool.rs"),
        ];
        assert_eq!(read(&repo), expected);
    }

    #[test]
    fn largest_cycle_is_found() {
        let repo = repo(&[
            ("a.rs", "use crate::b;"),
            ("b.rs", "use crate::c;"),
            ("c/mod.rs", "use crate::a;\nuse crate::d;"),
            ("d.rs", "use crate::e;"),
            ("e.rs", "use crate::d;"),
        ]);
        assert_eq!(largest_cycle(&imports(&repo, FOLDER)), ["a", "b", "c"]);
        assert!(largest_cycle(&Imports::default()).is_empty());
    }
}
