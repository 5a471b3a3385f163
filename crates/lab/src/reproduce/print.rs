//! Prints a page as text.

use std::io::{self, Write};

use tidegate_cli_support::output::{Table, Value};

use super::page::{Chart, Page, Section};

/// Writes the whole page. Charts become tables without intervals.
pub fn page(out: &mut dyn Write, page: &Page, wide: bool) -> io::Result<()> {
    writeln!(out, "{}\n{}\n", page.title, page.source)?;
    for setting in &page.made {
        writeln!(out, "{}: {}", setting.name, setting.value)?;
    }
    let beside = ["published", "expected"][usize::from(page.expected)];
    writeln!(out, "\n{}", findings(page, beside).text(wide))?;
    for (it, why) in page.explained() {
        writeln!(
            out,
            "\n{}: {} ({}; {})",
            it.id, it.what, it.source, it.range
        )?;
        if !why.is_empty() {
            writeln!(out, "{why}")?;
        }
    }
    let mut sections = page.sections.iter();
    sections.try_for_each(|one| section(out, one, wide))
}

/// Writes the findings, charts and tables as comma-separated values. Each is preceded by a line
/// with `#` and its title.
pub fn csv(out: &mut dyn Write, page: &Page) -> io::Result<()> {
    let findings = findings(page, "published");
    let sections = page.sections.iter();
    let charts = sections.clone().flat_map(|section| &section.charts);
    let tables = sections.flat_map(|section| &section.tables).cloned();
    let mut all = std::iter::once(findings)
        .chain(charts.map(as_table))
        .chain(tables);
    all.try_for_each(|table| {
        writeln!(out, "# {}: {}", page.experiment, table.title)?;
        out.write_all(table.csv().as_bytes())
    })
}

/// Returns the table of findings, with this heading for the published figures.
fn findings(page: &Page, published: &str) -> Table {
    let mut table = Table::new(["finding", published, "here", "verdict"]).titled("findings");
    for finding in &page.findings {
        let verdict = finding.verdict.to_string();
        let cells = [&finding.id, &finding.published, &finding.ours, &verdict];
        table.row(cells.map(String::as_str));
    }
    table
}

fn section(out: &mut dyn Write, section: &Section, wide: bool) -> io::Result<()> {
    writeln!(out, "\n{}\n{}", section.title, section.text)?;
    let charts = section.charts.iter().map(as_table);
    let mut all = charts.chain(section.tables.iter().cloned());
    all.try_for_each(|one| writeln!(out, "\n{}\n{}", one.title, one.text(wide)))
}

/// Turns a chart into a table, with a row for each line and a column for each position on the
/// horizontal axis.
fn as_table(chart: &Chart) -> Table {
    let points = chart.lines.iter().flat_map(|line| &line.points);
    let mut places: Vec<f64> = points.map(|point| point.x).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    let label = |x: &f64| match chart.labels.get(*x as usize) {
        Some(label) => label.clone(),
        None => format!("{x}"),
    };
    let columns = places.iter().map(label);
    let mut table = Table::new(std::iter::once(String::new()).chain(columns))
        .titled(format!("{} ({} over {})", chart.title, chart.y, chart.x));
    for line in &chart.lines {
        let cell = |place: &f64| {
            let point = line.points.iter().find(|point| point.x == *place);
            point.map_or(Value::Missing, |point| format!("{:.3}", point.y).into())
        };
        let name = std::iter::once(Value::Text(line.name.clone()));
        table.row(name.chain(places.iter().map(cell)));
    }
    table
}
