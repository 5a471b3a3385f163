//! The workspace, as described by cargo and git.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use cargo_metadata::{Metadata, MetadataCommand, Package};

/// The workspace that contains the current folder.
pub struct Workspace {
    pub root: PathBuf,
    pub target: PathBuf,
    pub packages: Vec<Package>,
}

impl Workspace {
    pub fn load() -> Result<Workspace, String> {
        let found = describe(Path::new("."), &["--no-deps"])?;
        Ok(Workspace {
            root: found.workspace_root.into(),
            target: found.target_directory.into(),
            packages: found.packages,
        })
    }

    /// Returns the folder for a check's build products, which must not mix with those of other
    /// checks.
    pub fn scratch(&self, name: &str) -> PathBuf {
        self.target.join("xtask").join(name)
    }

    /// Returns the files that git tracks or would add, as paths from the root with `/`.
    pub fn files(&self) -> Result<Vec<String>, String> {
        let listed = self.git(&["ls-files", "-co", "--exclude-standard"])?;
        let exists = |file: &&str| self.root.join(file).is_file();
        let files = listed.lines().filter(exists).map(str::to_string);
        Ok(files.collect())
    }

    pub fn git(&self, args: &[&str]) -> Result<String, String> {
        let mut git = Command::new("git");
        git.args(args).current_dir(&self.root);
        let output = git.output().map_err(|error| format!("git: {error}"))?;
        if !output.status.success() {
            let error = String::from_utf8_lossy(&output.stderr);
            return Err(format!("git {}: {}", args.join(" "), error.trim()));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    pub fn read(&self, path: &str) -> Result<String, String> {
        fs::read_to_string(self.root.join(path)).map_err(|error| format!("{path}: {error}"))
    }

    pub fn published(&self) -> impl Iterator<Item = &Package> {
        self.packages.iter().filter(|package| is_published(package))
    }

    /// Returns a package's folder, as a path from the root with `/`.
    pub fn folder(&self, package: &Package) -> String {
        let folder = Path::new(&package.manifest_path).parent();
        let inside = folder.and_then(|folder| folder.strip_prefix(&self.root).ok());
        slashed(inside.unwrap_or(Path::new("")))
    }
}

pub fn is_published(package: &Package) -> bool {
    package.publish != Some(Vec::new())
}

pub fn describe(folder: &Path, args: &[&str]) -> Result<Metadata, String> {
    let args: Vec<String> = args.iter().map(|arg| arg.to_string()).collect();
    let mut cargo = MetadataCommand::new();
    let found = cargo.current_dir(folder).other_options(args).exec();
    found.map_err(|error| error.to_string())
}

pub fn slashed(path: &Path) -> String {
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    parts.join("/")
}
