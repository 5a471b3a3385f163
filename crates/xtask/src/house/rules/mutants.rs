//! Each mutant's patch fits the code, and each patch is the mutant of a row in the table.

use crate::house::Breach;
use crate::house::repo::Repo;
use crate::mutants::{MUTANTS, PATCHES, patch};

const TABLE: &str = "crates/xtask/src/mutants/table.rs";
const RULE: &str = "mutant";

/// Patches that are missing, that do not fit, or that no row names.
pub fn check(repo: &Repo) -> Vec<Breach> {
    let rows: Vec<String> = MUTANTS.iter().map(|mutant| mutant.patch()).collect();
    let mut found = compare(repo, &rows);
    found.extend(rows.iter().filter_map(|path| misfit(repo, path)));
    found
}

/// Rows without a patch, and patches without a row.
fn compare(repo: &Repo, rows: &[String]) -> Vec<Breach> {
    let missing = rows.iter().filter(|row| repo.text(row).is_none());
    let missing = missing.map(|row| {
        let advice = format!("{row} does not exist: write it, or remove the row");
        Breach::new(TABLE, 1, RULE, advice)
    });
    let patches = repo.texts.iter().map(|file| &file.path);
    let unnamed = patches.filter(|path| path.starts_with(PATCHES) && !rows.contains(path));
    let unnamed = unnamed.map(|path| {
        let advice = format!("no test is named that catches it: add a row to {TABLE}");
        Breach::new(path, 1, RULE, advice)
    });
    missing.chain(unnamed).collect()
}

/// What is wrong with the patch at `path`, if it exists and does not fit.
fn misfit(repo: &Repo, path: &str) -> Option<Breach> {
    let why = patch::apply(repo.text(path)?, |file| repo.text(file)).err()?;
    let advice = format!("the patch does not fit the code, adapt it: {why}");
    Some(Breach::new(path, 1, RULE, advice))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::house::rules::small::repo;

    const PATH: &str = "crates/xtask/mutants/late.patch";
    const PATCH: &str =
        "diff --git a/a.rs b/a.rs\n+++ b/a.rs\n@@ -1 +1 @@\n-fn a() {}\n+fn b() {}\n";

    #[test]
    fn rows_and_patches_belong_together() {
        let files = repo(&[(PATH, PATCH)]);
        let early = "crates/xtask/mutants/early.patch".to_string();
        assert_eq!(compare(&files, &[PATH.to_string()]), []);
        assert_eq!(compare(&files, &[])[0].path, PATH);
        assert_eq!(compare(&files, &[PATH.to_string(), early])[0].path, TABLE);
    }

    #[test]
    fn a_patch_must_fit_the_code() {
        let fits = repo(&[(PATH, PATCH), ("a.rs", "fn a() {}\n")]);
        assert_eq!(misfit(&fits, PATH), None);
        let changed = repo(&[(PATH, PATCH), ("a.rs", "fn c() {}\n")]);
        assert_eq!(misfit(&changed, PATH).unwrap().path, PATH);
        let twice = repo(&[(PATH, PATCH), ("a.rs", "fn a() {}\nfn a() {}\n")]);
        assert!(misfit(&twice, PATH).unwrap().advice.contains("2 times"));
    }
}
