//! Checks the walls inside the crates against ARCHITECTURE.md: the largest import cycle of each
//! crate, and the floors of the runtime's rooms.

use super::modules::{imports, largest_cycle, shipped};
use super::{CORE, PAGE, Repo, TIDEGATE, quoted, violation};

/// The headings of the tables of rooms, and the sources that each table describes.
const HOUSES: [(&str, &str); 2] = [("## The core", CORE), ("## The upper crate", TIDEGATE)];

/// A row of a table of rooms: files and folders of one crate, by floor.
struct Room<'a> {
    floor: u32,
    name: &'a str,
    files: Vec<&'a str>,
}

impl Room<'_> {
    /// Returns the length of the longest name of this room that holds the file; 0 if none does.
    fn fit(&self, file: &str) -> usize {
        let holds = |name: &&&str| {
            if name.ends_with('/') {
                file.starts_with(**name)
            } else {
                file == **name
            }
        };
        let fitting = self.files.iter().filter(holds).map(|name| name.len());
        fitting.max().unwrap_or(0)
    }
}

/// Compares the largest import cycle of each crate with the last column of the table of crates. A
/// smaller cycle is a violation, too: then the number on the page must fall.
pub fn cycles(repo: &Repo) -> Vec<String> {
    let page = repo.text(PAGE).unwrap_or_default();
    let check = |(at, line): (usize, &str)| {
        let [_, name, _, _, _, most, _] = line.split('|').collect::<Vec<_>>()[..] else {
            return None;
        };
        let name = name.split('`').nth(1)?;
        let Ok(most) = most.trim().parse::<usize>() else {
            let advice = format!("write the largest import cycle of {name}: a number");
            return Some(violation(PAGE, at + 1, advice));
        };
        let cycle = largest_cycle(&imports(repo, &format!("crates/{name}/src/")));
        let advice = match cycle.len() {
            now if now > most => format!(
                "{now} modules of {name} import each other: {}; at most {most} may",
                cycle.join(" ")
            ),
            now if now < most => {
                format!("the largest import cycle of {name} is {now} now: write it")
            }
            _ => return None,
        };
        Some(violation(PAGE, at + 1, advice))
    };
    page.lines().enumerate().filter_map(check).collect()
}

/// Finds imports from a room to a room on a higher floor, and files that have no room.
pub fn floors(repo: &Repo) -> Vec<String> {
    let page = repo.text(PAGE).unwrap_or_default();
    let of = |(heading, folder): &(&str, &str)| {
        let table = page.split(heading).nth(1).unwrap_or_default();
        let table = table.split("\n## ").next().unwrap_or_default();
        floors_of(repo, folder, table)
    };
    HOUSES.iter().flat_map(of).collect()
}

/// Finds these violations in the crate whose sources are below `folder`.
fn floors_of(repo: &Repo, folder: &str, table: &str) -> Vec<String> {
    let rooms: Vec<Room<'_>> = table.lines().filter_map(room).collect();
    let room_of = |file: &str| {
        let rooms = rooms.iter().map(|room| (room.fit(file), room));
        let best = rooms.max_by_key(|(fit, _)| *fit)?;
        (best.0 > 0).then_some(best.1)
    };
    let imports = imports(repo, folder);
    let files = shipped(repo, folder).into_iter().map(|(file, _)| file);
    let homeless = files.filter(|file| room_of(file).is_none()).map(|file| {
        let advice = "give the file a room and a floor";
        violation(&format!("{folder}{file}"), 1, advice)
    });
    let rising = imports.iter().filter_map(|(from, to)| {
        let (here, there) = (room_of(from)?, room_of(to)?);
        let advice = format!(
            "{} (floor {}) may not import {to} of {} (floor {})",
            here.name, here.floor, there.name, there.floor
        );
        (there.floor > here.floor).then(|| violation(&format!("{folder}{from}"), 1, advice))
    });
    homeless.chain(rising).collect()
}

/// Reads a row of the table of rooms, which begins with the number of a floor.
fn room(line: &str) -> Option<Room<'_>> {
    let [_, floor, name, files, _, _] = line.split('|').collect::<Vec<_>>()[..] else {
        return None;
    };
    Some(Room {
        floor: floor.trim().parse().ok()?,
        name: name.trim(),
        files: quoted(files),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_may_only_shrink() {
        let violations = |most: usize| {
            let page = format!("| `tidegate` | x | nothing | nothing | {most} |");
            let page = page.replace("| 0 |", "| none |");
            let files = [
                (PAGE, page.as_str()),
                ("crates/tidegate/src/a.rs", "use crate::b;"),
                ("crates/tidegate/src/b.rs", "use crate::a;"),
            ];
            cycles(&Repo::of(&files)).len()
        };
        assert_eq!([0, 1, 2, 3].map(violations), [1, 1, 0, 1]);
    }

    #[test]
    fn imports_point_downward() {
        let violations = |imported: &str| {
            let page = "## The core\n| 2 | api | `lib.rs` | x |\n| 1 | worker | `worker.rs`, `worker/` | x |\n\
                | 0 | leaves | `job.rs` | x |\n## The upper crate\n| 0 | api | `lib.rs` | x |";
            let job = format!("use crate::{imported};");
            let files = [
                (PAGE, page),
                ("crates/core/src/job.rs", job.as_str()),
                ("crates/core/src/worker.rs", "use crate::job;"),
                ("crates/core/src/worker/join.rs", ""),
                ("crates/core/src/lib.rs", ""),
                ("crates/tidegate/src/lib.rs", ""),
            ];
            floors(&Repo::of(&files)).len()
        };
        assert_eq!(violations("worker::join"), 1);
        assert_eq!(violations("join"), 1, "of the crate's root");
        assert_eq!(violations("job"), 0);
    }
}
