//! The published packages, fetched and unpacked by cargo.
//!
//! A package that only depends on both is written, and cargo asked where their sources lie. It does not know where cargo
//! keeps them or from where it takes them.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::files::File;
use crate::workspace::{list, metadata, text};

/// The version of rayon whose tests run.
pub const RAYON: &str = "1.12.0";

/// The version of rayon-core whose tests run, and which ours stands in for.
pub const RAYON_CORE: &str = "1.13.0";

/// What cargo says about both.
pub struct Published {
    /// Where rayon is unpacked.
    pub rayon: PathBuf,
    /// Where rayon-core is unpacked.
    pub core: PathBuf,
    /// The edition of rayon-core's tests.
    pub edition: String,
    /// What rayon-core's tests may depend on: name and requirement.
    pub dependencies: Vec<(String, String)>,
}

/// Has cargo fetch both, for a package in `folder`.
pub fn fetch(folder: &Path) -> Result<Published, String> {
    let found = depend_on(folder, &[("rayon", RAYON), ("rayon-core", RAYON_CORE)])?;
    let core = package(&found, "rayon-core")?;
    let dependencies = list(core, "dependencies")?
        .iter()
        .filter(|dependency| dependency["optional"] != true)
        .map(|dependency| Ok((text(dependency, "name")?, text(dependency, "req")?)));
    Ok(Published {
        rayon: unpacked(package(&found, "rayon")?)?,
        core: unpacked(core)?,
        edition: text(core, "edition")?,
        dependencies: dependencies.collect::<Result<_, String>>()?,
    })
}

/// Has cargo fetch a package, whether library or program, for a package in `folder`. Returns where it is unpacked.
///
/// Cargo doesn't list a package without a library, but to find that out it has unpacked the package next to the others.
pub fn fetch_package(folder: &Path, name: &str, version: &str) -> Result<PathBuf, String> {
    let found = depend_on(folder, &[("rayon-core", RAYON_CORE), (name, version)])?;
    let core = unpacked(package(&found, "rayon-core")?)?;
    let unpacked = core.with_file_name(format!("{name}-{version}"));
    if unpacked.join("Cargo.toml").is_file() {
        Ok(unpacked)
    } else {
        Err(format!(
            "{name} {version} was expected in {}",
            unpacked.display()
        ))
    }
}

/// What cargo says about a package in `folder` that depends on exactly these versions.
fn depend_on(folder: &Path, dependencies: &[(&str, &str)]) -> Result<Value, String> {
    let dependencies = dependencies
        .iter()
        .map(|(name, version)| format!("{name} = \"={version}\"\n"));
    let manifest = format!(
        "[workspace]\n\n[package]\nname = \"fetch\"\nedition = \"2024\"\npublish = false\n\n\
         [dependencies]\n{}",
        dependencies.collect::<String>()
    );
    File::new("Cargo.toml", manifest).place(folder)?;
    File::new("src/lib.rs", "").place(folder)?;
    metadata(folder, &[])
}

/// The package `name` in what cargo said.
fn package<'a>(found: &'a Value, name: &str) -> Result<&'a Value, String> {
    let mut packages = list(found, "packages")?.iter();
    packages
        .find(|package| package["name"] == name)
        .ok_or_else(|| format!("cargo metadata has no package {name}"))
}

fn unpacked(package: &Value) -> Result<PathBuf, String> {
    let manifest = PathBuf::from(text(package, "manifest_path")?);
    Ok(manifest.with_file_name(""))
}
