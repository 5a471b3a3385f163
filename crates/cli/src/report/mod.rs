//! `tidegate report`: one page for a browser, of what `tidegate reproduce` has found.
//!
//! The page is one file with its pictures and its style inside. It follows the reader's choice of light or dark, and needs neither a script nor a network.

mod chart;
mod html;

use std::fs;
use std::path::Path;

use crate::arguments::ReportArguments;
use crate::failure::Failure;
use crate::output::{find_room, keep_apart, to_stdout, write_file};
use crate::reproduce::page::Page;

/// Reads the files and writes the page.
pub fn report(arguments: &ReportArguments) -> Result<(), Failure> {
    keep_apart(&arguments.out, "the page", &arguments.files)?;
    let pages = arguments.files.iter().map(|file| read(file));
    let pages: Vec<Page> = pages.collect::<Result<_, _>>()?;
    find_room(&arguments.out, "the page")?;
    let text = html::document(&pages).map_err(Failure::Impossible)?;
    write_file(&arguments.out, "the page", |out| {
        out.write_all(text.as_bytes())
    })?;
    to_stdout(|out| writeln!(out, "{}", arguments.out.display()))
}

fn read(file: &Path) -> Result<Page, Failure> {
    let shown = file.display();
    let text = fs::read(file)
        .map_err(|error| Failure::Impossible(format!("{shown} cannot be read: {error}")))?;
    serde_json::from_slice(&text).map_err(|error| {
        Failure::Usage(format!(
            "{shown}: {error}; allowed is what `tidegate reproduce EXPERIMENT --json` has written"
        ))
    })
}
