//! `tidegate-lab compare`: every case except `iter`, whose tests are in `iter.rs`.

use crate::support::{complaint, json, lab, rewrite_runs};
use serde_json::Value;

fn rows(arguments: &str) -> Vec<Value> {
    let found = json(&mut lab(&format!("{arguments} --size tiny --json")));
    found.as_array().unwrap().clone()
}

#[test]
fn every_case_gives_its_rows() {
    #[rustfmt::skip]
    let cases = [
        ("wake", &["wake of a bare futex", "wake inside", "wake outside, join", "wake outside, install"][..]),
        ("idle", &["idle pool", "serial phases inside", "serial phases outside"]),
        ("join-arms", &["join-arms"]),
        ("hidden", &["hidden"]),
        ("loop", &["loop inside", "loop outside"]),
        ("spawn", &["spawn inside", "spawn outside", "spawn and join"]),
    ];
    for (case, names) in cases {
        let rows = rows(&format!("compare {case} --repeat 1 --workers 2"));
        let found = rows.iter().map(|row| row["case"].as_str().unwrap());
        let mut found = Vec::from_iter(found);
        found.dedup();
        assert_eq!(found, names);
        for name in names.iter().filter(|name| !name.ends_with("futex")) {
            let of_tidegate = |row: &&Value| row["case"] == *name && row["runtime"] == "tidegate";
            assert!(rows.iter().any(|row| of_tidegate(&row)), "{name}");
        }
    }
}

#[test]
fn resumed_lanes_are_not_measured_again() {
    let folder = tempfile::tempdir().unwrap();
    let rows = |more: &str| {
        let mut compare = lab("compare join-arms --size tiny --repeat 2 --workers 2 --json --dir");
        json(compare.arg(folder.path()).args(more.split_whitespace()))
    };
    rows("");
    let file = folder.path().join("compare-join-arms-tiny.jsonl");
    rewrite_runs(&file, |run| run["nanos"] = 7.0.into());
    for row in rows("--resume").as_array().unwrap() {
        let ends = ["median_low_ns", "median_ns", "median_high_ns"].map(|field| &row[field]);
        assert_eq!(ends, [7.0; 3], "{row}");
    }
}

#[test]
fn reports_a_bad_environment_variable() {
    for variable in ["TIDEGATE_IDLE", "TIDEGATE_STEAL", "TIDEGATE_STACK_SIZE"] {
        let text = complaint(lab("compare wake --workers 2").env(variable, "bad"), 2);
        assert!(text.contains(variable), "{text}");
    }
}
