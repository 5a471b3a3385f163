//! The imports inside a crate: which files each file names by a path that begins with `crate::` or
//! `super::`. From these, the largest import cycle between the crate's top-level modules.
//!
//! Tests and models are left out, and so are the imports of the crate's root file, and paths that
//! begin with the name of a submodule. A path to an item that the root re-exports names the file
//! from which it comes; a path to another item of the root names the root file.

use std::collections::{BTreeMap, BTreeSet};
use std::slice;

use super::Repo;
use super::source::Token;

/// The root files of crates.
const ROOTS: [&str; 2] = ["lib.rs", "main.rs"];

/// The imports of a crate: pairs of paths below the crate's folder `src`.
pub type Imports<'a> = BTreeSet<(&'a str, &'a str)>;

/// Returns the imports of the crate whose sources are below `folder`, which ends with a slash.
pub fn imports<'a>(repo: &'a Repo, folder: &str) -> Imports<'a> {
    let files: Vec<_> = repo.below(folder).collect();
    let named = files.iter().map(|(file, _)| (module(file), *file));
    let mut modules: BTreeMap<Vec<&str>, &str> = named.collect();
    for (_, root) in files.iter().filter(|(file, _)| ROOTS.contains(file)) {
        for (path, name) in paths(&[], &root.tokens) {
            if let Some(file) = target(&path, &modules) {
                modules.entry(vec![name]).or_insert(file);
            }
        }
    }
    let mut imports = Imports::new();
    for (file, source) in files.iter().filter(|(file, _)| !ROOTS.contains(file)) {
        let paths = paths(&module(file), &source.tokens).into_iter();
        let targets = paths.filter_map(|(path, _)| target(&path, &modules));
        imports.extend(targets.map(|target| (*file, target)));
    }
    imports.retain(|(from, to)| from != to);
    imports
}

/// Returns the members of the largest import cycle between top-level modules.
pub fn largest_cycle<'a>(imports: &Imports<'a>) -> Vec<&'a str> {
    let top = |file: &'a str| file.split(['/', '.']).next().unwrap_or_default();
    let edges = imports.iter().filter(|(_, to)| !ROOTS.contains(to));
    let edges = edges.map(|(from, to)| (top(from), top(to)));
    let mut reaches: BTreeSet<(&str, &str)> = edges.filter(|(from, to)| from != to).collect();
    let names: BTreeSet<&str> = reaches.iter().map(|(from, _)| *from).collect();
    for middle in &names {
        let (to, from) = (
            |it: &&(_, _)| it.1 == *middle,
            |it: &&(_, _)| it.0 == *middle,
        );
        let before: Vec<&str> = reaches.iter().filter(to).map(|it| it.0).collect();
        let beyond: Vec<&str> = reaches.iter().filter(from).map(|it| it.1).collect();
        reaches.extend(
            before
                .iter()
                .flat_map(|from| beyond.iter().map(|to| (*from, *to))),
        );
    }
    let both = |name, it| reaches.contains(&(name, it)) && reaches.contains(&(it, name));
    let names = || names.iter().copied();
    let cycles = names().map(|name| names().filter(|it| both(name, it)).collect::<Vec<_>>());
    cycles.max_by_key(Vec::len).unwrap_or_default()
}

/// Returns the names of a file's module, such as `worker` and `join`; none for the root.
fn module(file: &str) -> Vec<&str> {
    let names = file.trim_end_matches(".rs").split('/');
    let own = |name: &&str| !["lib", "main", "mod"].contains(name);
    names.filter(own).collect()
}

/// Returns the file of the innermost module that the path names.
fn target<'a>(path: &[&str], modules: &BTreeMap<Vec<&str>, &'a str>) -> Option<&'a str> {
    let mut prefixes = (0..=path.len()).rev().map(|len| &path[..len]);
    prefixes.find_map(|prefix| modules.get(prefix)).copied()
}

/// The beginning of a path from the module on.
const RELATIVE: &str = ".";

/// A path from the crate's root on, and the name that an import gives to its end.
type Path<'a> = (Vec<&'a str>, &'a str);

/// Returns all paths in the code of this module that begin with `crate::` or `super::`, and, in the
/// crate's root, also the other imports.
fn paths<'a>(module: &[&'a str], tokens: &'a [Token]) -> Vec<Path<'a>> {
    let mut paths = Vec::new();
    let start = Vec::from_iter((!module.is_empty()).then_some(RELATIVE));
    // The inline module around a token, the number of braces around each of its parents, and the
    // number of braces around the token.
    let (mut module, mut parents, mut braces) = (module.to_vec(), Vec::new(), 0);
    let (mut rest, mut last) = (tokens.iter(), "");
    while let Some(token) = rest.as_slice().first() {
        let mut path = rest.clone();
        rest.next();
        let next = |at: usize| rest.as_slice().get(at).map_or("", |token| &*token.text);
        match token.text.as_str() {
            "mod" if next(1) == "{" => {
                module.push(next(0));
                parents.push(braces);
            }
            "{" => braces += 1,
            "}" => {
                braces -= 1;
                if parents.last() == Some(&braces) {
                    parents.pop();
                    module.pop();
                }
            }
            "use" => while expand(&module, start.clone(), &mut rest, &mut paths) {},
            "crate" | "super" if last != "::" && next(0) == "::" => {
                expand(&module, start.clone(), &mut path, &mut paths);
            }
            _ => {}
        }
        last = &token.text;
    }
    paths.retain(|(path, _)| !path.starts_with(&[RELATIVE]));
    paths
}

/// Reads a tree such as `a::{b, super::c::{self, d as e}}` below `names`, up to its end. Adds each
/// path. Returns whether another tree follows in the same braces.
fn expand<'a>(
    module: &[&'a str],
    mut names: Vec<&'a str>,
    tokens: &mut slice::Iter<'a, Token>,
    paths: &mut Vec<Path<'a>>,
) -> bool {
    let (mut alias, mut last) = (None, "::");
    while let Some(token) = tokens.next() {
        let text = token.text.as_str();
        match text {
            "}" if last == "::" => return false,
            "{" if last == "::" => while expand(module, names.clone(), tokens, paths) {},
            "as" => alias = tokens.next().map(|token| token.text.as_str()),
            "crate" => names.clear(),
            "super" => {
                if names == [RELATIVE] {
                    names = module.to_vec();
                }
                names.pop();
            }
            "::" | "self" | "*" | "$" => {}
            name if last == "::" => names.push(name),
            _ => {
                let name = alias.or(names.last().copied()).unwrap_or_default();
                paths.extend((last != "{").then_some((names, name)));
                return text == ",";
            }
        }
        last = text;
    }
    false
}

/// Returns the names that a file at the root of a crate imports or exports.
pub fn exports(tokens: &[Token]) -> Vec<&str> {
    paths(&[], tokens).into_iter().map(|it| it.1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[rustfmt::skip]
    const FILES: &[(&str, &str)] = &[
        ("a.rs", "use crate::{job::{self, Task as Job}, sleep::wake,};\nfn f() { crate::pool::end() }"),
        ("job.rs", "// crate::a\n#[cfg(test)]\nmod tests { use crate::a; }"),
        ("sleep.rs", "use super::a;"),
        ("sleep/wake.rs", "use super::super::pool::{self, end};"),
        ("sleep/look.rs", "mod inner { fn f() { super::super::job() == '\"' && super::super::super::a() } }"),
        ("sleep/deep/look.rs", "use super::{super::super::pool, look};"),
        ("pool.rs", "\"crate::a\";\ncrate::join();"),
        ("queue.rs", "use crate::{Handle, Pool as P};"),
        ("lib.rs", "mod a;\npub use {job::Task as Handle, pool::Pool};"),
    ];

    #[test]
    fn trees_of_imports_are_read() {
        let texts = FILES
            .iter()
            .map(|(file, text)| (format!("crates/a/src/{file}"), text.to_string()));
        let repo = Repo::new(texts.collect(), Vec::new());
        let imports = imports(&repo, "crates/a/src/");
        let found = imports.iter().map(|(from, to)| format!("{from} {to}"));
        let expected = "a.rs job.rs, a.rs pool.rs, a.rs sleep/wake.rs, pool.rs lib.rs, queue.rs job.rs, \
            queue.rs pool.rs, sleep.rs a.rs, sleep/deep/look.rs pool.rs, sleep/look.rs a.rs, \
            sleep/look.rs sleep.rs, sleep/wake.rs pool.rs";
        assert_eq!(Vec::from_iter(found).join(", "), expected);
        assert_eq!(largest_cycle(&imports), ["a", "sleep"]);
    }
}
