//! The imports inside a crate: which files each file names by a path that begins with `crate::` or
//! `super::`. From these, the largest import cycle between the crate's top-level modules.
//!
//! Tests and models are left out, and so are the imports of the crate's root file, and paths that
//! begin with the name of a submodule. A path to an item that the root re-exports names the file
//! from which it comes; a path to another item of the root names the root file.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{TokenStream, TokenTree};

use super::Repo;
use super::source;

/// The root files of crates.
const ROOTS: [&str; 2] = ["lib.rs", "main.rs"];

/// The imports of a crate: pairs of paths below the crate's folder `src`.
pub type Imports<'a> = BTreeSet<(&'a str, &'a str)>;

/// Returns the files below `folder`, which ends with a slash, that are not only for tests, with
/// their texts. The paths begin below the folder.
pub fn shipped<'a>(repo: &'a Repo, folder: &str) -> Vec<(&'a str, &'a str)> {
    let sources = || repo.sources().filter(|(path, _)| path.starts_with(folder));
    let declared = |(path, text)| source::test_modules(path, text);
    let test_modules: Vec<String> = sources().flat_map(declared).collect();
    let below = |(path, text): (&'a str, &'a str)| {
        let is_test = test_modules.iter().any(|test| path.starts_with(test));
        Some((path.strip_prefix(folder)?, text)).filter(|_| !is_test)
    };
    sources().filter_map(below).collect()
}

/// Returns the imports of the crate whose sources are below `folder`, which ends with a slash.
pub fn imports<'a>(repo: &'a Repo, folder: &str) -> Imports<'a> {
    let files = shipped(repo, folder);
    let (roots, others): (Vec<_>, Vec<_>) =
        files.iter().partition(|(file, _)| ROOTS.contains(file));
    let mut modules: BTreeMap<Vec<String>, &str> = files
        .iter()
        .map(|(file, _)| (module(file), *file))
        .collect();
    for (_, text) in roots {
        let exports = paths(&[], text).into_iter().filter(|path| path.is_use);
        let of_modules =
            exports.filter_map(|path| Some((path.name, target(&path.names, &modules)?)));
        for (name, file) in of_modules.collect::<Vec<_>>() {
            modules.entry(vec![name]).or_insert(file);
        }
    }
    let of_file = |(file, text): &(&'a str, &'a str)| {
        let paths = paths(&module(file), text).into_iter();
        let inside = paths.filter(|path| path.is_absolute);
        let targets = inside.filter_map(|path| target(&path.names, &modules));
        let targets: BTreeSet<&str> = targets.filter(|target| target != file).collect();
        targets
            .into_iter()
            .map(|target| (*file, target))
            .collect::<Vec<_>>()
    };
    others.iter().flat_map(of_file).collect()
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

/// Returns the names of a file's module, such as `worker` and `join`; none for the root.
fn module(file: &str) -> Vec<String> {
    if ROOTS.contains(&file) {
        return Vec::new();
    }
    let path = file.trim_end_matches(".rs");
    let path = path.strip_suffix("/mod").unwrap_or(path);
    path.split('/').map(str::to_owned).collect()
}

/// Returns the file of the innermost module that the path names.
fn target<'a>(path: &[String], modules: &BTreeMap<Vec<String>, &'a str>) -> Option<&'a str> {
    let mut prefixes = (0..=path.len()).rev().map(|len| &path[..len]);
    prefixes.find_map(|prefix| modules.get(prefix)).copied()
}

/// A path in the code of a module.
struct Path {
    /// From the crate's root on, if the path is absolute.
    names: Vec<String>,
    /// The name that an import gives to the path's end.
    name: String,
    /// Whether the path begins with `crate::` or `super::`.
    is_absolute: bool,
    is_use: bool,
}

/// Returns the imports in the code of this module, and all paths that begin with `crate::` or
/// `super::`. Leaves out tests.
fn paths(module: &[String], text: &str) -> Vec<Path> {
    let text: String = source::shipped(text)
        .flat_map(|line| [line, "\n"])
        .collect();
    let mut paths = Vec::new();
    // A text that has no tokens does not compile.
    walk(text.parse().unwrap_or_default(), module, &mut paths);
    paths
}

fn walk(stream: TokenStream, module: &[String], paths: &mut Vec<Path>) {
    let tokens: Vec<TokenTree> = stream.into_iter().collect();
    let mut at = 0;
    while at < tokens.len() {
        let before = at.checked_sub(1).and_then(|before| word(&tokens[before]));
        match (word(&tokens[at]).as_deref(), &tokens[at]) {
            (Some("crate" | "super"), _) if is_separated(&tokens, at + 1) => {
                at = tree(&tokens, at, &Tree::of(module), paths);
            }
            (Some("use"), _) => {
                let tree_of_use = Tree {
                    is_use: true,
                    ..Tree::of(module)
                };
                at = tree(&tokens, at + 1, &tree_of_use, paths);
            }
            (_, TokenTree::Group(group)) => {
                // The name of an inline module stands before its braces.
                let is_module = at > 1 && word(&tokens[at - 2]).as_deref() == Some("mod");
                let inner = before.filter(|_| is_module).into_iter();
                let module: Vec<String> = module.iter().cloned().chain(inner).collect();
                walk(group.stream(), &module, paths);
                at += 1;
            }
            _ => at += 1,
        }
    }
}

fn word(token: &TokenTree) -> Option<String> {
    match token {
        TokenTree::Ident(ident) => Some(ident.to_string()),
        _ => None,
    }
}

/// Returns whether `::` stands here.
fn is_separated(tokens: &[TokenTree], at: usize) -> bool {
    let is_colon = |token: &TokenTree| matches!(token, TokenTree::Punct(c) if c.as_char() == ':');
    tokens.len() > at + 1 && tokens[at..at + 2].iter().all(is_colon)
}

/// What stands before a tree of paths.
struct Tree<'a> {
    module: &'a [String],
    prefix: Vec<String>,
    is_absolute: bool,
    is_use: bool,
}

impl<'a> Tree<'a> {
    fn of(module: &'a [String]) -> Self {
        Self {
            module,
            prefix: Vec::new(),
            is_absolute: false,
            is_use: false,
        }
    }
}

/// Reads `a::b::{c, d as e}` from here on, and returns where it ends.
fn tree(tokens: &[TokenTree], mut at: usize, before: &Tree<'_>, paths: &mut Vec<Path>) -> usize {
    let (mut names, mut is_absolute) = (before.prefix.clone(), before.is_absolute);
    loop {
        match tokens.get(at).map(|token| (word(token), token)) {
            Some((Some(name), _)) => match name.as_str() {
                "crate" => is_absolute = true,
                "self" => {}
                "super" => {
                    if !std::mem::replace(&mut is_absolute, true) {
                        names = before.module.to_vec();
                    }
                    names.pop();
                }
                _ => names.push(name),
            },
            Some((None, TokenTree::Group(group))) if before.is_use => {
                let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                let before = Tree {
                    prefix: names,
                    is_absolute,
                    ..*before
                };
                let mut at_inner = 0;
                while at_inner < inner.len() {
                    // The comma follows.
                    at_inner = tree(&inner, at_inner, &before, paths) + 1;
                }
                return at + 1;
            }
            _ => break,
        }
        at += 1;
        if !is_separated(tokens, at) {
            break;
        }
        at += 2;
    }
    let mut name = names.last().cloned().unwrap_or_default();
    if tokens.get(at).and_then(word).as_deref() == Some("as") {
        name = tokens.get(at + 1).and_then(word).unwrap_or_default();
        at += 2;
    }
    paths.push(Path {
        names,
        name,
        is_absolute,
        is_use: before.is_use,
    });
    at
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
            (
                "sleep/look.rs",
                "mod inner {\n    fn f() { super::super::job() == '\"' && super::super::super::a() }\n}",
            ),
            (
                "sleep/deep/look.rs",
                "use super::{super::super::pool, look};",
            ),
            ("pool.rs", "\"crate::a\";\ncrate::join();"),
            ("queue.rs", "use crate::{Handle, Pool as P};"),
            (
                "lib.rs",
                "mod a;\npub use {job::Task as Handle, pool::Pool};",
            ),
        ]);
        let expected = [
            ("a.rs", "job.rs"),
            ("a.rs", "pool.rs"),
            ("a.rs", "sleep/wake.rs"),
            ("pool.rs", "lib.rs"),
            ("queue.rs", "job.rs"),
            ("queue.rs", "pool.rs"),
            ("sleep.rs", "a.rs"),
            ("sleep/deep/look.rs", "pool.rs"),
            ("sleep/look.rs", "a.rs"),
            ("sleep/look.rs", "sleep.rs"),
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
