//! The imports inside a crate: which files each file names by a path that begins with `crate::` or
//! `super::`. From these, the largest import cycle between the crate's top-level modules.
//!
//! Tests and models are left out, and so are the imports of the crate's root file, and paths that
//! begin with the name of a submodule. A path to an item that the root re-exports names the file
//! from which it comes; a path to another item of the root names the root file.

use std::collections::{BTreeMap, BTreeSet};

use super::Repo;
use super::source::{self, indent};

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
/// `super::`. Leaves out tests. Relies on rustfmt's layout.
fn paths(module: &[String], text: &str) -> Vec<Path> {
    // The inline modules around a line, with their indents.
    let mut inline: Vec<(usize, String)> = Vec::new();
    let (mut import, mut paths) = (String::new(), Vec::new());
    for line in source::shipped(text) {
        let code = source::code(line);
        let code = code.trim();
        let begins = code
            .strip_suffix(" {")
            .and_then(|it| it.rsplit_once("mod "));
        if let Some((_, name)) = begins {
            inline.push((indent(line), name.to_owned()));
        } else if code == "}" && inline.last().is_some_and(|it| it.0 == indent(line)) {
            inline.pop();
        }
        let names = inline.iter().map(|(_, name)| name);
        let module: Vec<String> = module.iter().chain(names).cloned().collect();
        let begins = code.split_once("use ");
        let begins = begins.filter(|(before, _)| before.is_empty() || before.starts_with("pub"));
        if !import.is_empty() || begins.is_some() {
            import += begins.map_or(code, |(_, tree)| tree);
            if let Some(tree) = import.strip_suffix(';') {
                let mut trees = Vec::new();
                expand("", tree, &mut trees);
                paths.extend(trees.iter().map(|tree| path(&module, tree, true)));
                import.clear();
            }
            continue;
        }
        let words = code.split(|c: char| !c.is_alphanumeric() && !"_:".contains(c));
        let starts = words.filter_map(|word| {
            let at = ["crate::", "super::"]
                .iter()
                .filter_map(|start| word.find(start))
                .min()?;
            Some(&word[at..])
        });
        paths.extend(starts.map(|word| path(&module, word, false)));
    }
    paths
}

/// Adds the paths that a tree such as `a::{b, c::{self, d as e}}` stands for.
fn expand(prefix: &str, tree: &str, paths: &mut Vec<String>) {
    let Some((head, inner)) = tree.split_once('{') else {
        paths.push(format!("{prefix}{tree}"));
        return;
    };
    let mut depth = 0;
    let parts = inner.strip_suffix('}').unwrap_or(inner).split(|c| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        c == ',' && depth == 0
    });
    for part in parts.map(str::trim).filter(|part| !part.is_empty()) {
        expand(&format!("{prefix}{head}"), part, paths);
    }
}

/// Returns the names that a file at the root of a crate imports or exports.
pub fn exports(text: &str) -> impl Iterator<Item = String> {
    let paths = paths(&[], text).into_iter();
    paths.filter(|path| path.is_use).map(|path| path.name)
}

/// Reads a path such as `super::a as b` in this module.
fn path(module: &[String], text: &str, is_use: bool) -> Path {
    let (text, alias) = text.split_once(" as ").unwrap_or((text, ""));
    let (mut names, mut is_absolute) = (Vec::new(), false);
    for name in text.split("::") {
        match name.trim() {
            "crate" => is_absolute = true,
            "super" => {
                if !std::mem::replace(&mut is_absolute, true) {
                    names = module.to_vec();
                }
                names.pop();
            }
            "" | "self" => {}
            name => names.push(name.to_owned()),
        }
    }
    let last = names.last().cloned().unwrap_or_default();
    Path {
        name: Some(alias.to_owned())
            .filter(|it| !it.is_empty())
            .unwrap_or(last),
        names,
        is_absolute,
        is_use,
    }
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
