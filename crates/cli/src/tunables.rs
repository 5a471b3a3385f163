//! `tidegate tunables`: everything that can be set, from the one table of it.

use serde_json::{Value, json};
use tidegate_policy::tunables::{Row, Unit, rows};

use tidegate_command::arguments::Format;
use tidegate_command::failure::Failure;
use tidegate_command::output;

/// Carries the subcommand out.
pub fn print(format: Format) -> Result<(), Failure> {
    let rows = rows();
    if format.json {
        return output::print_json(&rows.iter().map(to_json).collect());
    }
    output::to_stdout(|out| {
        rows.iter()
            .try_for_each(|row| writeln!(out, "{}", to_text(row)))
    })
}

/// A line with the values and one with the reason.
fn to_text(row: &Row) -> String {
    let unit = match row.unit {
        Unit::Count(things) => format!(" {things}"),
        _ => String::new(),
    };
    let variable = row.variable.unwrap_or("no variable");
    format!(
        "{} = {}{unit}   [{}] [{variable}] [{}]\n    {}",
        row.name, row.default, row.allowed, row.basis, row.why
    )
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
