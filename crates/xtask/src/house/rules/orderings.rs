//! Each memory ordering in a crate that runs in users' programs has a comment: acquire, release and fences name their partner, relaxed says
//! why nothing is needed. A comment above a whole `impl` serves all of it when it names the ordering.
//!
//! Whether the comment is true is for the reader and for loom; the rule sees that there is one nearby, within the
//! function or right above it.

use crate::house::Breach;
use crate::house::lex::Token;
use crate::house::plan::{Code, ORDERING_REACH, ORDERING_WORDS, room_of};
use crate::house::repo::Repo;
use crate::house::source::{Item, Source};

const NAMES: [&str; 5] = ["Relaxed", "Acquire", "Release", "AcqRel", "SeqCst"];

/// Each ordering outside tests that nobody explains.
pub fn check(repo: &Repo) -> Vec<Breach> {
    let shipped = repo
        .sources
        .iter()
        .filter(|source| room_of(&source.path).is_some_and(|room| room.code != Code::Tool));
    shipped.flat_map(breaches).collect()
}

fn breaches(source: &Source) -> Vec<Breach> {
    let mut found = Vec::new();
    for (index, token) in source.tokens.iter().enumerate() {
        let is_free = || imported(source, index) || source.in_test(token.line);
        if !NAMES.contains(&token.text.as_str()) || is_free() {
            continue;
        }
        if !explained(source, token) {
            let advice = format!(
                "say beside {} what it pairs with, or why nothing is needed",
                token.text
            );
            found.push(Breach::new(&source.path, token.line, "ordering", advice));
        }
    }
    found.dedup();
    found
}

/// Whether a comment near the ordering, or one above its whole `impl` that names it, can be its reason.
fn explained(source: &Source, token: &Token) -> bool {
    let floor = source
        .function_at(token.line)
        .map_or(0, |function| source.head(function.first));
    let near = source.comment_near(token.line, ORDERING_REACH, floor);
    let above = |item: &Item| source.comment_near(item.first, 1, source.head(item.first));
    let mut around = source.impls.iter().filter(|item| item.holds(token.line));
    words(&near) >= ORDERING_WORDS || around.any(|item| above(item).contains(&token.text))
}

fn words(text: &str) -> usize {
    let words = text.split(|c: char| !c.is_alphanumeric());
    words.filter(|word| !word.is_empty()).count()
}

/// Whether the name at `index` stands in a `use`.
fn imported(source: &Source, index: usize) -> bool {
    let before = source.tokens[..index].iter().rev();
    let mut words = before
        .map(|token| token.text.as_str())
        .take_while(|word| ![";", "}", "(", "["].contains(word));
    words.any(|word| word == "use")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::house::rules::small::found;

    const DEQUE: &str = "crates/deque/src/split.rs";

    #[test]
    fn an_ordering_without_a_comment_is_a_breach() {
        let text = "fn f(a: &AtomicU8) {\n    a.load(Ordering::Acquire);\n}";
        assert_eq!(found(check, DEQUE, text), ["ordering:2"]);
        let above = "crates/rayon-core/src/pool.rs";
        assert_eq!(found(check, above, text), ["ordering:2"]);
        assert_eq!(
            found(check, DEQUE, "fn f() { fence(SeqCst) }"),
            ["ordering:1"]
        );
        assert_eq!(
            found(check, DEQUE, "fn f() { assert!(a.load(Relaxed)) }"),
            ["ordering:1"]
        );
    }

    #[test]
    fn a_comment_on_the_line_above_or_beside_it_is_enough() {
        let text = "fn f() {\n    // Acquire: pairs with the release in g.\n    a.load(\n        Acquire,\n    );\n}";
        assert_eq!(found(check, DEQUE, text), [""; 0]);
        assert_eq!(
            found(
                check,
                DEQUE,
                "fn f() {\n    a.load(Relaxed); // a hint only\n}"
            ),
            [""; 0]
        );
        assert_eq!(
            found(
                check,
                DEQUE,
                "/// A hint, ordered by nothing.\nfn f() { a.load(Relaxed) }"
            ),
            [""; 0]
        );
    }

    #[test]
    fn a_comment_of_another_function_or_far_above_does_not_count() {
        let other = "fn g() {\n    // Pairs with the release in h.\n    a.load(Acquire);\n}\nfn f() {\n    a.load(Acquire);\n}";
        assert_eq!(found(check, DEQUE, other), ["ordering:6"]);
        let far = format!(
            "fn f() {{\n    // Pairs with h there.\n{}    a.load(Acquire);\n}}",
            "    g();\n".repeat(9)
        );
        assert_eq!(found(check, DEQUE, &far), ["ordering:12"]);
    }

    #[test]
    fn a_comment_above_the_whole_impl_serves_the_ordering_that_it_names() {
        let body =
            "    fn f(&self) {\n        a.load(Relaxed);\n        a.load(Acquire);\n    }\n}";
        let text = format!(
            "/// Hints, so Relaxed suffices.\nimpl A {{{}{body}",
            "\n".repeat(ORDERING_REACH)
        );
        assert_eq!(found(check, DEQUE, &text), ["ordering:10"]);
    }

    #[test]
    fn imports_tests_and_tools_need_none() {
        assert_eq!(
            found(check, DEQUE, "use atomic::Ordering::{Acquire, Relaxed};"),
            [""; 0]
        );
        assert_eq!(
            found(check, DEQUE, "#[test]\nfn f() { a.load(Relaxed); }"),
            [""; 0]
        );
        assert_eq!(
            found(
                check,
                "crates/cli/src/main.rs",
                "fn f() { a.load(Relaxed); }"
            ),
            [""; 0]
        );
    }
}
