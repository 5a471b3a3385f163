//! Finds the source of a program: in the registry, or in this checkout.

use std::path::{Path, PathBuf};

use serde_json::Value;
use tidegate_command::failure::Failure;

use super::files::{self, Files};
use super::lock::LOCK;
use super::table::{DRIVERS, Source};
use crate::cargo;

pub const MANIFEST: &str = "Cargo.toml";

/// Returns the files of the program's package. Cargo downloads a registry package as the dependency
/// of a dummy package below `scratch`.
pub fn files(source: Source, scratch: &Path) -> Result<Files, Failure> {
    match source {
        Source::Registry(package, version) => {
            let folder = scratch.join("fetch").join(source.folder());
            Files::below(&fetch(&folder, package, version)?)
        }
        Source::Driver(folder, _) => driver(&cargo::checkout(DRIVERS)?.join(folder)),
    }
}

/// Returns the files of a driver, without cargo's build output.
fn driver(folder: &Path) -> Result<Files, Failure> {
    let mut found = Files::default();
    found.add(folder, Path::new("src"))?;
    for name in [MANIFEST, LOCK] {
        found.insert(name, files::read(&folder.join(name))?);
    }
    Ok(found)
}

/// Makes cargo download a package, which may be a library or a program. Returns the folder into
/// which cargo unpacks it.
///
/// `cargo metadata` does not list a package that has no library, but cargo still unpacks it, into
/// the folder in which it unpacks all packages. That folder is found from the path of rayon-core,
/// which is listed.
fn fetch(folder: &Path, name: &str, version: &str) -> Result<PathBuf, Failure> {
    let manifest = format!(
        "[workspace]\n[package]\nname = \"fetch\"\nedition = \"2024\"\n\
         [dependencies]\nrayon-core = \"1\"\n{name} = \"={version}\"\n"
    );
    files::place(&folder.join(MANIFEST), manifest.as_bytes())?;
    files::place(&folder.join("src/lib.rs"), b"")?;
    let found = metadata(folder, &[])?;
    let core = manifests(&found, "rayon-core").next();
    let unlisted = || files::at(folder, &"cargo metadata has no package rayon-core");
    let unpacked = core.ok_or_else(unlisted)?;
    let unpacked = unpacked
        .with_file_name("")
        .with_file_name(format!("{name}-{version}"));
    if unpacked.join(MANIFEST).is_file() {
        Ok(unpacked)
    } else {
        Err(files::at(
            &unpacked,
            &"cargo has not unpacked the package here",
        ))
    }
}

/// Returns the manifests of all packages with this name in the output of `cargo metadata`.
pub fn manifests(found: &Value, name: &str) -> impl Iterator<Item = PathBuf> {
    let packages = found["packages"].as_array().into_iter().flatten();
    let named = packages.filter(move |package| package["name"] == name);
    named.filter_map(|package| Some(package["manifest_path"].as_str()?.into()))
}

/// Returns the output of `cargo metadata` for the package in `folder`. Cargo may contact the
/// registry.
pub fn metadata(folder: &Path, arguments: &[&str]) -> Result<Value, Failure> {
    cargo::metadata(&folder.join(MANIFEST), arguments).map_err(unfetched)
}

/// Adds advice to the failure of a cargo command that may have needed the registry.
pub fn unfetched(why: Failure) -> Failure {
    Failure::Impossible(format!(
        "{why}\n\ncargo could not fetch the program's sources. If the registry cannot be reached, check the \
         network, and `[source]`, `[net]` and `[http]` in cargo's configuration; then run the same command again. \
         Fetched sources are kept, and a program that has been built once needs no registry."
    ))
}
