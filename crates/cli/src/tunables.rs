//! `tidegate tunables`: lists all tuning parameters.

use tidegate_policy::tunables::rows;

use tidegate_cli_support::arguments::TableFormat;
use tidegate_cli_support::failure::Failure;
use tidegate_cli_support::output::Value as Cell;
use tidegate_cli_support::output::sheet::{Column, Field, Sheet};

/// Puts the most important columns first.
pub fn print(format: TableFormat) -> Result<(), Failure> {
    let columns = [
        "name", "default", "variable", "unit", "basis", "range", "reason",
    ];
    let mut sheet = Sheet::new(&columns.map(|name| Column::new(name, name, Cell::Number, "")));
    for row in rows() {
        sheet.row([
            Field::text(row.name),
            Field::text(row.default),
            row.variable.map_or(Field::NONE, Field::text),
            Field::text(row.unit.to_string()),
            Field::text(row.basis.to_string()),
            Field::text(row.allowed),
            Field::text(row.why),
        ]);
    }
    sheet.print(format, &[])
}
