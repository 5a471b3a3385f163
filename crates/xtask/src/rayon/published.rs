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
    /// Where rayon is unpacked.
    pub rayon: PathBuf,
    /// Where rayon-core is unpacked.
    pub core: PathBuf,
    /// What cargo says about rayon-core.
    pub manifest: Package,
}

/// Has cargo fetch both, for a package in `folder`.
pub fn fetch(folder: &Path) -> Result<Published, String> {
    let found = depend_on(folder, &[("rayon", RAYON), ("rayon-core", RAYON_CORE)])?;
    let core = package(&found, "rayon-core")?;
    Ok(Published {
        rayon: unpacked(package(&found, "rayon")?),
        core: unpacked(core),
        manifest: core.clone(),
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
    let mut manifest =
        "[workspace]\n[package]\nname = \"fetch\"\nedition = \"2024\"\n[dependencies]\n"
            .to_string();
    for (name, version) in dependencies {
        manifest.push_str(&format!("{name} = \"={version}\"\n"));
    }
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
