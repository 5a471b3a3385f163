//! `tidegate-lab report`: renders the results of `tidegate-lab reproduce` as an HTML page.
//!
//! The page is one self-contained file. It follows the reader's choice of light or dark mode, and
//! needs neither scripts nor a network. `--chart` writes one of its charts as a picture instead.

mod chart;
mod html;

use std::path::Path;

use serde_json::error::Category;

use crate::arguments::ReportArguments;
use crate::reproduce::page::{Chart, Page};
use tidegate_cli_support::failure::Failure;
use tidegate_cli_support::input;
use tidegate_cli_support::output::{find_room, keep_apart, to_stdout, write_file};
use tidegate_cli_support::standard::{is_standard, shown_input};

pub fn report(arguments: &ReportArguments) -> Result<(), Failure> {
    keep_apart(&arguments.out, "the page", &arguments.files)?;
    let read = arguments.files.iter().map(|file| read(file));
    let pages = read.collect::<Result<Vec<Vec<Page>>, _>>()?.concat();
    if pages.is_empty() {
        return Err(Failure::Usage(
            "the files contain no page of an experiment; run `tidegate-lab reproduce EXPERIMENT --json`"
                .into(),
        ));
    }
    find_room(&arguments.out, "the page")?;
    let text = match &arguments.chart {
        None => html::document(&pages),
        Some(title) => chart::picture(find(&pages, title)?),
    };
    let text = text.map_err(Failure::Impossible)?;
    write_file(&arguments.out, "the page", |out| {
        out.write_all(text.as_bytes())
    })?;
    if is_standard(&arguments.out) {
        return Ok(());
    }
    to_stdout(|out| writeln!(out, "{}", arguments.out.display()))
}

/// Returns the first chart with this title.
fn find<'a>(pages: &'a [Page], title: &str) -> Result<&'a Chart, Failure> {
    let sections = pages.iter().flat_map(|page| &page.sections);
    let charts = sections.flat_map(|section| &section.charts);
    let found = charts.clone().find(|chart| chart.title == title);
    found.ok_or_else(|| {
        let titles: Vec<&str> = charts.map(|chart| chart.title.as_str()).collect();
        Failure::Usage(format!("--chart {title:?}: expected one of {titles:?}"))
    })
}

/// Reads one page, or several if the file contains a list.
fn read(file: &Path) -> Result<Vec<Page>, Failure> {
    let bytes = input::bytes(file)?;
    let is_list = bytes.trim_ascii_start().starts_with(b"[");
    let parsed = if is_list {
        serde_json::from_slice(&bytes)
    } else {
        serde_json::from_slice(&bytes).map(|page| vec![page])
    };
    let pages: Vec<Page> = parsed.map_err(|error| {
        // Serde's own message describes our types, which mean nothing to the user.
        let what = match error.classify() {
            Category::Eof => "the file is cut off",
            Category::Syntax => "this is not JSON",
            Category::Data | Category::Io => "this is not a page of an experiment",
        };
        Failure::Usage(format!(
            "{}: {what} (line {}, column {}): expected output of `tidegate-lab reproduce EXPERIMENT --json`",
            shown_input(file),
            error.line(),
            error.column()
        ))
    })?;
    let sections = pages.iter().flat_map(|page| &page.sections);
    let mut charts = sections.flat_map(|section| &section.charts);
    match charts.try_for_each(chart::check) {
        Ok(()) => Ok(pages),
        Err(what) => Err(Failure::Usage(format!("{}: {what}", shown_input(file)))),
    }
}
