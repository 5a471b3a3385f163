//! Checks links in Markdown. Links within the repository are always checked, and links to the web
//! are checked only if there is a network.
//!
//! rustdoc checks the links in Rust documentation.

use std::collections::BTreeSet;

use super::{Repo, violation};
use crate::command::Cmd;
use crate::step::{Outcome, Stop};
use crate::workspace::Workspace;

/// Finds links to files and headings that do not exist.
pub fn check(repo: &Repo) -> Vec<String> {
    let broken = links(repo).into_iter().filter_map(|(path, line, target)| {
        let problem = problem(repo, path, &target)?;
        Some(violation(path, line, problem))
    });
    broken.collect()
}

/// Fetches the linked pages. The check fails only if a server answers that a page does not exist.
pub fn web(workspace: &Workspace) -> Outcome {
    let repo = Repo::read(workspace)?;
    let targets = links(&repo).into_iter().map(|(_, _, target)| target);
    let targets: BTreeSet<String> = targets.filter(|target| target.contains("://")).collect();
    let curl = Cmd::new(workspace, "web links", "curl")
        .args("--silent --location --max-time 20 --write-out".split(' '))
        .args(["%{http_code} %{url}\n"])
        .args(
            targets
                .iter()
                .flat_map(|url| ["--output", "/dev/null", url]),
        );
    // curl also fails if just one page does not answer.
    let text = curl.run().map(|done| done.text).unwrap_or_default();
    let answers = text.lines().skip(1).filter_map(|line| line.split_once(' '));
    let answers = answers.filter(|(code, target)| *code != "000" && targets.contains(*target));
    let (broken, fine): (Vec<_>, Vec<_>) =
        answers.partition(|(code, _)| ["404", "410"].contains(code));
    match (fine.len(), broken.len()) {
        (0, 0) => Err(Stop::Skipped("no network".to_string())),
        (many, 0) => Ok(format!("{many} of {} answer", targets.len())),
        _ => Err(format!("{broken:#?}").into()),
    }
}

/// Returns the links of all pages, except those in code: the page, the line, and the target of
/// `[text](target "title")` or `[name]: target`.
fn links(repo: &Repo) -> Vec<(&str, usize, String)> {
    let mut links = Vec::new();
    for (path, text) in repo.texts.iter().filter(|(path, _)| path.ends_with(".md")) {
        let mut in_code = false;
        for (at, line) in text.lines().enumerate() {
            in_code ^= line.trim_start().starts_with("```");
            let line: String = line.split('`').step_by(2).collect();
            let defined = line.split_once("]: ").filter(|_| line.starts_with('['));
            let rests = line
                .split("](")
                .skip(1)
                .chain(defined.map(|(_, rest)| rest));
            let targets = rests.filter_map(|rest| rest.split([')', ' ']).next());
            let targets = targets.filter(|_| !in_code);
            links.extend(targets.map(|target| (path.as_str(), at + 1, target.to_string())));
        }
    }
    links
}

/// Returns what is wrong with a link in the file `from`, if anything.
fn problem(repo: &Repo, from: &str, target: &str) -> Option<String> {
    let (file, heading) = target.split_once('#').unwrap_or((target, ""));
    let mut parts: Vec<&str> = from.split('/').collect();
    if target.contains("://") {
        return None;
    }
    if !file.is_empty() {
        parts.pop();
    }
    for part in file.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    let path = parts.join("/");
    let is_it = |other: &str| other == path || other.starts_with(&format!("{path}/"));
    if !repo.texts.iter().any(|(other, _)| is_it(other)) {
        return Some(format!("there is no {path}"));
    }
    let text = repo.text(&path).unwrap_or_default();
    let mut titles = text.lines().filter(|line| line.starts_with('#'));
    let known = heading.is_empty() || titles.any(|title| anchor(title) == heading);
    (!known).then(|| format!("{path} has no heading #{heading}"))
}

fn anchor(title: &str) -> String {
    let title = title.trim_start_matches('#').trim().to_lowercase();
    let kept = |c: &char| c.is_alphanumeric() || [' ', '-', '_'].contains(c);
    let kept: String = title.chars().filter(kept).collect();
    kept.replace(' ', "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broken_links_are_found() {
        let page = "# Own\n[a](sleep.md#how-to-sleep-1-2) [b](../README.md) [c](../docs) [d](#own)\n\
            [a](https://a.org/x.md)\n```\n[b](none.md)\n```\nand `[c](none.md)`\n\
            [there](sleeping.md)\n[there]: ../sleep.md\n[a](#other) [b](sleep.md#how-to-wake)";
        let sleep = ("docs/sleep.md", "# How to sleep: 1, 2\n");
        let files = [("docs/page.md", page), sleep, ("README.md", "")];
        let found = check(&Repo::of(&files)).into_iter();
        let lines = found.map(|it| it.split(':').nth(1).unwrap().to_string());
        assert_eq!(lines.collect::<Vec<_>>(), ["8", "9", "10", "10"]);
    }
}
