//! `tidegate machine` and `tidegate tunables`.

mod support;

use support::{complaint, json, keys, tidegate};
use tidegate::machine::Machine;

#[test]
fn the_machine_is_told_with_the_reason_for_the_workers() {
    let machine = Machine::read();
    let found = json(&mut tidegate("machine --json"));
    assert_eq!(found["workers"], machine.default_workers());
    assert_eq!(found["why"], machine.reason());
    assert_eq!(
        found["online"].as_array().unwrap().len(),
        machine.cpus_online()
    );
    for field in [
        "affinity", "usable", "quotas", "cores", "caches", "nodes", "packages", "notes",
    ] {
        assert!(found.get(field).is_some(), "{field}");
    }
    let output = tidegate("machine").assert().success();
    let text = String::from_utf8(output.get_output().stdout.clone()).unwrap();
    assert!(text.contains(&machine.reason()), "{text}");
}

#[test]
fn the_variable_for_workers_is_a_reason_too() {
    let found = json(tidegate("machine --json").env("TIDEGATE_WORKERS", "3"));
    assert_eq!(
        (&found["workers"], &found["why"]),
        (&3.into(), &"set by TIDEGATE_WORKERS".into())
    );
    let text = complaint(tidegate("machine").env("TIDEGATE_WORKERS", "none"), 2);
    assert!(text.contains("TIDEGATE_WORKERS"), "{text}");
}

#[test]
fn every_tunable_is_listed_with_unit_range_default_basis_and_reason() {
    let found = json(&mut tidegate("tunables --json"));
    let found = found.as_array().unwrap();
    let rows = tidegate_policy::tunables::rows();
    assert_eq!(found.len(), rows.len());
    for (row, found) in rows.iter().zip(found) {
        let expected = [
            "name", "unit", "range", "default", "variable", "basis", "reason",
        ];
        assert_eq!(keys(found), expected);
        assert_eq!(
            (&found["name"], &found["reason"]),
            (&row.name.into(), &row.why.into())
        );
    }
}

#[test]
fn the_version_is_printed() {
    tidegate("--version")
        .assert()
        .success()
        .stdout("tidegate 0.2.0\n");
}
