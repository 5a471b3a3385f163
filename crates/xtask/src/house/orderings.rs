//! Memory orderings must be explained in crates that run in users' programs.
//!
//! A comment names the partner of an acquire, a release or a fence, or gives the reason why Relaxed
//! is enough. The comment is on the same line, a few lines above in the same function, or above the
//! function. This check cannot verify that the comment is true; reviewers and loom must.

use super::source::{code, has_word, indent, is_comment, is_function, item_end, tests};
use super::{Repo, crate_of, violation};

const CRATES: &str = "policy sync deque share machine tidegate rayon-core";

const NAMES: [&str; 5] = ["Relaxed", "Acquire", "Release", "AcqRel", "SeqCst"];

/// The maximum distance in lines from the end of the comment to the ordering.
const REACH: usize = 6;

/// The minimum number of words that can name a partner or give a reason.
const WORDS: usize = 3;

/// Finds orderings outside tests that no comment explains.
pub fn check(repo: &Repo) -> Vec<String> {
    let modules = repo.test_modules();
    let is_test = |path: &str| modules.iter().any(|module| path.starts_with(module));
    let shipped = repo.sources().filter(|(path, _)| {
        let in_runtime = crate_of(path).is_some_and(|name| CRATES.split(' ').any(|c| c == name));
        in_runtime && path.split('/').nth(2) == Some("src") && !is_test(path)
    });
    shipped.flat_map(|(path, text)| file(path, text)).collect()
}

fn file(path: &str, text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let tests = tests(&lines);
    let mut found = Vec::new();
    let mut imported = 0;
    for (at, line) in lines.iter().enumerate() {
        let code = code(line);
        let item = code.trim_start().trim_start_matches("pub ");
        if item.starts_with("use ") {
            imported = item_end(&lines, at) + 1;
        }
        let name = NAMES.iter().find(|name| has_word(&code, name));
        let name = name.filter(|_| at >= imported && !tests[at]);
        if let Some(name) = name.filter(|_| !is_explained(&lines, at)) {
            let advice = format!("say what {name} pairs with, or why nothing is needed");
            found.push(violation(path, at + 1, advice));
        }
    }
    found
}

fn is_explained(lines: &[&str], at: usize) -> bool {
    let around = |above: usize| above == at || indent(lines[above]) < indent(lines[at]);
    let mut above = (0..=at).rev();
    let function = above.find(|above| is_function(lines[*above]) && around(*above));
    let floor = head(lines, function.unwrap_or(0));
    // If the range starts inside a multi-line comment, include the whole comment.
    let first = head(lines, at.saturating_sub(REACH).max(floor)).max(floor);
    let comments = lines[first..=at]
        .iter()
        .filter_map(|line| line.split_once("//"));
    let comments: String = comments.map(|(_, comment)| comment).collect();
    let words = comments.split(|c: char| !c.is_alphanumeric());
    words.filter(|word| !word.is_empty()).count() >= WORDS
}

/// Returns the first line of the comments and attributes directly above a line.
fn head(lines: &[&str], at: usize) -> usize {
    let above = lines[..at].iter().rev();
    let is_head = |line: &&&str| is_comment(line) || line.trim_start().starts_with("#[");
    at - above.take_while(is_head).count()
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::house::lines;

    fn found(text: &str) -> Vec<usize> {
        lines(check, "crates/deque/src/split.rs", text)
    }

    #[test]
    fn uncommented_ordering_is_found() {
        assert_eq!(found("fn f() {\n    a.load(Ordering::Acquire);\n}"), [2]);
        assert_eq!(found("fn f() { fence(SeqCst) }"), [1]);
    }

    /// The comment may be on the same line, above the line, or above the function.
    #[test]
    fn nearby_comment_is_enough() {
        let text = "fn f() {\n    // Pairs with the release in g.\n    a.load(\n        Acquire,\n    );\n}";
        assert_eq!(found(text), [0; 0]);
        assert_eq!(found("fn f() {\n    a(Relaxed); // a hint only\n}"), [0; 0]);
        assert_eq!(
            found("/// Only a hint.\nfn f() { a.load(Relaxed) }"),
            [0; 0]
        );
    }

    #[test]
    fn distant_comment_does_not_count() {
        let text =
            "fn g() {\n    // Pairs with h there.\n    a();\n}\nfn f() {\n    a(Acquire);\n}";
        assert_eq!(found(text), [6]);
        let far = "    g();\n".repeat(9);
        let text = format!("fn f() {{\n    // Pairs with h.\n{far}    a(Acquire);\n}}");
        assert_eq!(found(&text), [12]);
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
