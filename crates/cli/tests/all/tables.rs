//! Tests the tables of `tidegate machine` and `tidegate tunables`.

use crate::support::{complaint, json, text, tidegate};
use tidegate::machine::Machine;

#[test]
fn machine_explains_its_worker_count() {
    let machine = Machine::read();
    let found = json(&mut tidegate("machine --json"));
    assert_eq!(found["workers"], machine.default_workers());
    assert_eq!(found["why"], machine.reason());
    assert_eq!(
        found["online"].as_array().unwrap().len(),
        machine.cpus_online()
    );
    for field in [
        "affinity", "usable", "quotas", "grants", "cores", "caches", "nodes", "packages", "notes",
    ] {
        assert!(found.get(field).is_some(), "{field}");
    }
    let text = text(&mut tidegate("machine"));
    assert!(text.contains(&machine.reason()), "{text}");
}

#[test]
fn worker_variable_is_a_reason() {
    let found = json(tidegate("machine --json").env("TIDEGATE_WORKERS", "3"));
    assert_eq!(found["workers"], 3);
    assert_eq!(found["why"], "set by TIDEGATE_WORKERS");
    let text = complaint(tidegate("machine").env("TIDEGATE_WORKERS", "none"), 2);
    assert!(text.contains("TIDEGATE_WORKERS"), "{text}");
}

/// One CPU is the least that any machine has, so the engine determines the number.
#[test]
fn engine_variable_is_a_reason() {
    let found = json(
        tidegate("machine --json")
            .env_remove("SLURM_CPUS_PER_TASK")
            .env("HQ_CPUS", "5"),
    );
    assert_eq!(found["workers"], 1);
    let why = found["why"].as_str().unwrap();
    assert!(why.contains(" cpus: 1 cpu listed by HQ_CPUS"), "{why}");
    let grant = serde_json::json!([{ "variable": "HQ_CPUS", "cpus": 1 }]);
    assert_eq!(found["grants"], grant);
}

#[test]
fn malformed_engine_variable_is_noted() {
    let mut command = tidegate("machine --json");
    let found = json(command.env("HQ_CPUS", "two"));
    let expected = "invalid value \"two\" for HQ_CPUS: expected a list of CPU ids such as 0,1,5";
    assert_eq!(found["notes"][0], expected);
    assert!(found["why"].as_str().unwrap().contains(expected));
}

#[test]
fn explicit_number_overrules_the_engine() {
    let mut command = tidegate("machine --json");
    let found = json(command.env("TIDEGATE_WORKERS", "3").env("HQ_CPUS", "5"));
    assert_eq!(found["workers"], 3);
    assert_eq!(found["why"], "set by TIDEGATE_WORKERS");
}

#[test]
fn tunables_are_listed_with_details() {
    let found = json(&mut tidegate("tunables --json"));
    let found = found.as_array().unwrap();
    let rows = tidegate_policy::tunables::rows();
    assert_eq!(found.len(), rows.len());
    for (row, found) in rows.iter().zip(found) {
        assert_eq!(found["name"], row.name);
        assert_eq!(found["reason"], row.why);
    }
}

#[test]
fn the_version_is_printed() {
    tidegate("--version").assert().success().stdout(concat!(
        "tidegate ",
        env!("CARGO_PKG_VERSION"),
        "\n"
    ));
}
