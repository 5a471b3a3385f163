//! Lays out the published packages as a workspace that uses the `rayon-core` of this repository.

use std::path::Path;

use super::core;
use super::files::{self, File};
use super::published::{Published, RAYON_CORE};
use crate::workspace::{Workspace, describe};

pub const OURS: &str = "crates/rayon-core";

const LOCK: &str = "Cargo.lock";

pub fn write(workspace: &Workspace, folder: &Path, published: &Published) -> Result<(), String> {
    let rayon = files::below(&published.rayon)?;
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
    for file in core::package(published)? {
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
        "rayon does not use {OURS} but {manifests:?}: the version of ours must be {RAYON_CORE}; \
         if it is, remove {} and try again",
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
