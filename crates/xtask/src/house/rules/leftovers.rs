//! What must not be left behind: unfinished code, debugging, ignored tests, lints switched off without a reason.

use crate::house::Breach;
use crate::house::lex::Token;
use crate::house::repo::Repo;
use crate::house::source::Source;

const MACROS: [&str; 3] = ["todo", "unimplemented", "dbg"];
const NOTES: [&str; 3] = ["TODO", "FIXME", "XXX"];

/// Everything left behind.
pub fn check(repo: &Repo) -> Vec<Breach> {
    repo.sources
        .iter()
        .flat_map(|source| code(source).into_iter().chain(comments(source)))
        .collect()
}

fn code(source: &Source) -> Vec<Breach> {
    let mut found = Vec::new();
    for (index, token) in source.tokens.iter().enumerate() {
        let mut breach =
            |advice: String| found.push(Breach::new(&source.path, token.line, "leftover", advice));
        if MACROS.contains(&token.text.as_str()) && source.reads(index + 1, &["!"]) {
            breach(format!("finish it: {}! must not stay", token.text));
        }
        if token.text == "#" {
            if let Some(advice) = attribute(source, index) {
                breach(advice);
            }
        }
    }
    found
}

/// What is wrong with the attribute at `index`, if it is one.
fn attribute(source: &Source, index: usize) -> Option<String> {
    let open = index
        + if source.reads(index + 1, &["!"]) {
            2
        } else {
            1
        };
    let close = source
        .tokens
        .get(open)
        .filter(|token| token.text == "[")?
        .close;
    let inside = &source.tokens[open + 1..close];
    let names = |name: &str| inside.iter().any(|token| token.text == name);
    match inside.first()?.text.as_str() {
        "ignore" => Some("run the test or delete it; one that an interpreter cannot run: cfg_attr(miri, ignore = why)".into()),
        "allow" | "expect" if !names("reason") => Some("say why the lint is switched off: reason = \"..\"".into()),
        "cfg_attr" if (names("allow") || names("expect")) && !names("reason") => {
            Some("say why the lint is switched off: reason = \"..\"".into())
        }
        "cfg_attr" if bare_ignore(inside) => Some("say why the test is left out: ignore = \"..\"".into()),
        _ => None,
    }
}

/// Whether `ignore` stands in the attribute without a reason.
fn bare_ignore(inside: &[Token]) -> bool {
    inside
        .windows(2)
        .any(|pair| pair[0].text == "ignore" && pair[1].text != "=")
}

fn comments(source: &Source) -> Vec<Breach> {
    let noted = source.comments.iter().filter_map(|comment| {
        let mut words = comment.text.split(|c: char| !c.is_alphanumeric());
        let word = words.find(|word| NOTES.contains(word))?;
        Some(Breach::new(
            &source.path,
            comment.line,
            "leftover",
            format!("do what {word} says, or write it into docs/"),
        ))
    });
    noted.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::house::rules::small::found;

    #[test]
    fn unfinished_code_and_debugging_are_breaches() {
        assert_eq!(
            found(check, "a.rs", "fn f() {\n    todo!()\n}"),
            ["leftover:2"]
        );
        assert_eq!(
            found(check, "a.rs", "fn f() { vec![dbg!(1)]; }"),
            ["leftover:1"]
        );
        assert_eq!(
            found(check, "a.rs", "fn f() {\n    // FIXME: wrong\n}"),
            ["leftover:2"]
        );
        assert_eq!(found(check, "a.rs", "/// TODO\nfn f() {}"), ["leftover:1"]);
    }

    #[test]
    fn an_ignored_test_is_a_breach_unless_only_an_interpreter_leaves_it_out() {
        assert_eq!(
            found(check, "a.rs", "#[test]\n#[ignore]\nfn f() {}"),
            ["leftover:2"]
        );
        assert_eq!(
            found(check, "a.rs", "#[test]\n#[ignore = \"slow\"]\nfn f() {}"),
            ["leftover:2"]
        );
        assert_eq!(
            found(check, "a.rs", "#[cfg_attr(miri, ignore)]\nfn f() {}"),
            ["leftover:1"]
        );
        assert_eq!(
            found(
                check,
                "a.rs",
                "#[cfg_attr(miri, ignore = \"needs a file\")]\nfn f() {}"
            ),
            [""; 0]
        );
    }

    #[test]
    fn a_lint_is_switched_off_only_with_a_reason() {
        assert_eq!(
            found(check, "a.rs", "#[allow(dead_code)]\nfn f() {}"),
            ["leftover:1"]
        );
        assert_eq!(
            found(check, "a.rs", "#![expect(dead_code)]"),
            ["leftover:1"]
        );
        assert_eq!(
            found(
                check,
                "a.rs",
                "#[cfg_attr(loom, allow(dead_code))]\nfn f() {}"
            ),
            ["leftover:1"]
        );
        assert_eq!(
            found(
                check,
                "a.rs",
                "#[allow(dead_code, reason = \"loom\")]\nfn f() {}"
            ),
            [""; 0]
        );
    }

    #[test]
    fn words_inside_strings_and_longer_words_are_not_meant() {
        assert_eq!(
            found(check, "a.rs", "fn f() { g(\"todo! FIXME\"); } // TODOS"),
            [""; 0]
        );
    }
}
