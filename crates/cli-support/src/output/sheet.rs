//! Rows with the same columns, printed as a table or as JSON objects.

use serde_json::{Map, Value, json};

use super::{Table, Value as Cell, describe_all, print_json, to_stdout};
use crate::arguments::TableFormat;
use crate::failure::Failure;
use crate::statistics::Interval;

/// A column of the table and a field of the JSON objects.
#[derive(Clone, Copy)]
pub struct Column {
    /// The name of the JSON field. A measured figure adds two fields for the ends of its interval,
    /// with the suffixes `_low` and `_high`.
    pub field: &'static str,
    /// The heading in the table, or empty if only JSON has the column. The table shows the ends of
    /// all intervals in its last columns.
    title: &'static str,
    /// Formats a figure with its unit.
    unit: fn(f64) -> Cell,
    meaning: &'static str,
}

/// The entry of a row in one column.
#[derive(Clone, Debug)]
pub enum Field {
    /// A text.
    Text(String),
    /// Yes or no.
    Flag(bool),
    /// A whole number of any size, shown in full.
    Whole(u64),
    /// A number without an interval; `None` if it is missing.
    Number(Option<f64>),
    /// A measured number with its interval.
    Measured(Interval),
}

/// Rows with the same columns.
#[derive(Clone)]
pub struct Sheet {
    columns: Vec<Column>,
    rows: Vec<Vec<Field>>,
}

impl Column {
    /// Creates a column with these names, this unit, and what the help says about it.
    pub const fn new(
        field: &'static str,
        title: &'static str,
        unit: fn(f64) -> Cell,
        meaning: &'static str,
    ) -> Self {
        Self {
            field,
            title,
            unit,
            meaning,
        }
    }
}

/// Returns a list of [`Column`]s. Each row has a field, the title, the unit, and what the help says.
#[macro_export]
macro_rules! columns {
    ($($field:ident $title:literal $unit:expr, $meaning:literal;)*) => {
        &[$($crate::output::sheet::Column::new(stringify!($field), $title, $unit, $meaning)),*]
    };
}

/// Returns what the help says about these columns.
pub fn describe_columns<'a>(columns: impl IntoIterator<Item = &'a Column>) -> String {
    let columns = columns.into_iter();
    describe_all(columns.map(|column| (column.field, column.meaning)))
}

impl Field {
    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// A number without an interval.
    pub fn number(number: impl Into<f64>) -> Self {
        Self::Number(Some(number.into()))
    }

    /// A whole number.
    pub fn count(count: usize) -> Self {
        Self::Number(Some(count as f64))
    }

    /// The entry for a column that does not apply to the row.
    pub const NONE: Self = Self::Number(None);

    fn cell(&self, unit: fn(f64) -> Cell) -> Cell {
        match self {
            Self::Text(text) => text.as_str().into(),
            Self::Flag(flag) => if *flag { "yes" } else { "no" }.into(),
            Self::Whole(number) => number.to_string().into(),
            Self::Number(number) => Cell::known(*number, unit),
            Self::Measured(interval) => Cell::known(Some(interval.value), unit),
        }
    }
}

/// Converts a number to JSON, without a fraction if it is whole.
pub fn number(number: f64) -> Value {
    if number.fract() == 0.0 && number.abs() < 2_f64.powi(53) {
        json!(number as i64)
    } else {
        json!(number)
    }
}

impl Sheet {
    /// Creates a sheet without rows.
    pub fn new(columns: &[Column]) -> Self {
        Self {
            columns: columns.to_vec(),
            rows: Vec::new(),
        }
    }

    /// Adds a row, which must have one entry per column.
    pub fn row(&mut self, row: impl Into<Vec<Field>>) {
        let row = row.into();
        assert_eq!(row.len(), self.columns.len(), "a field for each column");
        self.rows.push(row);
    }

    /// Whether any row has an interval in this column.
    fn is_measured(&self, column: usize) -> bool {
        let mut rows = self.rows.iter();
        rows.any(|row| matches!(row[column], Field::Measured(_)))
    }

    /// Returns a JSON object for each row.
    pub fn to_json(&self) -> Value {
        let row = |row: &Vec<Field>| {
            let mut fields = Map::new();
            for (place, (column, field)) in self.columns.iter().zip(row).enumerate() {
                let name = column.field;
                let ends = match field {
                    Field::Measured(Interval { low, high, .. }) => [*low, *high],
                    _ => [f64::NAN; 2],
                };
                let value = match field {
                    Field::Text(text) => json!(text),
                    Field::Flag(flag) => json!(flag),
                    Field::Whole(number) => json!(number),
                    Field::Number(known) => known.map_or(Value::Null, number),
                    Field::Measured(interval) => number(interval.value),
                };
                fields.insert(name.to_owned(), value);
                if self.is_measured(place) {
                    for (end, value) in ["low", "high"].into_iter().zip(ends) {
                        fields.insert(format!("{name}_{end}"), number(value));
                    }
                }
            }
            Value::Object(fields)
        };
        self.rows.iter().map(row).collect()
    }

    /// Returns the table.
    pub fn to_table(&self) -> Table {
        let shown = || {
            let columns = self.columns.iter().enumerate();
            columns.filter(|(_, column)| !column.title.is_empty())
        };
        let measured = || shown().filter(|(place, _)| self.is_measured(*place));
        let titles = shown().map(|(_, column)| column.title.to_owned());
        let ends = measured()
            .flat_map(|(_, column)| ["low", "high"].map(|end| format!("{}, {end}", column.title)));
        let mut table = Table::new(titles.chain(ends));
        for row in &self.rows {
            let cells = shown().map(|(place, column)| row[place].cell(column.unit));
            let ends = measured().flat_map(|(place, column)| match &row[place] {
                Field::Measured(Interval { low, high, .. }) => {
                    [low, high].map(|end| Cell::known(Some(*end), column.unit))
                }
                _ => [Cell::Missing, Cell::Missing],
            });
            table.row(cells.chain(ends));
        }
        table
    }

    /// Prints the rows, and `notes` below the table.
    pub fn print(&self, format: TableFormat, notes: &[String]) -> Result<(), Failure> {
        if format.json {
            return print_json(&self.to_json());
        }
        self.to_table().print(format)?;
        print_notes(format, notes)
    }
}

/// Prints notes below a table. Does nothing if the format is CSV.
pub fn print_notes(format: TableFormat, notes: &[String]) -> Result<(), Failure> {
    if format.csv || notes.is_empty() {
        return Ok(());
    }
    to_stdout(|out| {
        writeln!(out)?;
        notes.iter().try_for_each(|note| writeln!(out, "{note}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: &[Column] = columns! {
        name "name" Cell::Number, "";
        runs "" Cell::Number, "";
        nanos "time" |nanos| Cell::Seconds(nanos / 1e9), "";
    };

    fn sheet() -> Sheet {
        let mut sheet = Sheet::new(COLUMNS);
        let nanos = Interval {
            value: 2e6,
            low: 1e6,
            high: 3.5e6,
        };
        let measured = Field::Measured(nanos);
        sheet.row([Field::text("one"), Field::count(3), measured]);
        sheet.row([Field::text("two"), Field::count(3), Field::NONE]);
        sheet
    }

    #[test]
    fn programs_see_ends_of_intervals() {
        let ends = json!([
            {"name": "one", "runs": 3, "nanos": 2_000_000, "nanos_low": 1_000_000, "nanos_high": 3_500_000},
            {"name": "two", "runs": 3, "nanos": null, "nanos_low": null, "nanos_high": null},
        ]);
        assert_eq!(sheet().to_json(), ends);
    }

    #[test]
    fn people_see_ends_of_intervals_last() {
        let table = sheet().to_table();
        assert_eq!(table.columns, ["name", "time", "time, low", "time, high"]);
        assert_eq!(table.rows[0][3], Cell::Seconds(3.5e-3));
        assert_eq!(
            table.rows[1][1..],
            [Cell::Missing, Cell::Missing, Cell::Missing]
        );
    }
}
