//! The sections of a paper: what their charts and tables show.

use serde::Deserialize;
use tidegate_cli_support::output;
use toml::{Table as Fields, Value};

use super::{Paper, Results, through};
use crate::engine::Verdict;
use crate::reproduce::measured::View;
use crate::reproduce::page;
use crate::reproduce::units::cell;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Section {
    #[serde(default)]
    each: Vec<String>,
    title: String,
    pub text: String,
    #[serde(default)]
    pub chart: Vec<Chart>,
    #[serde(default)]
    pub table: Vec<Table>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chart {
    /// The chart is repeated for each item of these lists.
    #[serde(default)]
    each: Vec<String>,
    title: String,
    x: String,
    y: String,
    #[serde(default)]
    log: bool,
    /// The list of positions on the x axis.
    over: String,
    /// The label of a position, if it is not the item itself.
    label: Option<String>,
    /// Values for all figures of the chart.
    #[serde(default)]
    with: Fields,
    pub lines: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    #[serde(default)]
    each: Vec<String>,
    title: String,
    /// The table has a row for each combination of these lists' items.
    rows: Vec<String>,
    #[serde(default)]
    with: Fields,
    pub columns: Columns,
}

/// The columns of a table, or their name.
#[derive(Deserialize)]
#[serde(untagged)]
pub enum Columns {
    Named(String),
    Own(Vec<Entry>),
}

/// A line or a column, or one for each item of a list.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    #[serde(default)]
    each: Vec<String>,
    title: String,
    /// The name of the figure; a column without one has the text.
    pub figure: Option<String>,
    unit: Option<String>,
    pub text: Option<String>,
    /// A cell, and one that it is compared with; values, like those of `with`.
    cell: Option<String>,
    base: Option<String>,
    #[serde(default)]
    with: Fields,
}

impl Paper {
    pub fn columns<'e>(&'e self, table: &'e Table) -> &'e [Entry] {
        match &table.columns {
            Columns::Named(name) => &self.columns[name],
            Columns::Own(columns) => columns,
        }
    }
}

impl<R> Results<'_, R> {
    pub fn sections(&self, part: &str) -> Vec<page::Section> {
        let mut sections = vec![];
        self.measured.view(&self.lists, |view| {
            for section in &self.paper.part(part).section {
                through(view, &section.each, &mut |view| {
                    sections.push(self.section(section, view));
                });
            }
        });
        sections
    }

    fn section(&self, entry: &Section, view: View<'_, R>) -> page::Section {
        let mut section = page::Section {
            title: self.text(&entry.title, view),
            text: self.text(&entry.text, view),
            charts: vec![],
            tables: vec![],
        };
        for chart in &entry.chart {
            let with = Value::Table(chart.with.clone());
            through(view, &chart.each, &mut |view| {
                let drawn = view.with("", &with, |view| self.chart(chart, view));
                section.charts.push(drawn);
            });
        }
        for table in &entry.table {
            let with = Value::Table(table.with.clone());
            through(view, &table.each, &mut |view| {
                let drawn = view.with("", &with, |view| self.table(table, view));
                section.tables.push(drawn);
            });
        }
        section
    }

    fn chart(&self, entry: &Chart, view: View<'_, R>) -> page::Chart {
        let over = view.fill(&entry.over);
        let label = entry.label.clone().unwrap_or_else(|| format!("{{{over}}}"));
        let mut lines = vec![];
        self.entries(&entry.lines, view, &mut |line, view| {
            let figure = line.figure.as_ref().expect("a line has a figure");
            let values = view.each(&over, |view| view.interval(self.figure(&view.fill(figure))));
            let points = values.into_iter().enumerate();
            lines.push(page::Line {
                name: self.text(&line.title, view),
                points: points
                    .filter_map(|(x, y)| page::Point::new(x as f64, y))
                    .collect(),
            });
        });
        page::Chart {
            title: self.text(&entry.title, view),
            x: self.text(&entry.x, view),
            y: self.text(&entry.y, view),
            labels: view.each(&over, |view| self.text(&label, view)),
            log: entry.log,
            lines,
        }
    }

    fn table(&self, entry: &Table, view: View<'_, R>) -> output::Table {
        let all = self.paper.columns(entry);
        let mut columns = vec![];
        self.entries(all, view, &mut |column, view| {
            columns.push(self.text(&column.title, view));
        });
        let mut table = output::Table::new(columns).titled(self.text(&entry.title, view));
        through(view, &entry.rows, &mut |view| {
            let mut cells = vec![];
            self.entries(all, view, &mut |column, view| {
                cells.push(match (&column.figure, &column.unit) {
                    (Some(figure), Some(unit)) => {
                        let figure = self.figure(&view.fill(figure));
                        match view.doubts(figure) {
                            [true, _] => Verdict::TooSmall.to_string().into(),
                            _ => cell(unit, view.value(figure)),
                        }
                    }
                    _ => {
                        let text = column.text.as_ref().unwrap_or(&column.title);
                        match self.text(text, view) {
                            // A figure in it was not measured.
                            text if text.contains("NaN") => output::Value::Missing,
                            text => text.into(),
                        }
                    }
                });
            });
            table.row(cells);
        });
        table
    }

    /// Passes each line or column with its values.
    fn entries(
        &self,
        entries: &[Entry],
        view: View<'_, R>,
        then: &mut dyn FnMut(&Entry, View<'_, R>),
    ) {
        for entry in entries {
            let mut with = entry.with.clone();
            for (name, cell) in [("cell", &entry.cell), ("base", &entry.base)] {
                with.extend(cell.clone().map(|cell| (name.to_owned(), cell.into())));
            }
            let with = Value::Table(with);
            through(view, &entry.each, &mut |view| {
                view.with("", &with, |view| then(entry, view));
            });
        }
    }
}
