//! Measures of size, which the table of ARCHITECTURE.md limits: each may only fall.

use super::source::{self, has_word, is_comment};
use super::{CORE, PAGE, Repo, TIDEGATE, door, modules, quoted, violation};

/// The heading under which the page names the files that a stolen task passes.
const WAY: &str = "## A task's way ";

/// What a default pool does not use.
const OPTIONAL: &str = "AltQueue Background HelpAny abort_child alt alt_queue binding blocking carry \
    check_process class classes controller custom_backoff events inbox in_order is_blocking \
    is_inherited kind memory notes place places priority simulated stolen_batch unpinned";

type Measure = fn(&Repo) -> usize;

const MEASURES: [(&str, Measure); 6] = [
    ("lines of Rust", |repo| {
        repo.sources().map(|(_, text)| text.lines().count()).sum()
    }),
    ("lines of code of the core", |repo| {
        lines_of_code(repo, CORE)
    }),
    ("lines of code of the core and the upper crate", |repo| {
        lines_of_code(repo, CORE) + lines_of_code(repo, TIDEGATE)
    }),
    ("names behind the core's door", |repo| {
        door::names(repo).len()
    }),
    (
        "lines on a task's way that name something optional",
        |repo| {
            let way = way(repo.text(PAGE).unwrap_or_default());
            let files = modules::shipped(repo, CORE).into_iter();
            let passed = files.filter(|(file, _)| way.contains(file));
            let lines = passed.flat_map(|(_, text)| code(text));
            let names = |line: &&str| OPTIONAL.split(' ').any(|word| has_word(line, word));
            lines.filter(names).count()
        },
    ),
    ("test programs", |repo| {
        let packages = repo.packages.iter().map(|(_, package)| package);
        let targets = packages.flat_map(|package| &package.targets);
        targets
            .filter(|target| target.test && !target.is_example())
            .count()
    }),
];

/// Compares each measure with its number on the page. A number that is more than 1 % too large is a
/// violation, too.
pub fn check(repo: &Repo) -> Vec<String> {
    let page = repo.text(PAGE).unwrap_or_default();
    let judge = |(name, measure): &(&str, Measure)| {
        let Some((line, most)) = limit(page, name) else {
            return Some(violation(
                PAGE,
                1,
                format!("write how many {name} there may be"),
            ));
        };
        let now = measure(repo);
        let advice = match now {
            _ if now > most => format!("there are {now} {name}, and at most {most} may be"),
            _ if now * 100 < most * 99 => format!("there are only {now} {name} now: write it"),
            _ => return None,
        };
        Some(violation(PAGE, line, advice))
    };
    MEASURES.iter().filter_map(judge).collect()
}

/// Finds a measure in the table. Returns its line and the number there.
pub fn limit(page: &str, name: &str) -> Option<(usize, usize)> {
    let row = |line: &str| -> Option<usize> {
        let row = line.strip_prefix("| ")?.strip_prefix(name)?;
        let number = row.strip_prefix(" | ")?.strip_suffix(" |")?;
        number.replace(',', "").parse().ok()
    };
    let mut lines = page.lines().enumerate();
    lines.find_map(|(at, line)| Some((at + 1, row(line)?)))
}

/// Returns the files that the page names under the heading of a task's way.
fn way(page: &str) -> Vec<&str> {
    let section = page.split(WAY).nth(1).unwrap_or_default();
    quoted(section.split("\n## ").next().unwrap_or_default())
}

fn lines_of_code(repo: &Repo, folder: &str) -> usize {
    let files = modules::shipped(repo, folder).into_iter();
    files.map(|(_, text)| code(text).len()).sum()
}

/// Returns the lines of code, without comments, tests and empty lines.
fn code(text: &str) -> Vec<&str> {
    let lines = source::shipped(text);
    lines
        .filter(|line| !line.trim().is_empty() && !is_comment(line))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_may_only_fall() {
        let violations = |rust: usize, ways: usize| {
            let page = format!(
                "## A task's way on\n`pool.rs`\n## Measures\n| lines of Rust | {rust} |\n\
                | lines of code of the core | 1 |\n| names behind the core's door | 0 |\n| lines of code of the core and the upper crate | 2 |\n| test programs | 0 |\n\
                | lines on a task's way that name something optional | {ways} |"
            );
            let files = [
                (PAGE, page.as_str()),
                ("crates/core/src/pool.rs", "// memory\n\nlet memory = 1;\n"),
                ("crates/tidegate/src/memory.rs", "mod memory;"),
            ];
            check(&Repo::of(&files))
        };
        assert_eq!(violations(4, 1), [""; 0]);
        assert_eq!(violations(3, 1).len(), 1);
        assert_eq!(violations(5, 2).len(), 2);
        assert_eq!(check(&Repo::of(&[])).len(), 6, "the page has no numbers");
    }
}
