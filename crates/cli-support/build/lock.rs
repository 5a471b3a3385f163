//! Reads versions from a lock file and from the compiler, for build scripts.
//!
//! The programs that `compare iter` builds have their own lock files, and also use this module.

use std::env;
use std::path::Path;
use std::process::Command;

/// Cargo sets this variable for the build scripts of packages that depend directly on Tidegate's
/// rayon-core. The original rayon-core doesn't set it.
const TIDEGATE: &str = "DEP_RAYON_CORE_TIDEGATE";

/// The text of a lock file.
pub struct Lock(String);

impl Lock {
    /// Reads the lock file at `path`, relative to the package's folder. If the file cannot be read,
    /// all versions are unknown.
    pub fn read(path: &Path) -> Self {
        println!("cargo::rerun-if-changed={}", path.display());
        Self(std::fs::read_to_string(path).unwrap_or_default())
    }

    pub fn version(&self, package: &str) -> &str {
        self.field(package, "version")
            .unwrap_or("of an unknown version")
    }

    /// Returns where the linked rayon-core comes from. The lock file alone doesn't show whether it
    /// is Tidegate's.
    pub fn source_of_rayon_core(&self) -> &'static str {
        let source = self.field("rayon-core", "source");
        match source.and_then(|source| source.split('+').next()) {
            _ if tidegate().is_some() => "this repository",
            Some("registry" | "sparse") => "the registry",
            Some("git") => "a git repository",
            _ => "a folder",
        }
    }

    fn field(&self, package: &str, field: &str) -> Option<&str> {
        let name = format!("name = \"{package}\"");
        let entry = self.0.lines().skip_while(|line| *line != name);
        let mut fields = entry.take_while(|line| !line.is_empty());
        let start = format!("{field} = \"");
        fields.find_map(|line| line.strip_prefix(&start)?.strip_suffix('"'))
    }
}

/// Returns the version of the linked rayon-core, or `None` if it isn't Tidegate's.
pub fn tidegate() -> Option<String> {
    println!("cargo::rerun-if-env-changed={TIDEGATE}");
    env::var(TIDEGATE).ok()
}

/// Returns the compiler's name and version, such as `rustc 1.95.0`.
pub fn compiler() -> String {
    ask_compiler().unwrap_or_else(|| "rustc of an unknown version".into())
}

fn ask_compiler() -> Option<String> {
    let output = Command::new(env::var_os("RUSTC")?)
        .arg("--version")
        .output()
        .ok()?;
    let line = String::from_utf8(output.stdout).ok()?;
    let mut words = line.split_whitespace();
    Some(format!("{} {}", words.next()?, words.next()?))
}
