//! The workspace, as described by cargo. xtask runs in its root folder.

use std::path::PathBuf;
use std::process;
use std::sync::LazyLock;

use cargo_metadata::{Metadata, MetadataCommand, Package};

/// The workspace that contains the folder in which xtask was started.
pub static WORKSPACE: LazyLock<Metadata> = LazyLock::new(|| {
    let found = MetadataCommand::new().no_deps().exec();
    found.unwrap_or_else(|error| {
        eprintln!("xtask: {error}");
        process::exit(1)
    })
});

/// Returns the folder for a check's build products, which must not mix with those of other checks.
pub fn scratch(name: &str) -> PathBuf {
    WORKSPACE.target_directory.join("xtask").join(name).into()
}

/// Returns a package's folder, as a path from the root with `/`.
pub fn folder(package: &Package) -> String {
    let manifest = &package.manifest_path;
    let inside = manifest.strip_prefix(&WORKSPACE.workspace_root);
    let inside = inside.unwrap_or(manifest).as_str().replace('\\', "/");
    inside.trim_end_matches("/Cargo.toml").to_string()
}

pub fn is_published(package: &Package) -> bool {
    package.publish != Some(Vec::new())
}
