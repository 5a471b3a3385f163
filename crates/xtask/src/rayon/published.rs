//! The published packages, fetched and unpacked by cargo for a package that only depends on them.

use std::path::{Path, PathBuf};

use cargo_metadata::{Metadata, Package};

use super::files::File;
use crate::workspace::describe;

/// The version of rayon whose tests run.
pub const RAYON: &str = "1.12.0";

/// The version of rayon-core whose tests run, and which ours stands in for.
pub const RAYON_CORE: &str = "1.13.0";

pub struct Published {
    pub rayon: PathBuf,
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
    let dependencies = core.dependencies.iter().filter(|used| !used.optional);
    Ok(Published {
        rayon: unpacked(package(&found, "rayon")?),
        core: unpacked(core),
        edition: core.edition.to_string(),
        dependencies: dependencies
            .map(|used| (used.name.clone(), used.req.to_string()))
            .collect(),
    })
}

/// Has cargo fetch a package, whether library or program, for a package in `folder`. Returns where it is unpacked.
///
/// Cargo doesn't list a package without a library, but to find that out it has unpacked the package next to the others.
pub fn fetch_package(folder: &Path, name: &str, version: &str) -> Result<PathBuf, String> {
    let found = depend_on(folder, &[("rayon-core", RAYON_CORE), (name, version)])?;
    let core = unpacked(package(&found, "rayon-core")?);
    let folder = core.with_file_name(format!("{name}-{version}"));
    match folder.join("Cargo.toml").is_file() {
        true => Ok(folder),
        false => Err(format!("{name} {version} is not in {}", folder.display())),
    }
}

/// What cargo says about a package in `folder` that depends on exactly these versions.
fn depend_on(folder: &Path, dependencies: &[(&str, &str)]) -> Result<Metadata, String> {
    let dependencies = dependencies.iter();
    let dependencies = dependencies.map(|(name, version)| format!("{name} = \"={version}\"\n"));
    let manifest = format!(
        "[workspace]\n\n[package]\nname = \"fetch\"\nedition = \"2024\"\npublish = false\n\n\
         [dependencies]\n{}",
        dependencies.collect::<String>()
    );
    File::new("Cargo.toml", manifest).place(folder)?;
    File::new("src/lib.rs", "").place(folder)?;
    describe(folder, &[])
}

fn package<'a>(found: &'a Metadata, name: &str) -> Result<&'a Package, String> {
    let package = found.packages.iter().find(|package| package.name == name);
    package.ok_or_else(|| format!("cargo metadata has no package {name}"))
}

fn unpacked(package: &Package) -> PathBuf {
    package.manifest_path.with_file_name("").into()
}
