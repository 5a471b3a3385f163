//! `tidegate-lab report`: one page for a browser, of what `tidegate-lab reproduce` has found.
//!
//! The page is one file with its pictures and its style inside. It follows the reader's choice of light or dark, and needs neither a script nor a network.

mod chart;
mod html;

use std::path::Path;

use serde_json::error::Category;

use crate::arguments::ReportArguments;
use crate::reproduce::page::Page;
use tidegate_command::failure::Failure;
use tidegate_command::input;
use tidegate_command::output::{find_room, keep_apart, to_stdout, write_file};
use tidegate_command::standard::{is_standard, shown_input};

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
    if is_standard(&arguments.out) {
        return Ok(());
    }
    to_stdout(|out| writeln!(out, "{}", arguments.out.display()))
}

fn read(file: &Path) -> Result<Page, Failure> {
    let page: Page = serde_json::from_slice(&input::bytes(file)?).map_err(|error| {
        // What serde expects where is about our types, which are not the reader's.
        let what = match error.classify() {
            Category::Eof => "the file is cut off",
            Category::Syntax => "this is no JSON",
            Category::Data | Category::Io => "this is no page of an experiment",
        };
        Failure::Usage(format!(
            "{}: {what} (line {}, column {}); allowed is what `tidegate-lab reproduce EXPERIMENT --json` has written",
            shown_input(file),
            error.line(),
            error.column()
        ))
    })?;
    let mut charts = page.sections.iter().flat_map(|section| &section.charts);
    match charts.try_for_each(chart::check) {
        Ok(()) => Ok(page),
        Err(what) => Err(Failure::Usage(format!("{}: {what}", shown_input(file)))),
    }
}
