//! Compares the public API with the API at the last tag, with cargo-semver-checks.

use super::cargo::need;
use crate::command::Cmd;
use crate::step::{Outcome, Stop};
use crate::workspace::Workspace;

/// Fails if a crate's API has changed more than its version number allows.
pub fn check(workspace: &Workspace) -> Outcome {
    let newest = "--sort=-version:refname";
    let tags = workspace.git(&["tag", "--list", newest, "--merged=HEAD", "v*"])?;
    let tag = tags.lines().next();
    let tag = tag.ok_or_else(|| Stop::Skipped("no tag".to_string()))?;
    let version = Cmd::cargo(workspace, "semver", "semver-checks --version");
    need(version, "cargo-semver-checks is not installed")?;
    let line = format!("semver-checks --workspace --baseline-rev {tag}");
    Cmd::cargo(workspace, "semver", &line).outcome(&format!("compared with {tag}"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const MANIFEST: &str = "[package]\nname = \"small\"\nversion = \"1.0.0\"\nedition = \"2024\"\n\
        license = \"MIT\"\n[lib]\npath = \"lib.rs\"\n[workspace]\n";

    const TWO: &str = "pub fn one() {}\npub fn two() {}\n";

    /// Creates a repository of one crate, in a folder named `name`, with one commit.
    fn small(name: &str) -> Workspace {
        let workspace = Workspace::small(name, &[("Cargo.toml", MANIFEST), ("lib.rs", TWO)]);
        commit(&workspace);
        workspace
    }

    fn commit(workspace: &Workspace) {
        workspace.git(&["add", "."]).unwrap();
        let author = ["-c", "user.name=test", "-c", "user.email=test@localhost"];
        let commit = ["commit", "--quiet", "--message", "state"];
        workspace.git(&[author, commit].concat()).unwrap();
    }

    #[test]
    fn without_a_tag_it_is_skipped() {
        let skipped = check(&small("semver-untagged"));
        assert_eq!(skipped, Err(Stop::Skipped("no tag".to_string())));
    }

    #[test]
    fn a_removed_function_fails() {
        let workspace = small("semver");
        workspace.git(&["tag", "v1.0.0"]).unwrap();
        match check(&workspace) {
            Err(Stop::Skipped(why)) => return eprintln!("skipped: {why}"),
            unchanged => assert!(unchanged.is_ok(), "{unchanged:?}"),
        }
        fs::write(workspace.root.join("lib.rs"), "pub fn one() {}\n").unwrap();
        commit(&workspace);
        let Err(Stop::Failed(output)) = check(&workspace) else {
            panic!("a public function was removed");
        };
        assert!(output.contains("function_missing"), "{output}");
    }
}
