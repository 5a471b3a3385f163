//! Pages that must agree with the sources.

use std::collections::BTreeMap;

use super::{CORE, Repo, crate_of, modules, quoted, rows, violation};

const DOOR: &str = "docs/door.md";
const SECURITY: &str = "SECURITY.md";

/// Finds names that the core exports to the crates above it and that the page does not list.
pub fn check_door(repo: &Repo) -> Vec<String> {
    let listed = quoted(repo.text(DOOR));
    let missing = door(repo).into_iter().filter(|name| !listed.contains(name));
    let advice = |name| violation(DOOR, 1, format!("describe {name}, or close the door"));
    missing.map(advice).collect()
}

/// Returns the names that the core's door exports.
pub fn door(repo: &Repo) -> Vec<&str> {
    let door = repo.below(CORE).find(|it| it.0 == "door.rs");
    let mut names = door.map_or(Vec::new(), |it| modules::exports(&it.1.tokens));
    let lines = repo.text("crates/core/src/door.rs").lines();
    names.extend(lines.filter_map(|it| it.strip_prefix("pub mod ")?.strip_suffix(';')));
    names
}

/// Finds pages of the guide that do not show their example. The guide shows its example programs in
/// full, so that readers can copy them. The documentation of an example names its page, which must
/// show the rest of the example unchanged. The documentation tests of `tidegate` and `tidegate-fan`
/// run or compile these programs.
pub fn check_guide(repo: &Repo) -> Vec<String> {
    let texts = repo.texts.iter();
    let examples = texts.filter(|it| it.0.split('/').any(|part| part == "examples"));
    let check = |(path, text): (&String, &String)| {
        let (head, body) = text.split_once("\n\n")?;
        let page = head.split('`').find(|it| it.starts_with("docs/guide/"))?;
        // A program that needs arguments is not run, and one that needs rayon is not compiled.
        let mut kinds = ["rust", "rust,no_run", "rust,ignore"].iter();
        let is_shown = kinds.any(|kind| {
            let shown = format!("```{kind}\n{body}```\n");
            repo.text(page).contains(&shown)
        });
        let advice = format!("show the program in {path}, without its first paragraph");
        (!is_shown).then(|| violation(page, 1, advice))
    };
    examples.filter_map(check).collect()
}

/// Compares the table of SECURITY.md with how often each crate has `unsafe` outside tests.
pub fn check_security(repo: &Repo) -> Vec<String> {
    let mut numbers = BTreeMap::<_, usize>::new();
    for source in &repo.sources {
        let tokens = source.tokens.iter().filter(|it| it.text == "unsafe");
        *numbers.entry(crate_of(&source.path)).or_default() += tokens.count();
    }
    numbers.retain(|_, number| *number > 0);
    let written = rows(repo.text(SECURITY)).filter_map(|(_, [name, number, _, _])| {
        let number = number.parse().ok()?;
        Some((name.split('`').nth(1), number))
    });
    let wrong = numbers != written.collect();
    let advice = format!("the crates have `unsafe` this often: {numbers:?}");
    Vec::from_iter(wrong.then(|| violation(SECURITY, 1, advice)))
}
