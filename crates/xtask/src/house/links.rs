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
    let local = links(repo).filter(|(_, _, target)| !target.contains("://"));
    let broken = local.filter_map(|(path, line, target)| {
        let problem = problem(repo, path, &target)?;
        Some(violation(path, line, problem))
    });
    broken.collect()
}

/// Fetches the linked pages. The check fails only if a server answers that a page does not exist.
pub fn web(workspace: &Workspace) -> Outcome {
    let repo = Repo::read(workspace)?;
    let targets = links(&repo).map(|(_, _, target)| target);
    let targets: BTreeSet<String> = targets.filter(|target| target.contains("://")).collect();
    let url = |url: &String| ["--output".to_string(), "/dev/null".to_string(), url.clone()];
    let curl = Cmd::new(workspace, "web links", "curl")
        .args(["--silent", "--location", "--max-time", "20"])
        .args(["--write-out", "%{http_code} %{url}\n"])
        .args(targets.iter().flat_map(url));
    // curl also fails if just one page does not answer.
    let text = curl.run().map(|done| done.text).unwrap_or_default();
    let answers = text.lines().skip(1).filter(|line| {
        let target = line.split_once(' ').map_or("", |(_, target)| target);
        targets.contains(target) && !line.starts_with("000")
    });
    let (broken, fine): (Vec<&str>, Vec<&str>) =
        answers.partition(|line| ["404", "410"].iter().any(|code| line.starts_with(code)));
    match (fine.len(), broken.len()) {
        (0, 0) => Err(Stop::Skipped("no network".to_string())),
        (many, 0) => Ok(format!("{many} of {} answer", targets.len())),
        _ => Err(broken.join("\n").into()),
    }
}

/// Returns the links of all pages, except those in code: the page, the line, and the target of
/// `[text](target "title")` or `[name]: target`.
fn links(repo: &Repo) -> impl Iterator<Item = (&str, usize, String)> {
    let pages = repo.texts.iter().filter(|(path, _)| path.ends_with(".md"));
    pages.flat_map(|(path, text)| {
        let mut in_code = false;
        let prose = text.lines().enumerate().filter(move |(_, line)| {
            let fence = line.trim_start().starts_with("```");
            in_code ^= fence;
            !fence && !in_code
        });
        prose.flat_map(move |(at, line)| {
            let line: String = line.split('`').step_by(2).collect();
            let name = line.strip_prefix('[').filter(|_| line.contains("]: "));
            let defined = name.and_then(|name| name.split("]: ").nth(1));
            let rests = line.split("](").skip(1).chain(defined);
            let targets = rests.filter_map(|rest| rest.split([')', ' ']).next());
            let link = |target: &str| (path.as_str(), at + 1, target.to_string());
            targets.map(link).collect::<Vec<_>>()
        })
    })
}

/// Returns what is wrong with a link in the file `from`, if anything.
fn problem(repo: &Repo, from: &str, target: &str) -> Option<String> {
    let (file, heading) = target.split_once('#').unwrap_or((target, ""));
    let mut parts: Vec<&str> = from.split('/').collect();
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

    fn broken(text: &str) -> usize {
        let sleep = ("docs/sleep.md", "# How to sleep: 1, 2\n");
        let files = [("docs/page.md", text), sleep, ("README.md", "")];
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
