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
    let manifest = format!(
        "[workspace]\n\n[package]\nname = \"fetch\"\nedition = \"2024\"\npublish = false\n\n\
         [dependencies]\nrayon = \"={RAYON}\"\nrayon-core = \"={RAYON_CORE}\"\n"
    );
    File::new("Cargo.toml", manifest).place(folder)?;
    File::new("src/lib.rs", "").place(folder)?;
    let found = metadata(folder, &[])?;
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
