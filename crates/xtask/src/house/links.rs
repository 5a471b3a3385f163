//! Links in Markdown: those within the repository are always checked, those to the web only if a network answers.
//!
//! rustdoc checks the links in Rust documentation.

use std::collections::BTreeMap;

use super::{Repo, violation};
use crate::command::Cmd;
use crate::step::Outcome;
use crate::workspace::Workspace;

/// Finds links to files and headings that do not exist.
pub fn check(repo: &Repo) -> Vec<String> {
    let links = pages(repo).flat_map(|(path, text)| {
        let links = links(text).map(move |(line, target)| (path, line, target));
        links.filter(|(_, _, target)| !is_web(target))
    });
    let broken = links.filter_map(|(path, line, target)| {
        let problem = problem(repo, path, &target)?;
        Some(violation(path, line, problem))
    });
    broken.collect()
}

/// Fetches the pages on the web. Only an answer that there is no such page is a failure.
pub fn web(workspace: &Workspace) -> Outcome {
    let repo = match Repo::read(workspace) {
        Ok(repo) => repo,
        Err(trouble) => return Outcome::Failed(trouble),
    };
    let mut targets = BTreeMap::new();
    for (path, text) in pages(&repo) {
        for (line, target) in links(text).filter(|(_, target)| is_web(target)) {
            targets.entry(target).or_insert((path, line));
        }
    }
    let url = |url: &String| ["--output".to_string(), "/dev/null".to_string(), url.clone()];
    let curl = Cmd::new(workspace, "web links", "curl")
        .args(["--silent", "--location", "--max-time", "20"])
        .args(["--write-out", "%{http_code} %{url}\n"])
        .args(targets.keys().flat_map(url));
    // It also fails if a single page does not answer.
    let text = curl.run().map(|done| done.text).unwrap_or_default();
    let answers = text.lines().filter_map(|line| line.split_once(' '));
    let answers: Vec<(&str, &str)> = answers
        .filter(|(code, target)| *code != "000" && targets.contains_key(*target))
        .collect();
    let missing = answers
        .iter()
        .filter(|(code, _)| ["404", "410"].contains(code));
    let broken: Vec<String> = missing
        .map(|(code, target)| {
            let (path, line) = targets[*target];
            violation(path, line, format!("{target} answers {code}"))
        })
        .collect();
    match (answers.len(), broken.len()) {
        (0, _) => Outcome::Skipped("no network".to_string()),
        (many, 0) => Outcome::Passed(format!("{many} of {} answer", targets.len())),
        _ => Outcome::Failed(broken.join("\n")),
    }
}

fn pages(repo: &Repo) -> impl Iterator<Item = (&str, &str)> {
    let texts = repo.texts.iter();
    let texts = texts.map(|(path, text)| (path.as_str(), text.as_str()));
    texts.filter(|(path, _)| path.ends_with(".md"))
}

/// The targets of links outside code, each with its line: `[text](target "title")` and `[name]: target`.
fn links(text: &str) -> impl Iterator<Item = (usize, String)> {
    let mut in_code = false;
    let prose = text.lines().enumerate().filter(move |(_, line)| {
        let fence = line.trim_start().starts_with("```");
        in_code ^= fence;
        !fence && !in_code
    });
    prose.flat_map(|(at, line)| {
        let line: String = line.split('`').step_by(2).collect();
        let defined = line
            .strip_prefix('[')
            .and_then(|rest| rest.split_once("]: "));
        let defined = defined.map(|(_, target)| target.trim());
        let inline = line.split("](").skip(1);
        let inline = inline.filter_map(|rest| rest.split([')', ' ']).next());
        let targets: Vec<String> = inline.chain(defined).map(str::to_string).collect();
        targets.into_iter().map(move |target| (at + 1, target))
    })
}

fn is_web(target: &str) -> bool {
    target.contains("://") || target.starts_with("mailto:")
}

/// What is wrong with a link that stands in the file `from`.
fn problem(repo: &Repo, from: &str, target: &str) -> Option<String> {
    let (file, heading) = target.split_once('#').unwrap_or((target, ""));
    let path = match file {
        "" => from.to_string(),
        _ => resolve(from, file),
    };
    let is_it = |other: &str| other == path || other.starts_with(&format!("{path}/"));
    if !repo.texts.iter().any(|(other, _)| is_it(other)) {
        return Some(format!("there is no {path}"));
    }
    let known = || headings(repo.text(&path).unwrap_or_default()).any(|slug| slug == heading);
    (!heading.is_empty() && !known()).then(|| format!("{path} has no heading #{heading}"))
}

/// The path that `file` means in the file `from`.
fn resolve(from: &str, file: &str) -> String {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in file.trim_end_matches('/').split('/') {
        match part {
            "." => {}
            ".." => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

/// The anchors of a page's headings.
fn headings(text: &str) -> impl Iterator<Item = String> {
    let titles = text.lines().filter(|line| line.starts_with('#'));
    titles.map(|line| {
        let title = line.trim_start_matches('#').trim().to_lowercase();
        let kept = |c: &char| c.is_alphanumeric() || [' ', '-', '_'].contains(c);
        title
            .chars()
            .filter(kept)
            .collect::<String>()
            .replace(' ', "-")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broken(text: &str) -> usize {
        let files = [
            ("docs/page.md", text),
            ("docs/sleep.md", "# How to sleep: 1, 2\n"),
            ("README.md", ""),
        ];
        check(&Repo::of(&files)).len()
    }

    #[test]
    fn files_exist() {
        assert_eq!(broken("[a](sleep.md) [b](../README.md) [c](../docs)"), 0);
        assert_eq!(broken("see [there](sleeping.md)"), 1);
        assert_eq!(broken("[there]: ../sleep.md"), 1);
    }

    #[test]
    fn headings_exist() {
        assert_eq!(broken("# Own\n[a](#own) [b](sleep.md#how-to-sleep-1-2)"), 0);
        assert_eq!(broken("[a](#other) [b](sleep.md#how-to-wake)"), 2);
    }

    #[test]
    fn addresses_and_code_are_left_alone() {
        let text = "[a](https://a.org/x.md)\n```\n[b](none.md)\n```\nand `[c](none.md)`";
        assert_eq!(broken(text), 0);
    }
}
