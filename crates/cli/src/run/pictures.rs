//! Pictures of a program's intervals, as files.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tidegate::interval::Graph;
use tidegate_workloads::Program;
use tidegate_workloads::registry::ENTRIES;

use crate::arguments::PictureArguments;
use crate::failure::Failure;

impl PictureArguments {
    /// Whether there are any, which only a program with intervals can have, and in files that can be written.
    pub fn wanted<P: Program>(&self) -> Result<bool, Failure> {
        let files = || [&self.dot, &self.svg].into_iter().flatten();
        if files().next().is_some() && !P::INTERVALS {
            let others = ENTRIES.iter().filter(|entry| entry.intervals);
            let others: Vec<_> = others.map(|entry| entry.name).collect();
            return Err(Failure::Usage(format!(
                "--dot and --svg draw intervals, and {} has none; these have: {}",
                P::NAME,
                others.join(", ")
            )));
        }
        for file in files() {
            let mut open = fs::OpenOptions::new();
            let opened = open.write(true).create(true).truncate(false).open(file);
            opened.map_err(|error| refused(file, &error))?;
        }
        Ok(files().next().is_some())
    }

    /// Draws them.
    pub fn write(&self, graph: &Graph) -> Result<(), Failure> {
        let write = |file: &Option<PathBuf>, picture: fn(&Graph) -> String| match file {
            Some(file) => fs::write(file, picture(graph)).map_err(|error| refused(file, &error)),
            None => Ok(()),
        };
        write(&self.dot, Graph::dot)?;
        write(&self.svg, Graph::svg)
    }
}

fn refused(file: &Path, error: &io::Error) -> Failure {
    Failure::Impossible(format!(
        "{}: a picture cannot be written here: {error}",
        file.display()
    ))
}
