//! The scratch tree: a copy of the workspace's files in which one mutant at a time is applied.
//!
//! The copy is updated, not made anew: files that are the same keep their times, so that cargo rebuilds only what
//! differs. A run that was killed with a mutant in place is repaired by the next one in the same way.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::patch;
use crate::workspace::Workspace;

/// The scratch tree.
pub struct Tree {
    /// The copy as a workspace, whose target folder serves all mutants.
    pub workspace: Workspace,
}

impl Tree {
    /// Makes the scratch tree equal to the workspace.
    pub fn mirror(workspace: &Workspace) -> Result<Tree, String> {
        let target = workspace.scratch("mutants");
        let copy = Workspace {
            root: target.join("tree"),
            target,
            packages: workspace.packages.clone(),
        };
        fs::create_dir_all(&copy.root).map_err(at(&copy.root))?;
        let files = workspace.files()?;
        for file in &files {
            update(&workspace.root.join(file), &copy.root.join(file))?;
        }
        let files: HashSet<PathBuf> = files.into_iter().collect();
        for file in copy.files()?.iter().filter(|file| !files.contains(*file)) {
            let file = copy.root.join(file);
            fs::remove_file(&file).map_err(at(&file))?;
        }
        Ok(Tree { workspace: copy })
    }

    /// Calls `f` with `patch` applied to the tree, and takes it back.
    pub fn patched<R>(
        &self,
        patch: &str,
        f: impl FnOnce() -> Result<R, String>,
    ) -> Result<R, String> {
        let files = self.read(patch)?;
        let original = |path: &str| Some(files.iter().find(|(p, _)| p == path)?.1.as_str());
        let mutated = patch::apply(patch, original)?;
        self.write(&mutated)?;
        let result = f();
        self.write(&files)?;
        result
    }

    /// The files that the patch names, with their texts.
    fn read(&self, patch: &str) -> Result<Vec<patch::Mutated>, String> {
        let mut files = Vec::new();
        for path in patch::paths(patch) {
            let file = self.workspace.root.join(path);
            let text = fs::read_to_string(&file).map_err(at(&file))?;
            files.push((path.to_string(), text));
        }
        Ok(files)
    }

    /// Writes the texts; their new times make cargo rebuild.
    fn write(&self, files: &[patch::Mutated]) -> Result<(), String> {
        for (path, text) in files {
            let file = self.workspace.root.join(path);
            fs::write(&file, text).map_err(at(&file))?;
        }
        Ok(())
    }
}

/// Copies a file if the copy differs.
fn update(from: &Path, to: &Path) -> Result<(), String> {
    let wanted = fs::read(from).map_err(at(from))?;
    if fs::read(to).is_ok_and(|has| has == wanted) {
        return Ok(());
    }
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder).map_err(at(folder))?;
    }
    fs::write(to, wanted).map_err(at(to))
}

fn at(path: &Path) -> impl Fn(std::io::Error) -> String + '_ {
    move |error| format!("{}: {error}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A workspace in a folder of its own, with this one file.
    fn small(name: &str) -> Workspace {
        let root = Workspace::load().unwrap().scratch("tests").join(name);
        let _ = fs::remove_dir_all(&root);
        fs::create_dir_all(&root).unwrap();
        fs::write(root.join("a.rs"), "one\n").unwrap();
        Workspace {
            target: root.join("target"),
            root,
            packages: Vec::new(),
        }
    }

    const PATCH: &str = "diff --git a/a.rs b/a.rs\n--- a/a.rs\n+++ b/a.rs\n@@ -1 +1 @@\n-one\n+1\n";

    #[test]
    fn a_patch_is_applied_and_taken_back() {
        let workspace = small("patched");
        let tree = Tree::mirror(&workspace).unwrap();
        let copy = tree.workspace.root.join("a.rs");
        let read = || fs::read_to_string(&copy).unwrap();
        let during = tree.patched(PATCH, || Ok(read()));
        assert_eq!(during, Ok("1\n".to_string()));
        assert_eq!(read(), "one\n");
        let failed: Result<(), String> = tree.patched(PATCH, || Err("no cargo".to_string()));
        assert_eq!(failed, Err("no cargo".to_string()));
        assert_eq!(read(), "one\n");
    }

    #[test]
    fn the_tree_follows_the_workspace() {
        let workspace = small("mirrored");
        let tree = Tree::mirror(&workspace).unwrap();
        let time = || {
            let file = fs::metadata(tree.workspace.root.join("a.rs")).unwrap();
            file.modified().unwrap()
        };
        let before = time();
        fs::write(workspace.root.join("b.rs"), "two\n").unwrap();
        fs::write(tree.workspace.root.join("c.rs"), "three\n").unwrap();
        Tree::mirror(&workspace).unwrap();
        assert_eq!(time(), before);
        let files = tree.workspace.files().unwrap();
        assert_eq!(files, [Path::new("a.rs"), Path::new("b.rs")]);
        fs::write(workspace.root.join("a.rs"), "four\n").unwrap();
        Tree::mirror(&workspace).unwrap();
        let text = fs::read_to_string(tree.workspace.root.join("a.rs"));
        assert_eq!(text.unwrap(), "four\n");
    }
}
