//! A file of costs, as `tidegate-lab bench calibrate --json` prints it.

use std::path::Path;

use serde::Deserialize;
use tidegate_sim::Costs;

use tidegate_command::failure::Failure;
use tidegate_command::input;
use tidegate_command::standard::shown_input;

/// A row. What else it has is for people.
#[derive(Deserialize)]
struct Row {
    name: String,
    /// Null where it could not be measured: then the default holds. Only null says so, a field that is left out is a mistake.
    #[serde(deserialize_with = "Option::deserialize")]
    nanos: Option<u64>,
}

/// The defaults, and in their place what the file says, if there is one.
pub fn read(file: Option<&Path>) -> Result<Costs, Failure> {
    let mut costs = Costs::default();
    let Some(file) = file else {
        return Ok(costs);
    };
    let refused = |what: String| Failure::Usage(format!("{}: {what}", shown_input(file)));
    let rows: Vec<Row> = serde_json::from_str(&input::text(file)?).map_err(|error| {
        refused(format!(
            "{error}; allowed: a list of costs as `tidegate-lab bench calibrate --json` prints it"
        ))
    })?;
    for (number, row) in rows.iter().enumerate() {
        if rows[..number].iter().any(|other| other.name == row.name) {
            return Err(refused(format!(
                "{} stands there twice; allowed: each cost once",
                row.name
            )));
        }
        let mut all = costs.rows().into_iter();
        let Some((tunable, cost)) = all.find(|(tunable, _)| tunable.name == row.name) else {
            let names = Costs::default().rows().map(|(tunable, _)| tunable.name);
            return Err(refused(format!(
                "{:?} is no cost; allowed: {}",
                row.name,
                names.join(", ")
            )));
        };
        if let Some(nanos) = row.nanos {
            *cost = tunable
                .check(nanos)
                .map_err(|error| refused(error.to_string()))?;
        }
    }
    Ok(costs)
}
