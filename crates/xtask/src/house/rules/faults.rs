//! Every fault that the code can be compiled with has its row in the table of faults, and every row has its code.

use crate::faults::FAULTS;
use crate::house::Breach;
use crate::house::plan::{Code, FAULT, room_of};
use crate::house::repo::Repo;
use crate::house::source::Source;

const TABLE: &str = "crates/xtask/src/faults/table.rs";

/// Faults without a row and rows without code.
pub fn check(repo: &Repo) -> Vec<Breach> {
    let names: Vec<&str> = FAULTS.iter().map(|fault| fault.name).collect();
    compare(repo, &names)
}

fn compare(repo: &Repo, rows: &[&str]) -> Vec<Breach> {
    let shipped = repo
        .sources
        .iter()
        .filter(|source| room_of(&source.path).is_some_and(|room| room.code != Code::Tool));
    let switches: Vec<(&Source, usize, &str)> = shipped.flat_map(switches).collect();
    let mut found = Vec::new();
    for (source, line, name) in switches.iter().filter(|(_, _, name)| !rows.contains(name)) {
        let advice = format!("no test is said to catch the fault {name}: give it a row in {TABLE}");
        found.push(Breach::new(&source.path, *line, "fault", advice));
    }
    for row in rows
        .iter()
        .filter(|row| !switches.iter().any(|(_, _, name)| name == *row))
    {
        let advice = format!("no code has the fault {row}: write it, or take the row out");
        found.push(Breach::new(TABLE, 1, "fault", advice));
    }
    found
}

/// Each `tidegate_fault = "name"` with its line and name.
fn switches(source: &Source) -> impl Iterator<Item = (&Source, usize, &str)> {
    let switches = source
        .tokens
        .windows(3)
        .filter(|words| words[0].text == FAULT && words[1].text == "=");
    switches.map(move |words| (source, words[0].line, words[2].text.trim_matches('"')))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::house::rules::small::repo;

    #[test]
    fn a_fault_without_a_row_and_a_row_without_a_fault_are_breaches() {
        let text = "fn f() { if cfg!(tidegate_fault = \"late\") {} }";
        let files = repo(&[("crates/deque/src/split.rs", text)]);
        assert_eq!(compare(&files, &["late"]), []);
        assert_eq!(compare(&files, &[])[0].path, "crates/deque/src/split.rs");
        assert_eq!(compare(&files, &["late", "early"])[0].path, TABLE);
    }
}
