//! Checks what files contain: they have at most 600 lines, and none names a path or host that only
//! its author can reach.

use super::{Repo, violation};

const LINES: usize = 600;

/// Generated files, and the texts of licences.
const NOT_OURS: [&str; 3] = ["Cargo.lock", "LICENSE-APACHE", "LICENSE-MIT"];

/// Paths and hosts that exist only on one machine or network. Each is cut in two, so that this file
/// does not contain it.
const FOREIGN: &str = "/wor+k /roo+t /hom+e ../sha+red /tmp/tar+get index.+crates.io static.+crates.io \
    static.+rust-lang.org registry.+npmjs.org files.+pythonhosted.org deb.+debian.org";

/// Finds files that are too long, and files that name a path or host in `FOREIGN`.
pub fn texts(repo: &Repo) -> Vec<String> {
    let places = FOREIGN.replace('+', "");
    let mut found = Vec::new();
    for (path, text) in &repo.texts {
        let lines = text.lines().count();
        let name = path.rsplit('/').next().unwrap_or_default();
        if lines > LINES && !NOT_OURS.contains(&name) {
            let advice = format!("{lines} lines, and at most {LINES} are allowed: split the file");
            found.push(violation(path, 1, advice));
        }
        for place in places
            .split_whitespace()
            .filter(|place| text.contains(place))
        {
            let lines = text.lines().enumerate();
            let advice = format!("{place} means nothing to readers elsewhere");
            let named = lines.filter(|(_, line)| mentions(line, place));
            found.extend(named.map(|(at, _)| violation(path, at + 1, &advice)));
        }
    }
    found
}

/// Whether the line contains `word`, but not as part of a longer path or name.
fn mentions(line: &str, word: &str) -> bool {
    let part_of_name = |c: char| c.is_alphanumeric() || ['_', '-'].contains(&c);
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        !before.is_some_and(|c| part_of_name(c) || ['.', '}'].contains(&c))
            && !after.is_some_and(part_of_name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::house::lines;

    #[test]
    fn too_long_file_is_found() {
        let text = "line\n".repeat(LINES);
        assert_eq!(lines(texts, "docs/a.md", &text), [0; 0]);
        let longer = text + "line\n";
        assert_eq!(lines(texts, "docs/a.md", &longer), [1]);
        assert_eq!(lines(texts, "fuzz/Cargo.lock", &longer), [0; 0]);
    }

    #[test]
    fn machine_specific_path_is_found() {
        let places = FOREIGN.replace('+', "");
        let place = places.split(' ').next().unwrap();
        let text = format!("crates/workloads, src/work/a.rs, /working\nsee {place}/main");
        assert_eq!(lines(texts, "docs/a.md", &text), [2]);
    }
}
