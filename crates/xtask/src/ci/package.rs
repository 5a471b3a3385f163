//! Every crate that would be published can be packed, and the packed crates build from one another.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::command::Cmd;
use crate::step::Outcome;
use crate::workspace::Workspace;

/// Packs them together, so that those which depend on others are built from the packed ones.
pub fn check(workspace: &Workspace) -> Outcome {
    if let Err(trouble) = forget(workspace) {
        return Outcome::Failed(format!(
            "what an earlier run unpacked cannot be removed: {trouble}"
        ));
    }
    Cmd::cargo(workspace, "package", "package --allow-dirty")
        .args(workspace.published())
        .env("CARGO_TARGET_DIR", workspace.scratch("package"))
        .outcome("packed and built")
}

/// Removes what an earlier run packed, unpacked and built. Cargo takes a version that it has once unpacked to be the same
/// for ever, and would build today's crate against yesterday's.
fn forget(workspace: &Workspace) -> io::Result<()> {
    remove(&workspace.scratch("package"))?;
    let Some(home) = cargo_home() else {
        return Ok(());
    };
    for registry in folders(&home.join("registry/src"))? {
        // A registry without a host is a folder on this machine, as the one is that cargo packs into.
        if !registry
            .file_name()
            .is_some_and(|name| name.as_encoded_bytes().starts_with(b"-"))
        {
            continue;
        }
        for package in workspace
            .packages
            .iter()
            .filter(|package| package.published)
        {
            remove(&registry.join(format!("{}-{}", package.name, package.version)))?;
        }
    }
    Ok(())
}

fn cargo_home() -> Option<PathBuf> {
    let set = std::env::var_os("CARGO_HOME").filter(|home| home != OsStr::new(""));
    set.map(PathBuf::from)
        .or_else(|| Some(std::env::home_dir()?.join(".cargo")))
}

fn folders(parent: &Path) -> io::Result<Vec<PathBuf>> {
    match fs::read_dir(parent) {
        Ok(entries) => entries.map(|entry| Ok(entry?.path())).collect(),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
