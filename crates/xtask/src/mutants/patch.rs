//! A mutant's patch: a unified diff whose hunks are found by their text, so that line numbers may drift.
//!
//! The format is what `git diff` prints. A hunk's original text, context lines included, must occur exactly once in its
//! file. Files that are added, removed, renamed, or that end without a newline are not supported.

use std::ops::Range;

/// What stands before the path of a file that is changed.
const PATH: &str = "+++ b/";

/// A change to one place in one file.
#[derive(Debug, PartialEq, Eq)]
struct Hunk {
    path: String,
    original: String,
    mutated: String,
}

/// A file's path from the root and its new text.
pub type Mutated = (String, String);

/// Applies `patch` to the files that `read` returns by path.
///
/// The error names the file whose text the patch does not fit.
pub fn apply<'a>(
    patch: &str,
    read: impl Fn(&str) -> Option<&'a str>,
) -> Result<Vec<Mutated>, String> {
    let hunks = parse(patch)?;
    let mut files = Vec::new();
    for of_file in hunks.chunk_by(|a, b| a.path == b.path) {
        let path = &of_file[0].path;
        let text = read(path).ok_or_else(|| format!("{path} does not exist"))?;
        files.push((path.clone(), replace(text, of_file)?));
    }
    if files.is_empty() {
        return Err("the patch has no hunk".to_string());
    }
    Ok(files)
}

/// The paths of the files that the patch changes.
pub fn paths(patch: &str) -> impl Iterator<Item = &str> {
    patch.lines().filter_map(|line| line.strip_prefix(PATH))
}

fn parse(patch: &str) -> Result<Vec<Hunk>, String> {
    let mut hunks: Vec<Hunk> = Vec::new();
    let mut path = None;
    let mut in_hunk = false;
    for line in patch.lines() {
        if line.starts_with("diff ") {
            (path, in_hunk) = (None, false);
        } else if line.starts_with("@@ ") {
            let path: &String = path.as_ref().ok_or("a hunk has no file above it")?;
            in_hunk = true;
            hunks.push(Hunk {
                path: path.clone(),
                original: String::new(),
                mutated: String::new(),
            });
        } else if let Some(hunk) = hunks.last_mut().filter(|_| in_hunk) {
            hunk.add(line)?;
        } else if let Some(name) = line.strip_prefix(PATH) {
            path = Some(name.to_string());
        }
    }
    Ok(hunks)
}

impl Hunk {
    fn add(&mut self, line: &str) -> Result<(), String> {
        // Editors strip the space of an empty context line.
        let (mark, text) = line.split_at_checked(1).unwrap_or((" ", ""));
        if !["-", "+", " "].contains(&mark) {
            return Err(format!("not a line of a hunk: {line}"));
        }
        if mark != "+" {
            self.original.push_str(text);
            self.original.push('\n');
        }
        if mark != "-" {
            self.mutated.push_str(text);
            self.mutated.push('\n');
        }
        Ok(())
    }

    /// Where the original text lies in the file's text.
    fn find(&self, text: &str) -> Result<Range<usize>, String> {
        if self.original == self.mutated {
            return Err(format!("a hunk does not change {}", self.path));
        }
        let starts_line = |at: &usize| *at == 0 || text[..*at].ends_with('\n');
        let found = text.match_indices(&self.original).map(|(at, _)| at);
        let found: Vec<usize> = found.filter(starts_line).collect();
        match found.as_slice() {
            [at] => Ok(*at..at + self.original.len()),
            other => Err(format!(
                "this text occurs {} times in {}, and must occur once:\n{}",
                other.len(),
                self.path,
                self.original
            )),
        }
    }
}

/// The text with every hunk applied; all are found in the original text.
fn replace(text: &str, hunks: &[Hunk]) -> Result<String, String> {
    let mut result = String::new();
    let mut done = 0;
    for hunk in hunks {
        let place = hunk.find(text)?;
        if place.start < done {
            return Err(format!("the hunks of {} are not in order", hunk.path));
        }
        result.push_str(&text[done..place.start]);
        result.push_str(&hunk.mutated);
        done = place.end;
    }
    result.push_str(&text[done..]);
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATCH: &str = "\
diff --git a/a.rs b/a.rs
index 123..456 100644
--- a/a.rs
+++ b/a.rs
@@ -700,3 +700,2 @@ fn far_away() {
 one
-two
-three
+2
@@ -800,2 +799,3 @@
 five
+5

";

    fn applied(text: &str) -> Result<Vec<Mutated>, String> {
        apply(PATCH, |path| (path == "a.rs").then_some(text))
    }

    #[test]
    fn hunks_are_found_by_text() {
        let result = applied("zero\none\ntwo\nthree\nfour\nfive\n\n").unwrap();
        let text = "zero\none\n2\nfour\nfive\n5\n\n".to_string();
        assert_eq!(result, [("a.rs".to_string(), text)]);
    }

    #[test]
    fn text_that_is_absent_or_repeated_is_an_error() {
        let absent = applied("one\ntwo\nfive\n\n").unwrap_err();
        assert!(absent.contains("occurs 0 times in a.rs"), "{absent}");
        let twice = applied("one\ntwo\nthree\none\ntwo\nthree\nfive\n\n").unwrap_err();
        assert!(twice.contains("occurs 2 times in a.rs"), "{twice}");
        assert!(applied("not one\ntwo\nthree\nfive\n\n").is_err());
        assert!(applied("five\n\none\ntwo\nthree\n").is_err());
    }

    #[test]
    fn a_patch_without_effect_is_an_error() {
        let head = "diff --git a/a.rs b/a.rs\n--- a/a.rs\n+++ b/a.rs\n";
        let with = |rest: &str| apply(&format!("{head}{rest}"), |_| Some("one\n"));
        assert!(with("").is_err());
        assert!(with("@@ -1 +1 @@\n one\n").is_err());
        assert!(with("@@ -1 +1 @@\n-one\n+1\n\\ No newline\n").is_err());
        assert!(with("@@ -1 +1 @@\n-one\n+1\n").is_ok());
        assert!(apply(PATCH, |_| None).is_err());
    }
}
