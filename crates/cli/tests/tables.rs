//! Tests the tables of `tidegate machine` and `tidegate tunables`.

mod support;

use support::{complaint, json, keys, tidegate};
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
        "affinity", "usable", "quotas", "cores", "caches", "nodes", "packages", "notes",
    ] {
        assert!(found.get(field).is_some(), "{field}");
    }
    let output = tidegate("machine").assert().success();
    let text = String::from_utf8(output.get_output().stdout.clone()).unwrap();
    assert!(text.contains(&machine.reason()), "{text}");
}

#[test]
fn worker_variable_is_a_reason() {
    let found = json(tidegate("machine --json").env("TIDEGATE_WORKERS", "3"));
    assert_eq!(
        (&found["workers"], &found["why"]),
        (&3.into(), &"set by TIDEGATE_WORKERS".into())
    );
    let text = complaint(tidegate("machine").env("TIDEGATE_WORKERS", "none"), 2);
    assert!(text.contains("TIDEGATE_WORKERS"), "{text}");
}

#[test]
fn tunables_are_listed_with_details() {
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
