//! The repository speaks of the project alone, and each of its words is explained once.

use crate::house::Breach;
use crate::house::plan::{FOREIGN, GLOSSARY, TERMS};
use crate::house::repo::{Repo, Text};

/// Foreign places, numbered issues, and words that the glossary does not explain.
pub fn check(repo: &Repo) -> Vec<Breach> {
    repo.texts
        .iter()
        .flat_map(foreign)
        .chain(unexplained(repo))
        .collect()
}

fn foreign(file: &Text) -> Vec<Breach> {
    let mut found = Vec::new();
    for (index, line) in file.text.lines().enumerate() {
        let mut breach = |what: &str| {
            let advice = format!(
                "{what} means nothing to a reader elsewhere: say it in the project's own terms"
            );
            found.push(Breach::new(&file.path, index + 1, "foreign word", advice));
        };
        for word in FOREIGN.iter().map(|(start, end)| format!("{start}{end}")) {
            if mentions(line, &word) {
                breach(&word);
            }
        }
        if numbered_issue(line) {
            breach("a numbered issue");
        }
    }
    found
}

/// Whether `word` stands in the line, and not as part of a longer path or name.
fn mentions(line: &str, word: &str) -> bool {
    let part_of_name = |c: char| c.is_alphanumeric() || ['_', '-'].contains(&c);
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        !before.is_some_and(|c| part_of_name(c) || ['.', '}'].contains(&c))
            && !after.is_some_and(part_of_name)
    })
}

fn numbered_issue(line: &str) -> bool {
    let lower = line.to_lowercase();
    let mut rests = lower
        .split("issue ")
        .skip(1)
        .map(|rest| rest.trim_start_matches('#'));
    rests.any(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

fn unexplained(repo: &Repo) -> Vec<Breach> {
    let page = repo.text(GLOSSARY).unwrap_or_default().to_lowercase();
    let missing = TERMS
        .iter()
        .filter(|term| !page.contains(&format!("**{term}**")));
    missing
        .map(|term| {
            Breach::new(
                GLOSSARY,
                1,
                "glossary",
                format!("explain the word **{term}** in a line of its own"),
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::house::rules::small::repo;

    fn breaches(text: &str) -> usize {
        foreign(&Text {
            path: "docs/a.md".to_string(),
            text: text.to_string(),
        })
        .len()
    }

    #[test]
    fn the_path_of_one_machine_is_a_breach() {
        let (start, end) = FOREIGN[0];
        assert_eq!(breaches(&format!("see {start}{end}/main")), 1);
        assert_eq!(
            breaches("crates/workloads and src/work/a.rs and /working"),
            0
        );
    }

    #[test]
    fn a_numbered_issue_is_a_breach() {
        assert_eq!(breaches(&format!("see {} 12", "issue")), 1);
        assert_eq!(breaches(&format!("see {} #12", "Issue")), 1);
        assert_eq!(breaches("the issue is old"), 0);
    }

    #[test]
    fn every_term_has_its_entry() {
        let page: String = TERMS
            .iter()
            .map(|term| format!("- **{term}**: a word\n"))
            .collect();
        assert_eq!(check(&repo(&[(GLOSSARY, &page)])), []);
        let breaches = check(&repo(&[(GLOSSARY, &page.replace("**thief**", "thief"))]));
        assert_eq!(breaches.len(), 1);
        assert_eq!(check(&repo(&[])).len(), TERMS.len());
    }
}
