//! Reads a Rust file line by line, to find which lines are code, which are comments, and which
//! belong to tests.
//!
//! This needs no parser, because it relies on rustfmt's layout: an item ends with a brace in the
//! column in which the item began.

/// Returns the code of a line, without comments and without the contents of string literals.
pub fn code(line: &str) -> String {
    let quoted = line.replace("\\\"", "").replace("'\"'", "");
    let outside: String = quoted.split('"').step_by(2).collect();
    outside.split("//").next().unwrap_or_default().to_string()
}

pub fn is_comment(line: &str) -> bool {
    line.trim_start().starts_with("//")
}

pub fn has_word(text: &str, word: &str) -> bool {
    let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.any(|other| other == word)
}

pub fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

pub fn is_function(line: &str) -> bool {
    !is_comment(line) && (line.trim_start().starts_with("fn ") || line.contains(" fn "))
}

/// Returns the last line of the item that begins in line `first`. The item may begin with
/// attributes.
pub fn item_end(lines: &[&str], first: usize) -> usize {
    let ends = |line: &&str| {
        let ends = [';', '}', ','].iter().any(|end| line.ends_with(*end));
        ends && indent(line) == indent(lines[first]) && !is_comment(line)
    };
    let end = lines[first..].iter().position(ends);
    end.map_or(lines.len() - 1, |end| first + end)
}

/// Returns, for each line, whether it belongs to a test.
pub fn tests(lines: &[&str]) -> Vec<bool> {
    let mut tests = vec![false; lines.len()];
    for first in 0..lines.len() {
        let line = lines[first].trim_start();
        let attributes = ["#[test]", "#[cfg(test)]", "#[cfg(all(test,"];
        if attributes
            .iter()
            .any(|attribute| line.starts_with(attribute))
        {
            tests[first..=item_end(lines, first)].fill(true);
        }
    }
    tests
}

/// Returns the lines that do not belong to a test.
pub fn shipped(text: &str) -> impl Iterator<Item = &str> {
    let lines: Vec<&str> = text.lines().collect();
    let tests = tests(&lines);
    let lines = lines.into_iter().zip(tests);
    lines.filter(|(_, test)| !test).map(|(line, _)| line)
}

/// Returns the path prefixes of the modules that the file at `path` declares for tests.
pub fn test_modules(path: &str, text: &str) -> Vec<String> {
    let parent = path.trim_end_matches(".rs");
    let roots = ["/lib", "/main", "/mod"];
    let folder = roots.iter().find_map(|root| parent.strip_suffix(root));
    let folder = folder.unwrap_or(parent);
    let lines: Vec<&str> = text.lines().collect();
    let in_tests = tests(&lines).into_iter().zip(&lines);
    let declared = in_tests.filter(|(test, _)| *test).filter_map(|(_, line)| {
        let name = line.trim_start().strip_prefix("mod ")?.strip_suffix(';')?;
        Some([format!("{folder}/{name}.rs"), format!("{folder}/{name}/")])
    });
    declared.flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_strings_are_not_code() {
        assert_eq!(code(r#"f("a \" // b", c); // d"#), "f(, c); ");
        assert!(has_word("a::Relaxed)", "Relaxed") && !has_word("Relaxed_", "Relaxed"));
    }

    #[test]
    fn test_modules_lie_below_their_parent() {
        let text = "mod word;\n#[cfg(all(test, loom))]\nmod models;";
        let expected = ["a/split/models.rs", "a/split/models/"];
        assert_eq!(test_modules("a/split.rs", text), expected);
        assert_eq!(test_modules("a/split/mod.rs", text), expected);
    }
}
