//! The published packages as a workspace whose `rayon-core` is the one of this repository.

use std::path::Path;

use super::core;
use super::files::{self, File, canonical};
use super::published::{Published, RAYON_CORE};
use crate::workspace::{Workspace, list, metadata, text};

/// The folder of our `rayon-core`.
pub const OURS: &str = "crates/rayon-core";

/// What cargo locks the versions of dependencies in.
const LOCK: &str = "Cargo.lock";

/// Lays the packages out in `folder`.
pub fn write(workspace: &Workspace, folder: &Path, published: &Published) -> Result<(), String> {
    let rayon = files::below(&published.rayon)?;
    // The versions that rayon was published with. Cargo adds what is not in it, which must stay as it is then.
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
    let ours = canonical(&workspace.root.join(OURS).join("Cargo.toml"))?;
    let found = metadata(folder, &[])?;
    let mut manifests = list(&found, "packages")?
        .iter()
        .filter(|package| package["name"] == "rayon-core")
        .map(|package| text(package, "manifest_path"))
        .peekable();
    if manifests.peek().is_none() {
        return Err("cargo metadata has no package rayon-core".to_string());
    }
    for manifest in manifests {
        let manifest = manifest?;
        if canonical(Path::new(&manifest))? != ours {
            return Err(format!(
                "rayon does not use {OURS} but {manifest}: the version of ours must be {RAYON_CORE}; \
                 if it is, remove {} and try again",
                folder.join(LOCK).display()
            ));
        }
    }
    Ok(())
}

/// The manifest of the workspace. Its tests are many small programs: without debug information they are linked sooner,
/// and to optimise what all of them use pays.
fn root(workspace: &Workspace) -> String {
    let ours = toml::Value::from(workspace.root.join(OURS).display().to_string());
    format!(
        "[workspace]\nresolver = \"2\"\nmembers = [\"rayon\", \"{}\"]\n\n\
         [patch.crates-io]\nrayon-core = {{ path = {ours} }}\n\n\
         [profile.dev]\ndebug = false\nincremental = false\n\n\
         [profile.dev.package.\"*\"]\nopt-level = 1\n",
        core::NAME
    )
}
