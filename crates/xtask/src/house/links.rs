//! Checks links in Markdown. Links within the repository are always checked, and links to the web
//! are checked only if there is a network.
//!
//! rustdoc checks the links in Rust documentation.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::bail;

use super::{Repo, holds, texts, violation};
use crate::command::Cmd;
use crate::step::{Outcome, Skipped};

/// Finds links to files and headings that do not exist.
pub fn check(repo: &Repo) -> Vec<String> {
    let check = |(path, line, target): (&str, usize, String)| {
        Some(violation(path, line, problem(repo, path, &target)?))
    };
    links(&repo.texts).into_iter().filter_map(check).collect()
}

/// Fetches the linked pages. The check fails only if a server answers that a page does not exist.
pub fn web() -> Outcome {
    let texts = texts()?;
    let targets = links(&texts).into_iter().map(|(_, _, target)| target);
    let targets: BTreeSet<String> = targets.filter(|target| target.contains("://")).collect();
    let curl = Cmd::new("curl")
        .args("--silent --location --max-time 20 --write-out".split(' '))
        .args(["%{http_code} %{url}\n"])
        .args(targets.iter().flat_map(|it| ["--output", "/dev/null", it]));
    // curl also fails if just one page does not answer.
    let text = curl.run().map(|(_, text)| text).unwrap_or_default();
    let answers = text.lines().skip(1).filter_map(|line| line.split_once(' '));
    let answers = answers.filter(|(code, target)| *code != "000" && targets.contains(*target));
    let (broken, fine): (Vec<_>, _) = answers.partition(|it| ["404", "410"].contains(&it.0));
    match (fine.len(), broken.len()) {
        (0, 0) => bail!(Skipped("no network".to_string())),
        (many, 0) => Ok(format!("{many} of {} answer", targets.len())),
        _ => bail!("{broken:#?}"),
    }
}

/// Returns the links of all pages, except those in code: the page, the line, and the target of
/// `[text](target "title")` or `[name]: target`.
fn links(texts: &BTreeMap<String, String>) -> Vec<(&str, usize, String)> {
    let mut links = Vec::new();
    for (path, text) in texts.iter().filter(|(path, _)| path.ends_with(".md")) {
        let mut in_code = false;
        for (at, line) in text.lines().enumerate() {
            in_code ^= line.trim_start().starts_with("```");
            let line: String = line.split('`').step_by(2).collect();
            let defined = line.split_once("]: ").filter(|_| line.starts_with('['));
            let inline = line.split("](").skip(1);
            let rests = inline.chain(defined.map(|(_, rest)| rest));
            for rest in rests.filter(|_| !in_code) {
                let target = rest.split([')', ' ']).next().unwrap_or_default();
                links.push((path.as_str(), at + 1, target.to_string()));
            }
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
    let is_it = |other: &str| other == path || holds(&format!("{path}/"), other);
    if !repo.texts.keys().any(|other| is_it(other)) {
        return Some(format!("there is no {path}"));
    }
    let is_it = |line: &str| line.starts_with('#') && anchor(line) == heading;
    let known = heading.is_empty() || repo.text(&path).lines().any(is_it);
    (!known).then(|| format!("{path} has no heading #{heading}"))
}

fn anchor(title: &str) -> String {
    let title = title.trim_start_matches('#').trim().to_lowercase();
    let kept = |c: &char| c.is_alphanumeric() || [' ', '-', '_'].contains(c);
    let kept: String = title.chars().filter(kept).collect();
    kept.replace(' ', "-")
}
