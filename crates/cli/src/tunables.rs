//! `tidegate tunables`: lists all tuning parameters.

use serde_json::{Value, json};
use tidegate_policy::tunables::{Row, rows};

use tidegate_command::arguments::TableFormat;
use tidegate_command::failure::Failure;
use tidegate_command::output::{self, Table, Value as Cell};

pub fn print(format: TableFormat) -> Result<(), Failure> {
    let rows = rows();
    if format.json {
        return output::print_json(&rows.iter().map(to_json).collect());
    }
    table(&rows).print(format)
}

/// Puts the most important columns first.
fn table(rows: &[Row]) -> Table {
    let mut table = Table::new([
        "name", "default", "variable", "unit", "basis", "range", "reason",
    ]);
    for row in rows {
        table.row([
            row.name.into(),
            row.default.as_str().into(),
            row.variable.map_or(Cell::Missing, Cell::from),
            row.unit.to_string().into(),
            row.basis.to_string().into(),
            row.allowed.as_str().into(),
            row.why.into(),
        ]);
    }
    table
}

fn to_json(row: &Row) -> Value {
    json!({
        "name": row.name,
        "unit": row.unit.to_string(),
        "range": row.allowed,
        "default": row.default,
        "variable": row.variable,
        "basis": row.basis.to_string(),
        "reason": row.why,
    })
}
