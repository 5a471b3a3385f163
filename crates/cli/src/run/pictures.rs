//! Writes pictures of a program's intervals to files.

use std::path::PathBuf;

use clap::Args;
use tidegate::interval::Graph;
use tidegate_workloads::registry::ENTRIES;

use tidegate_cli_support::failure::Failure;
use tidegate_cli_support::output::{find_room, show_count, to_stderr, write_file};
use tidegate_cli_support::standard::shown_output;

/// A picture with more intervals than this is hard to read.
const MANY: usize = 2_000;

const PICTURE: &str = "a picture";

/// The options of `run` that write the task graph and the timeline to files.
#[derive(Args, Clone, Debug, Default)]
pub struct PictureArguments {
    /// Run once more, record all intervals, and write their order to FILE as a Graphviz graph; -
    /// for standard output
    #[arg(long, value_name = "FILE", global = true, conflicts_with = "serial")]
    pub dot: Option<PathBuf>,
    /// Like --dot, but draw a timeline of which worker ran which interval; - for standard output
    #[arg(long, value_name = "FILE", global = true, conflicts_with = "serial")]
    pub svg: Option<PathBuf>,
}

impl PictureArguments {
    /// Returns whether to draw any pictures.
    ///
    /// # Errors
    /// If the program has no intervals, or a file cannot be written.
    pub fn wanted(&self, program: &str, intervals: bool) -> Result<bool, Failure> {
        let files = || [&self.dot, &self.svg].into_iter().flatten();
        if files().next().is_none() {
            return Ok(false);
        }
        if !intervals {
            let others = ENTRIES.iter().filter(|entry| entry.intervals);
            let others: Vec<_> = others.map(|entry| entry.name).collect();
            return Err(Failure::Usage(format!(
                "--dot and --svg draw intervals, and {program} has none: expected one of {}",
                others.join(", ")
            )));
        }
        if self.dot == self.svg {
            let same = "--dot and --svg name the same file: expected one file each";
            return Err(Failure::Usage(same.to_owned()));
        }
        for file in files() {
            find_room(file, PICTURE)?;
        }
        Ok(true)
    }

    /// Writes the pictures, and prints a line for each of them.
    pub fn write(&self, graph: &Graph) -> Result<(), Failure> {
        let drawn = show_count(graph.intervals().len(), "interval");
        let pictures: [(_, fn(_) -> _, _); 2] = [
            (&self.dot, Graph::dot, ", for Graphviz: dot -Tsvg -O FILE"),
            (&self.svg, Graph::svg, ""),
        ];
        for (file, draw, how) in pictures {
            let Some(file) = file else { continue };
            write_file(file, PICTURE, |out| out.write_all(draw(graph).as_bytes()))?;
            to_stderr(&format!("{}: {drawn}{how}\n", shown_output(file)));
        }
        if graph.intervals().len() > MANY {
            to_stderr("So many intervals are hard to read; try --size tiny.\n");
        }
        Ok(())
    }
}
