//! The published packages. Cargo fetches them as the dependencies of a package that depends on
//! nothing else.

use std::path::{Path, PathBuf};

use cargo_metadata::{Metadata, Package};

use super::files::File;
use crate::workspace::describe;

/// The version of rayon whose tests run.
pub const RAYON: &str = "1.12.0";

/// The version of rayon-core whose tests run. Our rayon-core replaces it.
pub const RAYON_CORE: &str = "1.13.0";

pub struct Published {
    /// The folder into which rayon is unpacked.
    pub rayon: PathBuf,
    /// The folder into which rayon-core is unpacked.
    pub core: PathBuf,
    /// Cargo's metadata of rayon-core.
    pub manifest: Package,
}

/// Makes cargo fetch both packages, as dependencies of a package in `folder`.
pub fn fetch(folder: &Path) -> Result<Published, String> {
    let manifest = format!(
        "[workspace]\n[package]\nname = \"fetch\"\nedition = \"2024\"\n\
         [dependencies]\nrayon = \"={RAYON}\"\nrayon-core = \"={RAYON_CORE}\"\n"
    );
    File::new("Cargo.toml", manifest).place(folder)?;
    File::new("src/lib.rs", "").place(folder)?;
    let found = describe(folder, &[])?;
    let core = package(&found, "rayon-core")?;
    Ok(Published {
        rayon: unpacked(package(&found, "rayon")?),
        core: unpacked(core),
        manifest: core.clone(),
    })
}

fn package<'a>(found: &'a Metadata, name: &str) -> Result<&'a Package, String> {
    let package = found.packages.iter().find(|package| package.name == name);
    package.ok_or_else(|| format!("cargo metadata has no package {name}"))
}

fn unpacked(package: &Package) -> PathBuf {
    package.manifest_path.with_file_name("").into()
}
