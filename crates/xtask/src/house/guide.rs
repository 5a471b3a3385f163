//! The guide shows its example programs in full, so that readers can copy them. The documentation of
//! an example names its page, which must show the rest of the example unchanged.
//!
//! The documentation tests of `tidegate` and `tidegate-fan` run or compile these programs.

use super::{Repo, violation};

/// Finds pages that do not show their example.
pub fn check(repo: &Repo) -> Vec<String> {
    let mut found = Vec::new();
    let examples = repo
        .texts
        .iter()
        .filter(|it| it.0.split('/').any(|part| part == "examples"));
    for (path, text) in examples {
        let (head, body) = text.split_once("\n\n").unwrap_or_default();
        let page = head.split('`').find(|it| it.starts_with("docs/guide/"));
        // A program that needs arguments is not run, and one that needs rayon is not compiled.
        let shown =
            ["rust", "rust,no_run", "rust,ignore"].map(|kind| format!("```{kind}\n{body}```\n"));
        let is_shown = |page| shown.iter().any(|it| repo.text(page).contains(it));
        if let Some(page) = page.filter(|page| !is_shown(page)) {
            let advice = format!("show the program in {path}, without its first paragraph");
            found.push(violation(page, 1, advice));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_shows_its_whole_example() {
        let found = |body: &str| {
            let page = ("docs/guide/a.md", &*format!("# A\n\n```rust\n{body}```\n"));
            let example = "//! A: `docs/guide/a.md`.\n\nfn main() {}\n";
            check(&Repo::with(&[page, ("examples/a/src/main.rs", example)])).len()
        };
        assert_eq!(found("fn main() {}\n"), 0);
        assert_eq!(found("fn main() { serve() }\n"), 1);
    }
}
