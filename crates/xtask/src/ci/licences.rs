//! Every dependency's licence is one that the project accepts.
//!
//! The list is in `deny.toml`, where cargo-deny reads it too. What the files of a dependency say is not compared with
//! what its manifest says.

use std::collections::BTreeSet;
use std::fs;
use std::iter;

use serde_json::Value;
use spdx::{Expression, LicenseReq, ParseMode};

use crate::beside;
use crate::step::Outcome;
use crate::workspace::{Workspace, list, metadata, text};

const CONFIGURATION: &str = "deny.toml";

/// Compares the licence of every package in a lock file, the workspace's or one beside it, with the list.
pub fn check(workspace: &Workspace) -> Outcome {
    accepted(workspace)
        .and_then(|accepted| compare(workspace, &accepted))
        .into()
}

fn compare(workspace: &Workspace, accepted: &[String]) -> Result<Outcome, String> {
    let mut looked_at = BTreeSet::new();
    let mut refused = Vec::new();
    for folder in iter::once("").chain(beside::checked().map(|beside| beside.folder)) {
        let found = metadata(
            &workspace.root.join(folder),
            &["--all-features", "--locked"],
        )?;
        for package in list(&found, "packages")? {
            if looked_at.insert(text(package, "id")?) {
                refused.extend(refusal(package, accepted)?);
            }
        }
    }
    Ok(if refused.is_empty() {
        Outcome::Passed(format!("{} packages", looked_at.len()))
    } else {
        Outcome::Failed(refused.join("\n"))
    })
}

/// The licences in `deny.toml`.
fn accepted(workspace: &Workspace) -> Result<Vec<String>, String> {
    let trouble = |error: &dyn std::fmt::Display| format!("{CONFIGURATION}: {error}");
    let text =
        fs::read_to_string(workspace.root.join(CONFIGURATION)).map_err(|error| trouble(&error))?;
    let table: toml::Table = text.parse().map_err(|error| trouble(&error))?;
    let allow = table
        .get("licenses")
        .and_then(|licences| licences.get("allow"))
        .and_then(toml::Value::as_array);
    let allow = allow.ok_or_else(|| trouble(&"has no list licenses.allow"))?;
    allow
        .iter()
        .map(|name| {
            name.as_str()
                .map(str::to_string)
                .ok_or_else(|| trouble(&"licenses.allow holds more than names"))
        })
        .collect()
}

/// Why the package may not be used, if so.
fn refusal(package: &Value, accepted: &[String]) -> Result<Option<String>, String> {
    let name = text(package, "name")?;
    let Some(licence) = package["license"].as_str() else {
        return Ok(Some(format!("{name} names no licence")));
    };
    let expression = match Expression::parse_mode(licence, ParseMode::LAX) {
        Ok(expression) => expression,
        Err(error) => {
            return Ok(Some(format!(
                "{name}: {licence} is no licence expression: {}",
                error.reason
            )));
        }
    };
    let allowed = |licence: &LicenseReq| accepted.contains(&licence.to_string());
    Ok((!expression.evaluate(allowed))
        .then(|| format!("{name}: {licence} is not in {CONFIGURATION}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn refused(licence: &str) -> bool {
        let accepted = [
            "MIT".to_string(),
            "Apache-2.0 WITH LLVM-exception".to_string(),
        ];
        refusal(&json!({ "name": "x", "license": licence }), &accepted)
            .unwrap()
            .is_some()
    }

    #[test]
    fn one_accepted_alternative_is_enough_and_every_part_of_a_sum_is_needed() {
        assert!(!refused("MIT OR GPL-3.0-only"));
        assert!(!refused("GPL-3.0-only/MIT"));
        assert!(refused("MIT AND GPL-3.0-only"));
        assert!(refused("GPL-3.0-only"));
    }

    #[test]
    fn an_exception_is_part_of_the_licence() {
        assert!(!refused("Apache-2.0 WITH LLVM-exception"));
        assert!(refused("Apache-2.0"));
    }

    #[test]
    fn no_licence_or_nonsense_is_refused() {
        assert!(refused("do what you like"));
        assert!(
            refusal(&json!({ "name": "x", "license": null }), &[])
                .unwrap()
                .is_some()
        );
    }
}
