//! The workspace: what cargo says about it, which is read once at the start, and its files.
//!
//! It does not read the files; that is `house`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Folders that hold no files of the project. In a linked worktree git's own is a file.
const LEFT_OUT: [&str; 2] = [".git", "target"];

/// The workspace that the command was called in.
pub struct Workspace {
    /// The folder of the root manifest.
    pub root: PathBuf,
    /// Cargo's target folder.
    pub target: PathBuf,
    /// The members.
    pub packages: Vec<Package>,
}

/// One package of the repository.
#[derive(Clone)]
pub struct Package {
    /// Its name in the manifest.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Its folder relative to the root, with `/` between the parts.
    pub folder: String,
    /// Whether it would be published.
    pub published: bool,
    /// The oldest Rust that it promises to build with.
    pub rust_version: String,
    /// What it depends on, of every kind.
    pub dependencies: Vec<Dependency>,
}

/// One dependency of a package.
#[derive(Clone)]
pub struct Dependency {
    /// The name of the package.
    pub name: String,
    /// Whether it is had from a registry or a repository, whatever is called the same here.
    pub foreign: bool,
    /// Whether only tests, examples and benches see it.
    pub dev: bool,
    /// Whether a feature switches it on.
    pub optional: bool,
}

impl Workspace {
    /// Asks cargo about the workspace around the current folder.
    pub fn load() -> Result<Workspace, String> {
        let found = metadata(Path::new("."), &["--no-deps"])?;
        let root = PathBuf::from(text(&found, "workspace_root")?);
        let packages = list(&found, "packages")?
            .iter()
            .map(|package| Package::read(package, &root))
            .collect::<Result<_, _>>()?;
        Ok(Workspace {
            target: PathBuf::from(text(&found, "target_directory")?),
            root,
            packages,
        })
    }

    /// The folder in which a check keeps build products that must not mix with those of others.
    pub fn scratch(&self, name: &str) -> PathBuf {
        self.target.join("xtask").join(name)
    }

    /// The paths of all files below the root, from there and sorted. Git's files and target folders are left out.
    pub fn files(&self) -> Result<Vec<PathBuf>, String> {
        let mut files = Vec::new();
        self.walk(&self.root, &mut files)?;
        files.sort();
        Ok(files)
    }

    fn walk(&self, folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), String> {
        let trouble = |error: std::io::Error| format!("{}: {error}", folder.display());
        for entry in fs::read_dir(folder).map_err(trouble)? {
            let entry = entry.map_err(trouble)?;
            let path = entry.path();
            let kind = entry.file_type().map_err(trouble)?;
            if LEFT_OUT.iter().any(|name| entry.file_name() == *name) || path == self.target {
                continue;
            }
            if kind.is_dir() {
                self.walk(&path, files)?;
            } else if let (true, Ok(path)) = (kind.is_file(), path.strip_prefix(&self.root)) {
                files.push(path.to_path_buf());
            }
        }
        Ok(())
    }

    /// The folder of the commands' output.
    pub fn logs(&self) -> PathBuf {
        self.scratch("logs")
    }

    /// The members that would be published, each as `-p NAME`.
    pub fn published(&self) -> Vec<String> {
        let named = self.packages.iter().filter(|package| package.published);
        named
            .flat_map(|package| ["-p".to_string(), package.name.clone()])
            .collect()
    }
}

impl Package {
    /// Reads what cargo said about a package below `root`.
    pub fn read(found: &Value, root: &Path) -> Result<Package, String> {
        let manifest = PathBuf::from(text(found, "manifest_path")?);
        let folder = manifest
            .parent()
            .and_then(|folder| folder.strip_prefix(root).ok());
        let folder =
            folder.ok_or_else(|| format!("{} lies outside the workspace", manifest.display()))?;
        Ok(Package {
            name: text(found, "name")?,
            version: text(found, "version")?,
            folder: slashed(folder),
            published: found["publish"] != Value::Array(Vec::new()),
            rust_version: text(found, "rust_version")
                .map_err(|why| format!("{}: {why}", manifest.display()))?,
            dependencies: list(found, "dependencies")?
                .iter()
                .map(Dependency::read)
                .collect::<Result<_, _>>()?,
        })
    }
}

impl Dependency {
    fn read(found: &Value) -> Result<Dependency, String> {
        Ok(Dependency {
            name: text(found, "name")?,
            // What lies at a path has no source.
            foreign: !found["source"].is_null(),
            dev: found["kind"] == "dev",
            optional: found["optional"] == true,
        })
    }
}

/// `cargo metadata` in `folder`, as JSON.
pub fn metadata(folder: &Path, args: &[&str]) -> Result<Value, String> {
    let output = Command::new("cargo")
        .args(["metadata", "--format-version", "1"])
        .args(args)
        .current_dir(folder)
        .output()
        .map_err(|error| format!("cargo metadata: {error}"))?;
    if !output.status.success() {
        return Err(format!(
            "cargo metadata: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        ));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| format!("cargo metadata: {error}"))
}

/// The field `name` of what cargo said, which must be a list.
pub fn list<'a>(found: &'a Value, name: &str) -> Result<&'a Vec<Value>, String> {
    found[name]
        .as_array()
        .ok_or_else(|| format!("cargo metadata has no list {name}"))
}

/// The field `name` of what cargo said, which must be a string.
pub fn text(found: &Value, name: &str) -> Result<String, String> {
    found[name]
        .as_str()
        .map(str::to_string)
        .ok_or_else(|| format!("cargo metadata has no string {name}"))
}

/// A relative path with `/` between its parts on every system.
pub fn slashed(path: &Path) -> String {
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    parts.join("/")
}
