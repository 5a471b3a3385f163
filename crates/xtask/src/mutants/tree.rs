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
