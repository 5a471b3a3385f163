//! Links in Markdown lead to files and headings that exist.
//!
//! Addresses on the network are not followed, links in Rust documentation are checked by rustdoc.

use crate::house::Breach;
use crate::house::repo::{Repo, Text};

/// Each link that leads nowhere.
pub fn check(repo: &Repo) -> Vec<Breach> {
    repo.texts
        .iter()
        .filter(|file| file.path.ends_with(".md"))
        .flat_map(|file| page(repo, file))
        .collect()
}

fn page(repo: &Repo, file: &Text) -> Vec<Breach> {
    let mut found = Vec::new();
    for (number, line) in prose(&file.text) {
        for target in targets(&line)
            .into_iter()
            .filter(|target| !is_address(target))
        {
            if let Some(advice) = leads_nowhere(repo, &file.path, target) {
                found.push(Breach::new(&file.path, number, "link", advice));
            }
        }
    }
    found
}

/// The lines outside code, each with its number and without its inline code.
fn prose(text: &str) -> Vec<(usize, String)> {
    let mut in_code = false;
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let fence = line.trim_start().starts_with("```");
        if !fence && !in_code {
            found.push((index + 1, line.split('`').step_by(2).collect()));
        }
        in_code ^= fence;
    }
    found
}

/// What the line links to: `[text](target)`, `[text](target "title")` or `[name]: target`.
fn targets(line: &str) -> Vec<&str> {
    let inline = line
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split([')', ' ']).next());
    let defined = line
        .strip_prefix('[')
        .and_then(|rest| rest.split_once("]:"))
        .map(|(_, target)| target.trim());
    inline.chain(defined).collect()
}

fn is_address(target: &str) -> bool {
    ["http://", "https://", "mailto:"]
        .iter()
        .any(|scheme| target.starts_with(scheme))
}

fn leads_nowhere(repo: &Repo, from: &str, target: &str) -> Option<String> {
    let (file, heading) = target.split_once('#').unwrap_or((target, ""));
    let path = if file.is_empty() {
        from.to_string()
    } else {
        resolve(from, file)
    };
    let exists = repo
        .texts
        .iter()
        .any(|text| text.path == path || text.path.starts_with(&format!("{path}/")));
    if !exists {
        return Some(format!("there is no {path}: correct the link {target}"));
    }
    let known = heading.is_empty()
        || repo
            .text(&path)
            .is_some_and(|text| headings(text).any(|slug| slug == heading));
    (!known).then(|| format!("{path} has no heading #{heading}: correct the link"))
}

/// The path that `file` means when it stands in the file `from`.
fn resolve(from: &str, file: &str) -> String {
    let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
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
    let titles = text.lines().filter_map(|line| {
        let title = line.trim_start_matches('#');
        (title.len() < line.len())
            .then(|| title.strip_prefix(' '))
            .flatten()
    });
    titles.map(|title| {
        let kept = title
            .trim()
            .chars()
            .filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
        kept.flat_map(char::to_lowercase)
            .map(|c| if c == ' ' { '-' } else { c })
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::house::rules::small::repo;

    fn breaches(text: &str) -> usize {
        let files = [
            ("docs/page.md", text),
            ("docs/sleep.md", "# How to sleep: 1, 2\n"),
            ("README.md", ""),
        ];
        check(&repo(&files)).len()
    }

    #[test]
    fn a_link_to_a_missing_file_is_a_breach() {
        assert_eq!(
            breaches("see [there](sleep.md) and [up](../README.md) and [all](../docs)"),
            0
        );
        assert_eq!(breaches("see [there](sleeping.md)"), 1);
        assert_eq!(breaches("[there]: ../sleep.md"), 1);
    }

    #[test]
    fn a_link_to_a_missing_heading_is_a_breach() {
        assert_eq!(
            breaches("# Own words\n[a](#own-words) [b](sleep.md#how-to-sleep-1-2)"),
            0
        );
        assert_eq!(breaches("[a](#other) [b](sleep.md#how-to-wake)"), 2);
    }

    #[test]
    fn addresses_and_code_are_left_alone() {
        assert_eq!(
            breaches("[a](https://example.org/x.md)\n```\n[b](none.md)\n```\nand `[c](none.md)`"),
            0
        );
    }
}
