//! Pictures of a program's intervals, as files.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use tidegate::interval::Graph;
use tidegate_workloads::Program;
use tidegate_workloads::registry::ENTRIES;

use crate::arguments::PictureArguments;
use crate::failure::Failure;
use crate::output::{show_count, to_stderr};

/// From so many intervals on a picture is hard to look at.
const MANY: usize = 2_000;

impl PictureArguments {
    /// Whether there are any, which only a program with intervals can have, and in files that can be written.
    pub fn wanted<P: Program>(&self) -> Result<bool, Failure> {
        let files = || [&self.dot, &self.svg].into_iter().flatten();
        if files().next().is_none() {
            return Ok(false);
        }
        if !P::INTERVALS {
            let others = ENTRIES.iter().filter(|entry| entry.intervals);
            let others: Vec<_> = others.map(|entry| entry.name).collect();
            return Err(Failure::Usage(format!(
                "--dot and --svg draw intervals, and {} has none; these have: {}",
                P::NAME,
                others.join(", ")
            )));
        }
        if self.dot == self.svg {
            let same = "--dot and --svg are pictures of two kinds, in a file each; here they name the same";
            return Err(Failure::Usage(same.to_owned()));
        }
        for file in files() {
            find_room(file).map_err(|error| refused(file, &error))?;
        }
        Ok(true)
    }

    /// Draws them, and says so.
    pub fn write(&self, graph: &Graph) -> Result<(), Failure> {
        let drawn = show_count(graph.intervals().len(), "interval");
        let pictures: [(_, fn(_) -> _, _); 2] = [
            (&self.dot, Graph::dot, ", for Graphviz: dot -Tsvg -O FILE"),
            (&self.svg, Graph::svg, ""),
        ];
        for (file, draw, how) in pictures {
            let Some(file) = file else { continue };
            fs::write(file, draw(graph)).map_err(|error| refused(file, &error))?;
            to_stderr(&format!("{}: {drawn}{how}\n", file.display()));
        }
        if graph.intervals().len() > MANY {
            to_stderr("That is much for a picture: --size tiny has fewer.\n");
        }
        Ok(())
    }
}

/// An error if a file can surely not be written. Nothing is made or changed.
fn find_room(file: &Path) -> io::Result<()> {
    match fs::OpenOptions::new().write(true).open(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let folder = file
                .parent()
                .filter(|folder| !folder.as_os_str().is_empty());
            fs::read_dir(folder.unwrap_or(Path::new("."))).map(drop)
        }
        opened => opened.map(drop),
    }
}

fn refused(file: &Path, error: &io::Error) -> Failure {
    let file = file.display();
    Failure::Impossible(format!("{file}: a picture cannot be written here: {error}"))
}
