//! Reads cost files, which `tidegate-lab bench calibrate --json` prints.

use std::path::Path;

use serde::Deserialize;
use tidegate_sim::Costs;

use tidegate_cli_support::failure::Failure;
use tidegate_cli_support::input;
use tidegate_cli_support::standard::shown_input;

/// The fields that are read from a row of the file. Its other fields are for human readers.
#[derive(Deserialize)]
struct MeasuredCost {
    name: String,
    /// The cost in nanoseconds. `null` means that the cost could not be measured, so the default
    /// applies. A missing field is an error.
    #[serde(deserialize_with = "Option::deserialize")]
    nanos: Option<u64>,
}

/// Returns the default costs, except for those that the file overrides.
pub fn read(file: Option<&Path>) -> Result<Costs, Failure> {
    let mut costs = Costs::default();
    let Some(file) = file else {
        return Ok(costs);
    };
    let refused = |what: String| Failure::Usage(format!("{}: {what}", shown_input(file)));
    let rows: Vec<MeasuredCost> = serde_json::from_str(&input::text(file)?).map_err(|error| {
        refused(format!(
            "{error}: expected a list of costs as printed by `tidegate-lab bench calibrate --json`"
        ))
    })?;
    for (number, row) in rows.iter().enumerate() {
        if rows[..number].iter().any(|other| other.name == row.name) {
            return Err(refused(format!(
                "duplicate cost {}: expected each cost once",
                row.name
            )));
        }
        let mut all = costs.rows().into_iter();
        let Some((tunable, cost)) = all.find(|(tunable, _)| tunable.name == row.name) else {
            let names = Costs::default().rows().map(|(tunable, _)| tunable.name);
            let error = tidegate_policy::unknown("cost", &row.name, &names);
            return Err(refused(error.to_string()));
        };
        if let Some(nanos) = row.nanos {
            *cost = tunable
                .check(nanos)
                .map_err(|error| refused(error.to_string()))?;
        }
    }
    Ok(costs)
}
