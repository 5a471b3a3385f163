//! Lays out the published packages as a workspace that uses the `rayon-core` of this repository.

use std::fs;
use std::io::Error;
use std::path::{Path, PathBuf};

use cargo_metadata::Package;

use super::core;
use crate::workspace::{Workspace, describe};

pub const OURS: &str = "crates/rayon-core";

/// A package that depends on the published rayon and rayon-core. Its lock file fixes their versions.
const DEPENDENT: &str = "benches/iter/stock";

const LOCK: &str = "Cargo.lock";

/// A file that this check copies or writes.
pub struct File {
    /// The path, relative to the folder to which the file belongs.
    pub path: PathBuf,
    pub bytes: Vec<u8>,
}

impl File {
    pub fn new(path: impl Into<PathBuf>, text: impl Into<String>) -> File {
        let (path, bytes) = (path.into(), text.into().into_bytes());
        File { path, bytes }
    }

    /// Writes the file below `folder`, unless an identical file is there already: rewriting it
    /// would cause a rebuild.
    fn place(&self, folder: &Path) -> Result<(), String> {
        let path = folder.join(&self.path);
        if fs::read(&path).is_ok_and(|old| old == self.bytes) {
            return Ok(());
        }
        path.parent()
            .map_or(Ok(()), fs::create_dir_all)
            .and_then(|()| fs::write(&path, &self.bytes))
            .map_err(|error| at(&path, error))
    }
}

/// Returns the published packages rayon and rayon-core, after cargo has fetched them.
pub fn published(workspace: &Workspace) -> Result<[Package; 2], String> {
    let found = describe(&workspace.root.join(DEPENDENT), &["--locked"])?;
    let package = |name: &str| {
        let package = found.packages.iter().find(|package| package.name == name);
        let package = package.cloned();
        package.ok_or_else(|| format!("{DEPENDENT} does not depend on {name}"))
    };
    Ok([package("rayon")?, package("rayon-core")?])
}

/// Returns all files of a package, sorted by path.
pub fn below(package: &Package) -> Result<Vec<File>, String> {
    let root = package.manifest_path.with_file_name("");
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::from(&root)];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).map_err(|error| at(&next, error))? {
            let path = entry.map_err(|error| at(&next, error))?.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let bytes = fs::read(&path).map_err(|error| at(&path, error))?;
            let path = path.strip_prefix(&root).unwrap_or(&path).to_path_buf();
            found.push(File { path, bytes });
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

fn at(path: &Path, error: Error) -> String {
    format!("{}: {error}", path.display())
}

pub fn write(
    workspace: &Workspace,
    folder: &Path,
    [rayon, core]: &[Package; 2],
) -> Result<(), String> {
    let rayon = below(rayon)?;
    // This lock file fixes the versions with which rayon was published. It is copied only once,
    // because cargo then adds the packages that it lacks, and later runs must use the same versions
    // of those packages.
    let lock = rayon.iter().find(|file| file.path == Path::new(LOCK));
    if let Some(lock) = lock.filter(|_| !folder.join(LOCK).exists()) {
        lock.place(folder)?;
    }
    for file in rayon {
        file.place(&folder.join("rayon"))?;
    }
    for file in core::package(core)? {
        file.place(&folder.join(core::NAME))?;
    }
    File::new("Cargo.toml", root(workspace)).place(folder)
}

/// Makes sure that the packages in `folder` depend on the `rayon-core` of this repository.
pub fn verify(workspace: &Workspace, folder: &Path) -> Result<(), String> {
    let packages = describe(folder, &[])?.packages.into_iter();
    let cores = packages.filter(|package| package.name == "rayon-core");
    let manifests: Vec<_> = cores.map(|core| core.manifest_path).collect();
    if manifests == [workspace.root.join(OURS).join("Cargo.toml")] {
        return Ok(());
    }
    Err(format!(
        "rayon does not use {OURS} but {manifests:?}: ours must have the version in {DEPENDENT}; \
         if it has, remove {} and try again",
        folder.join(LOCK).display()
    ))
}

/// Returns the manifest of the workspace. The tests are many small programs: they link faster
/// without debug information, and optimising the code that all of them share saves more time than
/// it costs.
fn root(workspace: &Workspace) -> String {
    let tests = core::NAME;
    let ours = toml::Value::from(workspace.root.join(OURS).display().to_string());
    format!(
        "[workspace]\nresolver = \"2\"\nmembers = [\"rayon\", \"{tests}\"]\n\n\
         [patch.crates-io]\nrayon-core = {{ path = {ours} }}\n\n\
         [profile.dev]\ndebug = false\nincremental = false\n\n\
         [profile.dev.package.\"*\"]\nopt-level = 1\n"
    )
}
