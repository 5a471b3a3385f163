//! Prints a page as text.

use std::io::{self, Write};

use tidegate_cli_support::output::{Table, Value};

use super::page::{Chart, Finding, Page, Section};

/// Writes the whole page. Charts become tables without intervals.
pub fn page(out: &mut dyn Write, page: &Page, wide: bool) -> io::Result<()> {
    writeln!(out, "{}\n{}\n", page.title, page.source)?;
    for setting in &page.made {
        writeln!(out, "{}: {}", setting.name, setting.value)?;
    }
    let beside = if page.expected {
        "expected"
    } else {
        "published"
    };
    writeln!(out, "\n{}", findings(page, beside).text(wide))?;
    for (finding, why) in page.explained() {
        let Finding {
            id,
            what,
            source,
            range,
            ..
        } = finding;
        writeln!(out, "\n{id}: {what} ({source}; {range})")?;
        if !why.is_empty() {
            writeln!(out, "{why}")?;
        }
    }
    page.sections
        .iter()
        .try_for_each(|one| section(out, one, wide))
}

/// Writes the findings, charts and tables as comma-separated values. Each is preceded by a line
/// with `#` and its title.
pub fn csv(out: &mut dyn Write, page: &Page) -> io::Result<()> {
    let findings = findings(page, "published");
    let charts = page
        .sections
        .iter()
        .flat_map(|section| section.charts.iter().map(as_table));
    let tables = page
        .sections
        .iter()
        .flat_map(|section| section.tables.iter().cloned());
    let mut all = std::iter::once(findings).chain(charts).chain(tables);
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
    charts
        .chain(section.tables.iter().cloned())
        .try_for_each(|one| writeln!(out, "\n{}\n{}", one.title, one.text(wide)))
}

/// Turns a chart into a table, with a row for each line and a column for each position on the
/// horizontal axis.
fn as_table(chart: &Chart) -> Table {
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
    let columns = places.iter().map(label);
    let mut table = Table::new(std::iter::once(String::new()).chain(columns))
        .titled(format!("{} ({} over {})", chart.title, chart.y, chart.x));
    for line in &chart.lines {
        let cell = |place: &f64| {
            let point = line.points.iter().find(|point| point.x == *place);
            point.map_or(Value::Missing, |point| {
                Value::Text(format!("{:.3}", point.y))
            })
        };
        let name = std::iter::once(Value::Text(line.name.clone()));
        table.row(name.chain(places.iter().map(cell)));
    }
    table
}
