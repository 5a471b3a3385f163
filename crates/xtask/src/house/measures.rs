//! Measures of size, which the table of ARCHITECTURE.md limits: each may only fall.

use std::collections::BTreeSet;
use std::fs;

use anyhow::Result;

use super::source::Token;
use super::{CORE, PAGE, Repo, TIDEGATE, of_runtime, pages, quoted, rows, section, violation};

/// The heading under which the page names the files that a stolen task passes.
const WAY: &str = "## A task's way ";

/// What a default pool does not use.
const OPTIONAL: &str = "AltQueue Background HelpAny abort_child alt alt_queue binding blocking carry \
    check_process class classes controller custom_backoff events inbox in_order is_blocking \
    is_inherited kind memory notes place places priority simulated stolen_batch unpinned";

type Measure = fn(&Repo) -> usize;

#[rustfmt::skip]
const MEASURES: [(&str, Measure); 7] = [
    ("lines of Rust", |repo| rust(repo, |_| true)),
    ("lines of Rust outside the runtime", |repo| rust(repo, |path| !of_runtime(path))),
    ("lines of code of the core", |repo| lines(repo, CORE, |_, _| true)),
    ("lines of code of the core and the upper crate",
        |repo| lines(repo, CORE, |_, _| true) + lines(repo, TIDEGATE, |_, _| true)),
    ("names behind the core's door", |repo| pages::door(repo).len()),
    ("lines on a task's way that name something optional", |repo| {
        let way = quoted(section(repo.text(PAGE), WAY));
        let is_optional = |word: &str| OPTIONAL.split(' ').any(|optional| optional == word);
        lines(repo, CORE, |file, token| way.contains(&file) && is_optional(&token.text))
    }),
    ("test programs", |repo| {
        let targets = repo.packages.iter().flat_map(|package| &package.targets);
        targets.filter(|it| it.test && !it.is_example()).count()
    }),
];

/// Compares each measure with its number on the page. A number that is more than 1 % too large is a
/// violation, too.
pub fn check(repo: &Repo) -> Vec<String> {
    let judge = |(name, measure): &(&str, Measure)| {
        let Some((line, most)) = limit(repo.text(PAGE), name) else {
            let advice = format!("write how many {name} there may be");
            return Some(violation(PAGE, 1, advice));
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

/// Describes the size of the repository.
pub fn sizes(repo: &Repo) -> String {
    let sizes = MEASURES[..2]
        .iter()
        .map(|it| format!("{} {}", it.1(repo), it.0));
    Vec::from_iter(sizes).join(", ")
}

/// Returns the number of a measure in the page's table.
pub fn most(measure: &str) -> Result<Option<usize>> {
    let page = fs::read_to_string(PAGE)?;
    Ok(limit(&page, measure).map(|(_, most)| most))
}

/// Finds a measure in the table. Returns its line and the number there.
fn limit(page: &str, name: &str) -> Option<(usize, usize)> {
    let (line, [_, most]) = rows(page).find(|(_, [measure, _])| *measure == name)?;
    Some((line, most.replace(',', "").parse().ok()?))
}

/// Counts the lines of the Rust files whose path `is_counted`.
fn rust(repo: &Repo, is_counted: impl Fn(&str) -> bool) -> usize {
    let files = repo.texts.iter();
    let rust = files.filter(|(path, _)| path.ends_with(".rs") && is_counted(path));
    rust.map(|(_, text)| text.lines().count()).sum()
}

/// Counts the lines of code below a folder, without comments, tests and empty lines, that have a
/// token of this kind.
fn lines(repo: &Repo, folder: &str, is_counted: impl Fn(&str, &Token) -> bool) -> usize {
    let lines = repo.below(folder).map(|(file, source)| {
        let tokens = source.tokens.iter().filter(|token| is_counted(file, token));
        let lines = tokens.flat_map(|token| token.lines[0]..=token.lines[1]);
        lines.collect::<BTreeSet<_>>().len()
    });
    lines.sum()
}
