//! The source of a program laid out twice: to be built with the published rayon-core, and with ours.
//!
//! Both copies lock the same version of every package that they share. They start from the lock file that the program
//! came with; in both, rayon and rayon-core move to the versions that ours stands in for, and what is too old for ours
//! moves up.

use std::fs;
use std::path::{Path, PathBuf};

use super::build::Build;
use super::lock::{Lock, older};
use super::table::{DRIVERS, Program, Source, Target};
use crate::command::Cmd;
use crate::rayon::files::{self, File, canonical};
use crate::rayon::layout::{self, LOCK, OURS};
use crate::rayon::published::{self, RAYON, RAYON_CORE};
use crate::workspace::{Workspace, metadata};

const MANIFEST: &str = "Cargo.toml";

/// A copy of the lock file that both copies were derived from.
const ORIGIN: &str = "origin.lock";

/// Packages that ours needs newer than the lock files of some programs have them. Cargo doesn't move a locked version by
/// itself: it reports a conflict.
const NEEDED_NEWER: [&str; 1] = ["libc"];

/// Locked versions that make way for newer ones. The xattr that fclones locks doesn't compile with so new a libc; the others
/// are what the newer xattr needs, in an order in which each move is possible.
const REPLACED: [(&str, &str, &str); 4] = [
    ("linux-raw-sys", "0.4.10", "0.4.15"),
    ("errno", "0.3.5", "0.3.15"),
    ("rustix", "0.38.20", "0.38.37"),
    ("xattr", "1.0.1", "1.4.0"),
];

/// A program's source, laid out.
pub struct Laid(PathBuf);

impl Laid {
    /// The folder of a copy.
    pub fn copy(&self, build: Build) -> PathBuf {
        self.0.join(build.name())
    }

    /// What a copy has locked.
    pub fn lock(&self, build: Build) -> Result<Lock, String> {
        Lock::read(&self.copy(build).join(LOCK))
    }
}

/// Has cargo fetch what is missing, and lays `program` out.
pub fn lay(workspace: &Workspace, program: &Program) -> Result<Laid, String> {
    let scratch = workspace.scratch("rayon-programs");
    let (mut files, folder) = match program.source {
        Source::Registry(package, version) => {
            let folder = format!("{package}-{version}");
            let fetch = scratch.join("fetch").join(&folder);
            let source = published::fetch_package(&fetch, package, version).map_err(unfetched)?;
            (files::below(&source)?, folder)
        }
        Source::Driver(folder, _) => {
            let source = workspace.root.join(DRIVERS).join(folder);
            (driver(&source)?, folder.to_string())
        }
    };
    let laid = Laid(scratch.join("source").join(folder));
    let manifest = take(&mut files, MANIFEST)?;
    let origin = take(&mut files, LOCK)?;
    for build in Build::ALL {
        files.push(File::new(MANIFEST, adapted(workspace, &manifest, build)));
        for file in &files {
            file.place(&laid.copy(build))?;
        }
        files.pop();
    }
    let ours = Lock::read(&workspace.root.join(OURS).join(LOCK))?;
    let moves = moves(&ours);
    let origin_of_both = File::new(ORIGIN, format!("# {moves:?}\n{origin}"));
    let known = fs::read(laid.0.join(ORIGIN)).is_ok_and(|known| known == origin_of_both.bytes);
    if !known {
        derive(workspace, &laid, &origin, &moves)?;
    }
    // Locks what ours depends on, too.
    metadata(&laid.copy(Build::Tidegate), &[]).map_err(unfetched)?;
    compare(&laid)?;
    verify(workspace, &laid, program.target)?;
    // Only now: what was interrupted begins again.
    origin_of_both.place(&laid.0)?;
    Ok(laid)
}

/// The files of a driver, without what cargo may have built there.
fn driver(folder: &Path) -> Result<Vec<File>, String> {
    let mut files = files::below(&folder.join("src"))?;
    for file in &mut files {
        file.path = Path::new("src").join(&file.path);
    }
    for name in [MANIFEST, LOCK] {
        files.push(File::new(name, read(&folder.join(name))?));
    }
    Ok(files)
}

/// Takes the text at `path` out of `files`.
fn take(files: &mut Vec<File>, path: &str) -> Result<String, String> {
    let at = files.iter().position(|file| file.path == Path::new(path));
    let file = files.remove(at.ok_or_else(|| format!("the package has no {path}"))?);
    String::from_utf8(file.bytes).map_err(|error| format!("{path}: {error}"))
}

/// The manifest of a package as that of a workspace of its own, whose `rayon-core` is the one to build with.
fn adapted(workspace: &Workspace, manifest: &str, build: Build) -> String {
    let mut text = manifest.to_string();
    if !manifest.lines().any(|line| line.trim() == "[workspace]") {
        text.push_str("\n[workspace]\n");
    }
    if build == Build::Tidegate {
        text.push('\n');
        text.push_str(&layout::patch(workspace));
    }
    text
}

/// A package whose locked version moves.
#[derive(Debug)]
struct Move {
    package: &'static str,
    /// Which versions move.
    from: From,
    to: String,
}

#[derive(Debug)]
enum From {
    /// Every other one.
    Any,
    /// Older ones, if they are compatible.
    Older,
    /// This one.
    Exactly(&'static str),
}

/// The moves that let a program be built with either rayon-core, given the lock file of ours.
fn moves(ours: &Lock) -> Vec<Move> {
    let exact = [("rayon", RAYON), ("rayon-core", RAYON_CORE)];
    let exact = exact.map(|(package, to)| (package, From::Any, to));
    let newer = NEEDED_NEWER.into_iter().flat_map(|package| {
        let versions = ours.versions(package);
        versions.map(move |to| (package, From::Older, to))
    });
    let replaced = REPLACED.map(|(package, from, to)| (package, From::Exactly(from), to));
    let moves = exact.into_iter().chain(newer).chain(replaced);
    moves
        .map(|(package, from, to)| Move {
            package,
            from,
            to: to.to_string(),
        })
        .collect()
}

impl Move {
    fn takes(&self, version: &str) -> bool {
        match self.from {
            From::Any => version != self.to,
            From::Older => older(version, &self.to),
            From::Exactly(from) => version == from,
        }
    }
}

/// Writes the lock files of both copies.
fn derive(workspace: &Workspace, laid: &Laid, origin: &str, moves: &[Move]) -> Result<(), String> {
    let stock = laid.copy(Build::Stock);
    File::new(LOCK, origin).place(&stock)?;
    for step in moves {
        let lock = laid.lock(Build::Stock)?;
        let versions = lock.versions(step.package);
        for version in versions.filter(|version| step.takes(version)) {
            let package = format!("{}@{version}", step.package);
            update(workspace, &stock, &package, &step.to)?;
        }
    }
    File::new(LOCK, read(&stock.join(LOCK))?).place(&laid.copy(Build::Tidegate))
}

/// Makes sure that both copies lock the same versions of what they share.
fn compare(laid: &Laid) -> Result<(), String> {
    let stock = laid.lock(Build::Stock)?;
    let differences = stock.differences(&laid.lock(Build::Tidegate)?);
    let Some(difference) = differences.first() else {
        return Ok(());
    };
    Err(format!(
        "{} is locked as {} with the published rayon-core and as {} with {OURS}: remove {} and try again",
        difference.name,
        difference.first.join(" and "),
        difference.second.join(" and "),
        laid.0.display()
    ))
}

/// Makes sure that each copy uses the `rayon-core` that it should.
fn verify(workspace: &Workspace, laid: &Laid, target: Target) -> Result<(), String> {
    let features = match target {
        Target::Program(_) => vec![],
        Target::Tests(feature) => vec!["--features", feature],
    };
    layout::verify(workspace, &laid.copy(Build::Tidegate), &features)?;
    let ours = canonical(&workspace.root.join(OURS).join(MANIFEST))?;
    let stock = laid.copy(Build::Stock);
    for manifest in layout::cores(&stock, &features).map_err(unfetched)? {
        if canonical(&manifest)? == ours {
            return Err(format!("{} uses {OURS}", stock.display()));
        }
    }
    Ok(())
}

/// Locks another version of a package in `folder`.
fn update(workspace: &Workspace, folder: &Path, package: &str, to: &str) -> Result<(), String> {
    let line = format!("update {package} --precise {to} --manifest-path");
    let update = Cmd::cargo(workspace, &format!("rayon-programs {package}"), &line);
    let done = update.args([folder.join(MANIFEST)]).run()?;
    if done.success() {
        Ok(())
    } else {
        Err(unfetched(done.text))
    }
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// What to do when cargo has failed with `why` at something for which it may ask the registry.
fn unfetched(why: String) -> String {
    format!(
        "{}\n\ncargo could not get what the program is built from. If the registry cannot be reached, check the network, \
         and `[source]`, `[net]` and `[http]` in cargo's configuration; then run the same command again. What has been \
         fetched is kept, and a program that has been built once needs no registry.",
        why.trim_end()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_take_the_versions_that_they_name() {
        let step = |from| Move {
            package: "a",
            from,
            to: "1.2.0".to_string(),
        };
        let taken = |from| {
            let step = step(from);
            ["1.1.0", "1.2.0", "1.3.0"].map(|version| step.takes(version))
        };
        assert_eq!(taken(From::Any), [true, false, true]);
        assert_eq!(taken(From::Older), [true, false, false]);
        assert_eq!(taken(From::Exactly("1.3.0")), [false, false, true]);
    }

    mod manifest {
        use super::*;

        const PACKAGE: &str = "[package]\nname = \"a\"\n";

        fn table(manifest: &str, build: Build) -> toml::Table {
            let workspace = Workspace::load().unwrap();
            adapted(&workspace, manifest, build).parse().unwrap()
        }

        #[test]
        fn gets_a_workspace_once() {
            for manifest in [PACKAGE, &format!("{PACKAGE}\n[workspace]\n")] {
                let table = table(manifest, Build::Stock);
                assert!(table.contains_key("workspace"));
            }
        }

        #[test]
        fn is_patched_in_one_copy() {
            assert!(!table(PACKAGE, Build::Stock).contains_key("patch"));
            let patched = table(PACKAGE, Build::Tidegate);
            let ours = patched["patch"]["crates-io"]["rayon-core"]["path"].as_str();
            assert!(ours.unwrap().ends_with(OURS));
        }
    }
}
