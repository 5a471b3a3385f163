//! `tidegate jobs`: lists the jobs that currently share the machine.
//!
//! The command reads the table only once, so it can't report whether a job is stalled. It neither
//! joins the table nor creates one.

use serde_json::{Value, json};
use tidegate_share::{Location, Observer};

use crate::roster::{self, Row};
use tidegate_command::arguments::TableFormat;
use tidegate_command::failure::Failure;
use tidegate_command::output;

pub fn print(format: TableFormat) -> Result<(), Failure> {
    let location = roster::find()?;
    let rows = look(&location)?;
    if format.json {
        return output::print_json(&to_json(&location, rows.as_deref()));
    }
    if format.csv {
        return roster::table(rows.as_deref().unwrap_or_default()).print(format);
    }
    let place = roster::place(&location);
    output::to_stdout(|out| match rows.as_deref() {
        None => writeln!(out, "no jobs: there is no table at {place}"),
        Some([]) => writeln!(out, "no jobs in the table at {place}"),
        Some(rows) => {
            let jobs = output::show_count(rows.len(), "job");
            writeln!(out, "{jobs} in the table at {place}")?;
            writeln!(out, "{}", roster::table(rows).text(format.wide))
        }
    })
}

/// Returns the jobs in the table, or `None` if there is no table.
fn look(location: &Location) -> Result<Option<Vec<Row>>, Failure> {
    let jobs = Observer::open(location)
        .and_then(|observer| observer.map(|mut observer| observer.jobs()).transpose())
        .map_err(|refusal| roster::refused(&refusal))?;
    Ok(jobs.map(|jobs| jobs.iter().map(Row::from).collect()))
}

fn to_json(location: &Location, rows: Option<&[Row]>) -> Value {
    json!({
        "table": location.path().to_string_lossy(),
        "why": location.why(),
        "exists": rows.is_some(),
        "jobs": rows.unwrap_or_default().iter().map(Row::to_json).collect::<Vec<_>>(),
    })
}
