//! Copies a program's source twice: for a build with the published rayon-core, and for one with
//! Tidegate's.
//!
//! The two copies lock the same versions of all packages that they share. Both lock files are
//! derived from the program's own. In both, rayon and rayon-core are locked at the versions that
//! Tidegate's rayon-core replaces, and packages that are too old for it are updated.

use std::path::{Path, PathBuf};

use serde_json::Value;
use tidegate_command::failure::Failure;

use super::files::{self, at};
use super::lock::{LOCK, Lock, older};
use super::source::{self, MANIFEST, manifests, metadata, unfetched};
use super::table::{Program, Target};
use crate::cargo;

/// The folder of Tidegate's rayon-core. Its lock file contains the versions of rayon and rayon-core
/// that it replaces, because it is tested with that rayon.
const OURS: &str = "crates/rayon-core";

/// The file that records the lock file and the version changes from which the copies' lock files
/// were derived.
const ORIGIN: &str = "origin.lock";

/// Packages that must have the same versions as in the lock file of Tidegate's rayon-core.
const EXACT: [&str; 2] = ["rayon", "rayon-core"];

/// Packages that Tidegate's rayon-core needs in newer versions than some programs lock. Cargo
/// reports a conflict instead of updating a locked version.
const NEEDED_NEWER: [&str; 1] = ["libc"];

/// Locked versions that are replaced by newer ones, as `(package, from, to)`. The xattr version
/// that fclones locks does not compile with the newer libc, and the newer xattr needs newer
/// versions of the other packages. Cargo accepts the updates only in this order.
const REPLACED: [(&str, &str, &str); 4] = [
    ("linux-raw-sys", "0.4.10", "0.4.15"),
    ("errno", "0.3.5", "0.3.15"),
    ("rustix", "0.38.20", "0.38.37"),
    ("xattr", "1.0.1", "1.4.0"),
];

/// The rayon-core that a program is built with.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Build {
    /// The published rayon-core.
    Stock,
    /// This repository's rayon-core.
    Tidegate,
}

impl Build {
    pub const ALL: [Build; 2] = [Build::Stock, Build::Tidegate];

    /// Returns the name of the folder that holds this build's copy of the source.
    pub fn name(self) -> &'static str {
        match self {
            Build::Stock => "stock",
            Build::Tidegate => "tidegate",
        }
    }
}

/// The copies of a program's source, one for each [`Build`].
pub struct Laid {
    folder: PathBuf,
    features: Vec<&'static str>,
}

impl Laid {
    pub fn copy(&self, build: Build) -> PathBuf {
        self.folder.join(build.name())
    }

    pub fn lock(&self, build: Build) -> Result<Lock, Failure> {
        Lock::read(&self.copy(build).join(LOCK))
    }

    /// Returns the output of `cargo metadata` for a copy. Cargo adds missing entries to the copy's
    /// lock file.
    pub fn metadata(&self, build: Build) -> Result<Value, Failure> {
        metadata(&self.copy(build), &self.features)
    }
}

/// Creates both copies of `program` below `scratch`. Cargo downloads packages that are missing.
pub fn lay(program: &Program, scratch: &Path) -> Result<Laid, Failure> {
    let laid = Laid {
        folder: scratch.join("source").join(program.source.folder()),
        features: match program.target {
            Target::Program(_) => Vec::new(),
            Target::Tests(feature) => vec!["--features", feature],
        },
    };
    let ours = cargo::checkout(OURS)?;
    let mut package = source::files(program.source, scratch)?;
    let (manifest, origin) = (package.take(MANIFEST)?, package.take(LOCK)?);
    for build in Build::ALL {
        package.insert(MANIFEST, adapted(&manifest, build, &ours));
        package.place(&laid.copy(build))?;
    }
    let moves = moves(&Lock::read(&ours.join(LOCK))?);
    let known = laid.folder.join(ORIGIN);
    let origin_of_both = format!("# {moves:?}\n{origin}").into_bytes();
    if files::read(&known).ok().as_ref() != Some(&origin_of_both) {
        derive(&laid, &origin, &moves)?;
    }
    verify(&laid, &ours)?;
    compare(&laid)?;
    // Write this file last, so that a copy that was interrupted is made again.
    files::place(&known, &origin_of_both)?;
    Ok(laid)
}

/// Returns `manifest`, changed so that the package is its own workspace and uses the rayon-core of
/// `build`.
fn adapted(manifest: &str, build: Build, ours: &Path) -> String {
    let mut text = manifest.to_owned();
    if !manifest.lines().any(|line| line.trim() == "[workspace]") {
        text.push_str("\n[workspace]\n");
    }
    if build == Build::Tidegate {
        let ours = toml::Value::from(ours.display().to_string());
        text.push_str(&format!(
            "\n[patch.crates-io]\nrayon-core = {{ path = {ours} }}\n"
        ));
    }
    text
}

/// A change of a package's locked version.
#[derive(Debug)]
struct Move {
    package: &'static str,
    /// Which locked versions are replaced.
    from: From,
    to: String,
}

#[derive(Debug)]
enum From {
    /// Every version except the target.
    Any,
    /// Older versions that are compatible with the target.
    Older,
    /// Exactly this version.
    Exactly(&'static str),
}

/// Returns the version changes with which a program can be built with either rayon-core. `ours` is
/// the lock file of Tidegate's rayon-core.
fn moves(ours: &Lock) -> Vec<Move> {
    let as_ours = |packages: &[&'static str], from: fn() -> From| -> Vec<Move> {
        let versions = packages.iter().flat_map(|package| {
            let versions = ours.versions(package);
            versions.map(move |to| (*package, to.to_owned()))
        });
        let moves = versions.map(|(package, to)| Move {
            package,
            from: from(),
            to,
        });
        moves.collect()
    };
    let replaced = REPLACED.map(|(package, from, to)| Move {
        package,
        from: From::Exactly(from),
        to: to.to_owned(),
    });
    let mut moves = as_ours(&EXACT, || From::Any);
    moves.extend(as_ours(&NEEDED_NEWER, || From::Older));
    moves.extend(replaced);
    moves
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

/// Derives the lock files of both copies from `origin`, the program's own lock file.
fn derive(laid: &Laid, origin: &str, moves: &[Move]) -> Result<(), Failure> {
    let stock = laid.copy(Build::Stock);
    files::place(&stock.join(LOCK), origin.as_bytes())?;
    for step in moves {
        let lock = laid.lock(Build::Stock)?;
        let versions = lock.versions(step.package);
        for version in versions.filter(|version| step.takes(version)) {
            let package = format!("{}@{version}", step.package);
            let arguments = ["update", &package, "--precise", &step.to];
            cargo::run(&stock.join(MANIFEST), &arguments).map_err(unfetched)?;
        }
    }
    let derived = files::read(&stock.join(LOCK))?;
    files::place(&laid.copy(Build::Tidegate).join(LOCK), &derived)
}

/// Checks that each copy uses the right `rayon-core`.
fn verify(laid: &Laid, ours: &Path) -> Result<(), Failure> {
    for build in Build::ALL {
        let found = laid.metadata(build)?;
        let cores: Vec<PathBuf> = manifests(&found, "rayon-core").collect();
        let is_ours = |manifest: &PathBuf| {
            let manifest = manifest.canonicalize();
            manifest.is_ok_and(|manifest| manifest == ours.join(MANIFEST))
        };
        let right = match build {
            Build::Stock => !cores.iter().any(is_ours),
            Build::Tidegate => cores.iter().all(is_ours),
        };
        if cores.is_empty() || !right {
            let lock = laid.copy(build).join(LOCK);
            return Err(at(
                &lock,
                &format!("uses the wrong rayon-core, {cores:?}: remove the file and try again"),
            ));
        }
    }
    Ok(())
}

/// Checks that both copies lock the same versions of the packages that they share.
fn compare(laid: &Laid) -> Result<(), Failure> {
    let stock = laid.lock(Build::Stock)?;
    let differences = stock.differences(&laid.lock(Build::Tidegate)?);
    let Some(difference) = differences.first() else {
        return Ok(());
    };
    Err(Failure::Impossible(format!(
        "{} is locked as {} with the published rayon-core and as {} with {OURS}: remove {} and try again",
        difference.name,
        difference.first.join(" and "),
        difference.second.join(" and "),
        laid.folder.display()
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_apply_to_named_versions() {
        let taken = |from| {
            let (package, to) = ("a", "1.2.0".to_owned());
            let step = Move { package, from, to };
            ["1.1.0", "1.2.0", "1.3.0"].map(|version| step.takes(version))
        };
        assert_eq!(taken(From::Any), [true, false, true]);
        assert_eq!(taken(From::Older), [true, false, false]);
        assert_eq!(taken(From::Exactly("1.3.0")), [false, false, true]);
    }

    #[test]
    fn tidegate_lock_names_replaced_versions() {
        let lock = cargo::checkout(OURS).unwrap().join(LOCK);
        let moves = moves(&Lock::read(&lock).unwrap());
        for package in EXACT.into_iter().chain(NEEDED_NEWER) {
            let of = moves.iter().filter(|step| step.package == package);
            assert_eq!(of.count(), 1, "{package}");
        }
    }

    mod manifest {
        use super::*;

        const PACKAGE: &str = "[package]\nname = \"a\"\n";

        fn table(manifest: &str, build: Build) -> toml::Table {
            adapted(manifest, build, Path::new("/ours"))
                .parse()
                .unwrap()
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
            assert_eq!(ours, Some("/ours"));
        }
    }
}
