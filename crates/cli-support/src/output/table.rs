//! Tables: as Markdown with units for human readers, and as comma-separated values without units
//! for programs.
//!
//! A Markdown table is at most [`WIDTH`] characters wide. Columns that don't fit are left out,
//! starting with the last, and a line below the table mentions `--wide`, which shows them.

use std::fmt;
use std::time::Duration;

use comfy_table::CellAlignment;
use comfy_table::presets::ASCII_MARKDOWN;
use serde::{Deserialize, Serialize};

use super::{show_age, show_bytes, show_number, show_ratio, show_seconds, to_stdout};
use crate::arguments::TableFormat;
use crate::failure::Failure;

/// The maximum length of a line, in characters.
pub const WIDTH: usize = 80;

/// A cell of a table.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub enum Value {
    /// A text.
    Text(String),
    /// A number without a unit.
    Number(f64),
    /// A time in seconds.
    Seconds(f64),
    /// A number of bytes, shown with a unit.
    Bytes(f64),
    /// A ratio, shown as a multiple.
    Ratio(f64),
    /// A fraction, shown as a percentage.
    Share(f64),
    /// An age in seconds, shown in one or two units.
    Age(f64),
    /// No figure, because it is unknown or not applicable.
    Missing,
}

/// A table with a title, named columns and rows.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// The title; empty if the text above the table serves as one.
    pub title: String,
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The rows, each with one cell per column.
    pub rows: Vec<Vec<Value>>,
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Self::Number(number as f64)
    }
}

impl From<usize> for Value {
    fn from(number: usize) -> Self {
        Self::Number(number as f64)
    }
}

impl Value {
    /// Returns the figure as a cell with a unit, or [`Missing`](Self::Missing) if it is unknown.
    pub fn known(figure: Option<f64>, unit: fn(f64) -> Self) -> Self {
        let figure = figure.filter(|figure| figure.is_finite());
        figure.map_or(Self::Missing, unit)
    }

    /// Returns the cell in the form for programs: without a unit, and times in seconds.
    fn raw(&self) -> String {
        match self {
            Self::Text(text) if text.contains([',', '"', '\n']) => {
                format!("\"{}\"", text.replace('"', "\"\""))
            }
            Self::Text(text) => text.clone(),
            Self::Number(figure)
            | Self::Seconds(figure)
            | Self::Bytes(figure)
            | Self::Ratio(figure)
            | Self::Share(figure)
            | Self::Age(figure) => figure.to_string(),
            Self::Missing => String::new(),
        }
    }

    fn is_figure(&self) -> bool {
        match self {
            Self::Text(text) => {
                let unsigned = text.strip_prefix('-').unwrap_or(text);
                unsigned.starts_with(|c: char| c.is_ascii_digit())
            }
            _ => true,
        }
    }
}

/// Formats the cell for human readers.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Number(number) => f.write_str(&show_number(*number)),
            Self::Seconds(seconds) => f.write_str(&show_seconds(*seconds)),
            Self::Bytes(bytes) => f.write_str(&show_bytes(*bytes)),
            Self::Ratio(ratio) => f.write_str(&show_ratio(*ratio)),
            Self::Share(share) => write!(f, "{:.1} %", share * 100.0),
            Self::Age(seconds) => f.write_str(&show_age(Duration::from_secs_f64(*seconds))),
            Self::Missing => f.write_str("-"),
        }
    }
}

impl Table {
    /// Creates an empty table with these columns.
    pub fn new(columns: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            columns: columns.into_iter().map(Into::into).collect(),
            ..Self::default()
        }
    }

    /// Sets the title.
    pub fn titled(self, title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            ..self
        }
    }

    /// Appends a row, which must have one cell per column.
    pub fn row(&mut self, cells: impl IntoIterator<Item = impl Into<Value>>) {
        let cells: Vec<Value> = cells.into_iter().map(Into::into).collect();
        debug_assert_eq!(cells.len(), self.columns.len(), "one cell per column");
        self.rows.push(cells);
    }

    /// Returns the table as Markdown: all columns if `wide`, otherwise the first columns that fit
    /// into 80 characters.
    pub fn text(&self, wide: bool) -> String {
        if wide {
            self.first(self.columns.len())
        } else {
            self.fitted("--wide shows")
        }
    }

    /// Returns the first columns that fit into 80 characters. `where_rest` begins the note on the
    /// others, as in `--wide shows`.
    pub fn fitted(&self, where_rest: &str) -> String {
        let shown = self.fitting();
        let text = self.first(shown);
        match self.columns.len() - shown {
            0 => text,
            1 => format!(
                "{text}\n({where_rest} one more column: {})",
                self.columns[shown]
            ),
            more => format!("{text}\n({where_rest} {more} more columns)"),
        }
    }

    /// Returns the first `shown` columns.
    fn first(&self, shown: usize) -> String {
        let mut table = comfy_table::Table::new();
        table
            .load_preset(ASCII_MARKDOWN)
            .set_header(&self.columns[..shown]);
        for row in &self.rows {
            table.add_row(row[..shown].iter().map(cell));
        }
        table.trim_fmt()
    }

    /// Returns the number of columns that fit into [`WIDTH`] characters, at least 1.
    fn fitting(&self) -> usize {
        let cells = |column: usize| self.rows.iter().map(move |row| row[column].to_string());
        let mut used = 1;
        let fits = |column: &usize| {
            let name = self.columns[*column].chars().count();
            let widths = cells(*column).map(|text| text.chars().count());
            // Each cell has a space on either side and a vertical bar after it.
            used += widths.fold(name, usize::max) + 3;
            used <= WIDTH
        };
        (0..self.columns.len()).take_while(fits).count().max(1)
    }

    /// Appends the rows of `other`. The result has the columns of both tables.
    pub fn and(self, other: Self) -> Self {
        let new = |name: &&String| !self.columns.contains(name);
        let columns: Vec<String> = self
            .columns
            .iter()
            .chain(other.columns.iter().filter(new))
            .cloned()
            .collect();
        let mut both = Self::new(columns.clone()).titled(self.title.clone());
        for table in [self, other] {
            for row in &table.rows {
                let cell = |name: &String| {
                    let place = table.columns.iter().position(|other| other == name);
                    place.map_or(Value::Missing, |place| row[place].clone())
                };
                both.row(columns.iter().map(cell));
            }
        }
        both
    }

    /// Prints the table as Markdown or as comma-separated values.
    pub fn print(&self, format: TableFormat) -> Result<(), Failure> {
        to_stdout(|out| {
            if format.csv {
                out.write_all(self.csv().as_bytes())
            } else {
                writeln!(out, "{}", self.text(format.wide))
            }
        })
    }

    /// Returns the column names and the rows as comma-separated values.
    pub fn csv(&self) -> String {
        let line = |cells: Vec<String>| cells.join(",") + "\n";
        let columns = self
            .columns
            .iter()
            .map(|name| Value::Text(name.clone()).raw());
        let rows = self
            .rows
            .iter()
            .map(|row| line(row.iter().map(Value::raw).collect()));
        std::iter::once(line(columns.collect()))
            .chain(rows)
            .collect()
    }
}

/// Formats the table as Markdown, with the columns that fit.
impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(false))
    }
}

/// Aligns figures to the right, and escapes `|`, because it would end the cell.
fn cell(value: &Value) -> comfy_table::Cell {
    let alignment = if value.is_figure() {
        CellAlignment::Right
    } else {
        CellAlignment::Left
    };
    comfy_table::Cell::new(value.to_string().replace('|', "\\|")).set_alignment(alignment)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new(["name", "n", "time"]);
        table.row([
            Value::from("a | b"),
            Value::Number(7.0),
            Value::Seconds(0.5),
        ]);
        table
    }

    #[test]
    fn escapes_pipes() {
        let text = table().to_string();
        assert_eq!(text.lines().last(), Some("| a \\| b | 7 | 500.0 ms |"));
    }

    #[test]
    fn omits_columns_that_do_not_fit() {
        let mut table = Table::new(["name", "words", "time"]);
        table.row(["a".to_owned(), "b".repeat(60), "c".repeat(20)]);
        let text = table.to_string();
        assert!(text.lines().all(|line| line.len() <= WIDTH), "{text}");
        assert!(
            text.ends_with("(--wide shows one more column: time)"),
            "{text}"
        );
        assert!(table.text(true).contains("| time"));
    }

    #[test]
    fn combines_columns_of_two_tables() {
        let mut other = Table::new(["time", "ratio"]);
        other.row([Value::Seconds(2.0), Value::Ratio(3.0)]);
        let csv = table().and(other).csv();
        assert_eq!(csv, "name,n,time,ratio\na | b,7,0.5,\n,,2,3\n");
    }

    #[test]
    fn csv_omits_units_and_quotes_commas() {
        let mut table = table();
        table.row([Value::from("c, \"d\""), Value::Missing, Value::Ratio(2.0)]);
        assert_eq!(
            table.csv(),
            "name,n,time\na | b,7,0.5\n\"c, \"\"d\"\"\",,2\n"
        );
    }
}
