//! A page as text.

use std::io::{self, Write};

use super::page::{Chart, Page, Section, Sheet};
use tidegate_command::output::Table;

/// Writes everything but the intervals.
pub fn page(out: &mut dyn Write, page: &Page) -> io::Result<()> {
    writeln!(out, "{}\n{}\n", page.title, page.source)?;
    for setting in &page.made {
        writeln!(out, "{}: {}", setting.name, setting.value)?;
    }
    let beside = if page.expected {
        "expected"
    } else {
        "published"
    };
    let mut table = Table::new(["what", beside, "here", "same direction"]);
    for finding in &page.findings {
        let agrees = if finding.agrees { "yes" } else { "no" };
        table.row([
            finding.what.clone(),
            finding.published.clone(),
            finding.ours.clone(),
            agrees.to_owned(),
        ]);
    }
    writeln!(out, "\n{table}")?;
    for finding in page
        .findings
        .iter()
        .filter(|finding| !finding.why.is_empty())
    {
        writeln!(out, "\n{}: {}", finding.what, finding.why)?;
    }
    page.sections.iter().try_for_each(|one| section(out, one))
}

fn section(out: &mut dyn Write, section: &Section) -> io::Result<()> {
    writeln!(out, "\n{}\n{}", section.title, section.text)?;
    section.charts.iter().try_for_each(|one| chart(out, one))?;
    section.tables.iter().try_for_each(|one| sheet(out, one))
}

/// A chart as a table: a row for each line, a column for each place on the axis.
fn chart(out: &mut dyn Write, chart: &Chart) -> io::Result<()> {
    let mut places: Vec<f64> = chart
        .lines
        .iter()
        .flat_map(|line| line.points.iter().map(|point| point.x))
        .collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    let label = |x: &f64| match chart.labels.get(*x as usize) {
        Some(label) => label.clone(),
        None => format!("{x}"),
    };
    let columns: Vec<String> = places.iter().map(label).collect();
    let rows = chart.lines.iter().map(|line| {
        let cell = |place: &f64| {
            let point = line.points.iter().find(|point| point.x == *place);
            point.map_or_else(String::new, |point| format!("{:.3}", point.y))
        };
        std::iter::once(line.name.clone())
            .chain(places.iter().map(cell))
            .collect()
    });
    let titled = Sheet {
        title: format!("{} ({} over {})", chart.title, chart.y, chart.x),
        columns: std::iter::once(String::new()).chain(columns).collect(),
        rows: rows.collect(),
    };
    sheet(out, &titled)
}

fn sheet(out: &mut dyn Write, sheet: &Sheet) -> io::Result<()> {
    let mut table = Table::with_columns(sheet.columns.iter().map(String::as_str));
    sheet
        .rows
        .iter()
        .for_each(|row| table.row(row.iter().cloned()));
    writeln!(out, "\n{}\n{table}", sheet.title)
}
