//! Checks the walls inside the crates against ARCHITECTURE.md: the largest import cycle of each
//! crate, and the floors of the runtime's rooms.

use super::modules::{imports, largest_cycle};
use super::{CORE, PAGE, Repo, TIDEGATE, holds, quoted, rows, section, violation};

/// The headings of the tables of rooms, and the sources that each table describes.
const HOUSES: [(&str, &str); 2] = [("## The core", CORE), ("## The upper crate", TIDEGATE)];

/// A row of a table of rooms: files and folders of one crate, by floor.
struct Room<'a> {
    floor: u32,
    name: &'a str,
    files: Vec<&'a str>,
}

/// Compares the largest import cycle of each crate with the last column of the table of crates. A
/// smaller cycle is a violation, too: then the number on the page must fall.
pub fn cycles(repo: &Repo) -> Vec<String> {
    let check = |(line, [name, _, _, _, most]): (usize, [&str; 5])| {
        let name = name.split('`').nth(1)?;
        let imports = imports(repo, &format!("crates/{name}/src/"));
        let cycle = largest_cycle(&imports);
        if most.parse() == Ok(cycle.len()) {
            return None;
        }
        let advice = format!(
            "the largest import cycle of {name} is {}, not {most}: shorten it, or write it: {}",
            cycle.len(),
            cycle.join(" ")
        );
        Some(violation(PAGE, line, advice))
    };
    rows(repo.text(PAGE)).filter_map(check).collect()
}

/// Finds imports from a room to a room on a higher floor, and files that have no room.
pub fn floors(repo: &Repo) -> Vec<String> {
    let page = repo.text(PAGE);
    let of = |(heading, folder)| floors_of(repo, folder, section(page, heading));
    HOUSES.into_iter().flat_map(of).collect()
}

/// Finds these violations in the crate whose sources are below `folder`.
fn floors_of(repo: &Repo, folder: &str, table: &str) -> Vec<String> {
    let rooms = rows(table).filter_map(|(_, [floor, name, files, _])| {
        let (floor, files) = (floor.parse().ok()?, quoted(files));
        Some(Room { floor, name, files })
    });
    let rooms: Vec<Room> = rooms.collect();
    // The longest name that holds the file decides.
    let room_of = |file: &str| {
        let names = rooms
            .iter()
            .flat_map(|room| room.files.iter().map(move |name| (room, name)));
        let best = names
            .filter(|it| holds(it.1, file))
            .max_by_key(|it| it.1.len());
        best.map(|it| it.0)
    };
    let files = repo.below(folder).map(|(file, _)| file);
    let homeless = files.filter(|file| room_of(file).is_none());
    let homeless = homeless.map(|file| (file, "give the file a room and a floor".to_string()));
    let rising = imports(repo, folder).into_iter().filter_map(|(from, to)| {
        let (here, there) = (room_of(from)?, room_of(to)?);
        let advice = format!(
            "{} (floor {}) may not import {to} of {} (floor {})",
            here.name, here.floor, there.name, there.floor
        );
        (there.floor > here.floor).then_some((from, advice))
    });
    let found = homeless.chain(rising);
    let violation = |(file, advice)| violation(&format!("{folder}{file}"), 1, advice);
    found.map(violation).collect()
}
