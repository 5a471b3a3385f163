//! Memory orderings must be explained in crates that run in users' programs.
//!
//! A comment names the partner of an acquire, a release or a fence, or gives the reason why Relaxed
//! is enough. The comment is on the same line, a few lines above in the same function, or above the
//! function. This check cannot verify that the comment is true; reviewers and loom must.

use super::source::is_comment;
use super::{Repo, of_runtime, violation};

const NAMES: [&str; 5] = ["Relaxed", "Acquire", "Release", "AcqRel", "SeqCst"];

/// The maximum distance in lines from the end of the comment to the ordering.
const REACH: usize = 6;

/// The minimum number of words that can name a partner or give a reason.
const WORDS: usize = 3;

/// Finds orderings outside tests that no comment explains.
pub fn check(repo: &Repo) -> Vec<String> {
    let (mut found, mut is_import) = (Vec::new(), false);
    for source in repo.sources.iter().filter(|it| of_runtime(&it.path)) {
        let lines: Vec<&str> = source.text.lines().collect();
        for token in &source.tokens {
            is_import = token.text == "use" || is_import && token.text != ";";
            let at = token.lines[0] - 1;
            if NAMES.contains(&&*token.text) && !is_import && !is_explained(&lines, at) {
                let advice = "say what it pairs with, or why nothing is needed";
                found.push(violation(&source.path, at + 1, advice));
            }
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
    let lines = lines[first..=at].iter();
    let comments = lines.filter_map(|it| it.split_once("//"));
    let words = comments.flat_map(|it| it.1.split(|c: char| !c.is_alphanumeric()));
    words.filter(|word| !word.is_empty()).count() >= WORDS
}

/// Returns the first line of the comments and attributes directly above a line.
fn head(lines: &[&str], at: usize) -> usize {
    let above = lines[..at].iter().rev();
    let is_head = |line: &&&str| is_comment(line) || line.trim_start().starts_with("#[");
    at - above.take_while(is_head).count()
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

fn is_function(line: &str) -> bool {
    !is_comment(line) && (line.trim_start().starts_with("fn ") || line.contains(" fn "))
}
