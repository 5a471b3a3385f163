//! The copy of the workspace to which one mutant at a time is applied.
//!
//! git makes the copy: it writes a tree object of all files that are tracked or would be added,
//! committed or not, and checks that tree out below the target folder. git writes only files that
//! differ, so cargo rebuilds little. If a run was killed, git restores the files that it left
//! changed.

use std::fs;
use std::path::Path;

use crate::command::Cmd;
use crate::step::Outcome;
use crate::workspace::Workspace;

pub struct Tree {
    /// The copy as a workspace. All mutants share the copy's target folder.
    pub workspace: Workspace,
    /// The repository's git folder.
    git: String,
    object: String,
}

impl Tree {
    pub fn mirror(workspace: &Workspace) -> Result<Tree, String> {
        let target = workspace.scratch("mutants");
        let copy = Workspace {
            root: target.join("tree"),
            target,
            packages: Vec::new(),
        };
        fs::create_dir_all(&copy.root).map_err(|error| format!("the copy: {error}"))?;
        let git = workspace.git(&["rev-parse", "--absolute-git-dir"])?;
        let mut tree = Tree {
            workspace: copy,
            git: git.trim().to_string(),
            object: String::new(),
        };
        tree.git(&workspace.root, "index of the workspace", &["add", "--all"])?;
        let written = tree.git(&workspace.root, "index of the workspace", &["write-tree"])?;
        tree.object = written.lines().last().unwrap_or_default().to_string();
        tree.restore()?;
        Ok(tree)
    }

    /// Applies the patch at `file` to the copy, calls `f`, and reverts the patch.
    pub fn patched(&self, file: &str, f: impl FnOnce() -> Outcome) -> Outcome {
        self.git(&self.workspace.root, "index", &["apply", file])?;
        let result = f();
        self.restore()?;
        result
    }

    fn restore(&self) -> Result<(), String> {
        let args = ["read-tree", "--reset", "-u", &self.object];
        self.git(&self.workspace.root, "index", &args).map(drop)
    }

    /// Runs git on the files in `root`, with a separate index.
    fn git(&self, root: &Path, index: &str, args: &[&str]) -> Result<String, String> {
        Cmd::new(&self.workspace, "git", "git")
            .args(args)
            .env("GIT_DIR", &self.git)
            .env("GIT_WORK_TREE", root)
            .env("GIT_INDEX_FILE", self.workspace.target.join(index))
            .succeed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::step::Stop;

    const PATCH: &str = "diff --git a/a.rs b/a.rs\n--- a/a.rs\n+++ b/a.rs\n@@ -1 +1 @@\n-one\n+1\n";

    /// Creates a repository in its own folder, with a patch and the file that the patch changes.
    fn small(name: &str) -> Workspace {
        Workspace::small(
            name,
            &[
                (
                    "a.rs", "one
",
                ),
                ("a.patch", PATCH),
            ],
        )
    }

    #[test]
    fn patch_is_applied_and_reverted() {
        let tree = Tree::mirror(&small("patched")).unwrap();
        let read = || Ok(tree.workspace.read("a.rs")?);
        let during = tree.patched("a.patch", read);
        assert_eq!(during.as_deref(), Ok("1\n"));
        assert_eq!(read().as_deref(), Ok("one\n"));
        let failed = tree.patched("a.patch", || Err("no cargo".into()));
        assert_eq!(failed, Err("no cargo".into()));
        assert_eq!(read().as_deref(), Ok("one\n"));
    }

    #[test]
    fn misfitting_patch_is_an_error() {
        let workspace = small("misfit");
        fs::write(workspace.root.join("a.rs"), "two\n").unwrap();
        let tree = Tree::mirror(&workspace).unwrap();
        let error = tree.patched("a.patch", || Ok(String::new())).unwrap_err();
        assert!(matches!(error, Stop::Failed(text) if text.contains("a.rs")));
    }

    #[test]
    fn the_copy_follows_the_workspace() {
        let workspace = small("mirrored");
        let copy = Tree::mirror(&workspace).unwrap().workspace.root;
        let time = || fs::metadata(copy.join("a.rs")).unwrap().modified().unwrap();
        let before = time();
        fs::write(copy.join("a.patch"), "left by a killed run\n").unwrap();
        fs::rename(
            workspace.root.join("a.patch"),
            workspace.root.join("b.patch"),
        )
        .unwrap();
        Tree::mirror(&workspace).unwrap();
        assert_eq!(time(), before, "what is the same is not built again");
        assert!(copy.join("b.patch").exists() && !copy.join("a.patch").exists());
    }
}
