//! Memory orderings are explained in crates that run in users' programs.
//!
//! A comment names the partner of an acquire, a release or a fence, or says why Relaxed is enough. It stands in the line,
//! a few lines above it in the same function, or above the function. A comment above an `impl` serves all its functions
//! if it names the ordering. Whether the comment is true is for the reader and for loom.

use super::source::{self, code, comment, has_word, indent, is_comment, is_function};
use super::{RUNTIME, Repo, crate_of, violation};

const NAMES: [&str; 5] = ["Relaxed", "Acquire", "Release", "AcqRel", "SeqCst"];

/// How many lines above an ordering the end of its comment may lie.
const REACH: usize = 6;

/// The fewest words that can name a partner or a reason.
const WORDS: usize = 3;

/// Finds orderings outside tests that no comment explains.
pub fn check(repo: &Repo) -> Vec<String> {
    let sources = || repo.sources();
    let modules: Vec<String> = sources()
        .flat_map(|(path, text)| source::test_modules(path, text))
        .collect();
    let is_test = |path: &str| {
        let below = |module: &String| {
            let rest = path.strip_prefix(module.as_str());
            rest.is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
        };
        path.split('/').nth(2) != Some("src") || modules.iter().any(below)
    };
    let shipped = sources()
        .filter(|(path, _)| crate_of(path).is_some_and(|name| RUNTIME.contains(&name)))
        .filter(|(path, _)| !is_test(path));
    shipped.flat_map(|(path, text)| file(path, text)).collect()
}

fn file(path: &str, text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let tests = source::tests(&lines);
    let mut found = Vec::new();
    let mut imports_end = 0;
    for (at, line) in lines.iter().enumerate() {
        let code = code(line);
        if code.trim_start().starts_with("use ") || code.trim_start().starts_with("pub use ") {
            imports_end = source::item_end(&lines, at) + 1;
        }
        let name = NAMES.iter().find(|name| has_word(&code, name));
        let Some(name) = name.filter(|_| !tests[at] && at >= imports_end) else {
            continue;
        };
        if !explained(&lines, at, name) {
            let advice = format!("say what {name} pairs with, or why nothing is needed");
            found.push(violation(path, at + 1, advice));
        }
    }
    found
}

fn explained(lines: &[&str], at: usize, name: &str) -> bool {
    let function = (0..=at)
        .rev()
        .find(|above| {
            is_function(lines[*above])
                && (*above == at || indent(lines[*above]) < indent(lines[at]))
        })
        .unwrap_or(0);
    let floor = head(lines, function);
    let start = at.saturating_sub(REACH).max(floor);
    // A comment of several lines counts as a whole.
    let first = head(lines, start).max(floor);
    let near: String = lines[first..=at]
        .iter()
        .filter_map(|line| comment(line))
        .collect::<Vec<_>>()
        .join(" ");
    let words = near.split(|c: char| !c.is_alphanumeric());
    let above = || (0..function).rev().find(|above| begins_impl(lines[*above]));
    words.filter(|word| !word.is_empty()).count() >= WORDS
        || above().is_some_and(|item| lines[head(lines, item)..item].concat().contains(name))
}

fn begins_impl(line: &str) -> bool {
    line.trim_start().starts_with("impl") || line.trim_start().starts_with("unsafe impl")
}

/// The first line of the comments and attributes right above a line.
fn head(lines: &[&str], at: usize) -> usize {
    let above = lines[..at].iter().rev();
    let is_head = |line: &&&str| is_comment(line) || line.trim_start().starts_with("#[");
    at - above.take_while(is_head).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::house::lines;

    const DEQUE: &str = "crates/deque/src/split.rs";

    fn found(text: &str) -> Vec<usize> {
        lines(check, DEQUE, text)
    }

    #[test]
    fn an_ordering_without_a_comment_is_found() {
        let text = "fn f(a: &AtomicU8) {\n    a.load(Ordering::Acquire);\n}";
        assert_eq!(found(text), [2]);
        assert_eq!(lines(check, "crates/rayon-core/src/pool.rs", text), [2]);
        assert_eq!(found("fn f() { fence(SeqCst) }"), [1]);
    }

    #[test]
    fn a_comment_in_or_above_the_line_or_function_is_enough() {
        let above = "fn f() {\n    // Pairs with the release in g.\n    a.load(\n        Acquire,\n    );\n}";
        assert_eq!(found(above), [0; 0]);
        assert_eq!(
            found("fn f() {\n    a.load(Relaxed); // a hint only\n}"),
            [0; 0]
        );
        assert_eq!(
            found("/// Only a hint.\nfn f() { a.load(Relaxed) }"),
            [0; 0]
        );
    }

    #[test]
    fn a_comment_of_another_function_or_far_above_does_not_count() {
        let other =
            "fn g() {\n    // Pairs with h there.\n    a();\n}\nfn f() {\n    a.load(Acquire);\n}";
        assert_eq!(found(other), [6]);
        let far = format!(
            "fn f() {{\n    // Pairs with h.\n{}    a.load(Acquire);\n}}",
            "    g();\n".repeat(9)
        );
        assert_eq!(found(&far), [12]);
    }

    #[test]
    fn a_comment_above_an_impl_serves_the_ordering_that_it_names() {
        let text = "/// Hints, so Relaxed is enough.\nimpl A {\n    fn f(&self) {\n        a.load(Relaxed);\n        a.load(Acquire);\n    }\n}";
        assert_eq!(found(text), [5]);
    }

    #[test]
    fn imports_tests_and_tools_need_none() {
        assert_eq!(found("use atomic::Ordering::{Acquire, Relaxed};"), [0; 0]);
        assert_eq!(found("#[test]\nfn f() {\n    a.load(Relaxed);\n}"), [0; 0]);
        let text = "fn f() { a.load(Relaxed); }";
        assert_eq!(lines(check, "crates/cli/src/main.rs", text), [0; 0]);
        assert_eq!(lines(check, "crates/deque/tests/a.rs", text), [0; 0]);
    }
}
