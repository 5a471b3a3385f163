//! Tests `tidegate compare`.

use crate::support::{complaint, json, messages, printed, tidegate};
use serde_json::Value;
use tidegate_workloads::registry::ENTRIES;

fn rows(arguments: &str) -> Vec<Value> {
    let found = json(&mut tidegate(&format!("{arguments} --size tiny --json")));
    found.as_array().unwrap().clone()
}

/// Returns the runtime and the number of workers of a row.
fn lane(row: &Value) -> (&str, u64) {
    let workers = row["workers"].as_u64().unwrap();
    (row["runtime"].as_str().unwrap(), workers)
}

fn lanes(rows: &[Value]) -> Vec<(&str, u64)> {
    rows.iter().map(lane).collect()
}

#[test]
fn programs_are_compared_on_every_runtime() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a"), "a").unwrap();
    for entry in ENTRIES {
        let path = match entry.name {
            "digest" => folder.path().to_str().unwrap(),
            _ => "",
        };
        let rows = rows(&format!(
            "compare {} {path} --workers 2 --repeat 1",
            entry.name
        ));
        let mut expected = vec![("serial", 1), ("2xserial", 2)];
        expected.extend(["tidegate", "rayon", "chili", "std"].map(|name| (name, 2)));
        assert_eq!(lanes(&rows), expected, "{}", entry.name);
        let tidegate = &rows[2];
        assert_eq!(tidegate["case"], entry.name);
        assert_eq!(tidegate["repetitions"], 1);
        assert!(
            tidegate["ratio_to_serial"].as_f64().unwrap() > 0.0,
            "{tidegate}"
        );
        // rayon has neither intervals nor priorities, so it cannot run these programs.
        let alone = entry.intervals || entry.name == "sssp";
        let ratio = tidegate["ratio_to_rayon"].as_f64();
        assert_eq!(ratio.is_none(), alone, "{tidegate}");
        assert!(ratio.is_none_or(|ratio| ratio > 0.0), "{tidegate}");
        assert_eq!(rows[3]["median_ns"].is_null(), alone);
    }
}

#[test]
fn tidegate_runs_beside_chosen_rivals() {
    let rows = rows("compare fib 12 --with chili --workers 1,2 --repeat 2");
    let expected = [("tidegate", 1), ("chili", 1), ("tidegate", 2), ("chili", 2)];
    assert_eq!(lanes(&rows), expected);
    assert!(rows[0]["ratio_to_rayon"].is_null() && rows[0]["ratio_to_serial"].is_null());
}

/// The output must state why the lane is not applicable.
#[test]
fn unsupported_locality_is_not_applicable() {
    let compared = "compare mergesort --locality best --with rayon --workers 2 --repeat 1";
    let rows = rows(compared);
    assert!(rows[0]["median_ns"].is_number() && rows[1]["median_ns"].is_null());
    let text = printed(&mut tidegate(&format!("{compared} --size tiny")));
    let told =
        "invalid value \"best\" for locality: expected \"ignorant\", because rayon has no places";
    assert!(text.contains(told), "{text}");
}

#[test]
fn unsupported_body_is_not_applicable() {
    let rows = rows("compare uts --form spawn --with chili,std --workers 2 --repeat 1");
    for row in &rows[1..] {
        assert_eq!(row["median_ns"], Value::Null);
        assert_eq!(row["repetitions"], 0);
    }
    let line = "compare uts --form spawn --with std --workers 2 --repeat 1 --size tiny";
    let text = printed(&mut tidegate(line));
    assert!(text.contains("not supported by that runtime"), "{text}");
}

#[test]
fn compare_table_names_runtime_versions() {
    let line = "compare fib 10 --with rayon,std --workers 1 --repeat 1";
    let text = printed(&mut tidegate(line));
    let first = text.lines().next().unwrap();
    for version in ["tidegate 0.", "rayon 1.", "std rustc 1."] {
        assert!(first.contains(version), "{first}");
    }
    assert!(
        text.lines().any(|line| line.starts_with("| case")),
        "{text}"
    );
}

/// The CSV output must have all columns, and the table without `--wide` must fit in 80 columns.
#[test]
fn compare_csv_has_all_columns() {
    let print = |format: &str| {
        let line = format!("compare fib 10 --with serial --workers 1 --repeat 1 {format}");
        printed(&mut tidegate(&line))
    };
    let table = |text: &str| -> Vec<String> {
        let lines = text.lines().filter(|line| line.starts_with('|'));
        lines.map(str::to_owned).collect()
    };
    let narrow = print("");
    assert!(table(&narrow).iter().all(|line| line.len() <= 80));
    assert!(narrow.contains("(--wide shows "), "{narrow}");
    let wide = print("--wide");
    assert!(table(&wide)[0].ends_with("| wakeups |"), "{wide}");
    let csv = print("--csv");
    let columns = csv.lines().map(|line| line.split(',').count());
    assert!(columns.eq([14; 3]), "{csv}");
}

#[test]
fn compared_pools_follow_sharing_flags() {
    let flags = "--share on --weight 300 --desire wsap --est-cycle 1ms";
    let line = format!("compare fib 10 --with chili --workers 1 --size tiny --repeat 1 {flags}");
    let mut command = tidegate(&line);
    command.env("TIDEGATE_EXPLAIN", "1");
    // Test with and without the variable, which a user may have set.
    for stack in [None, Some("1000000")] {
        command.envs(stack.map(|stack| ("RUST_MIN_STACK", stack)));
        let told = messages(&mut command);
        let differing = "share=on weight=300 desire=wsap est-cycle=1ms";
        assert!(told.contains(differing), "{told}");
    }
}

#[test]
fn compare_reports_bad_variables_like_run() {
    for variable in ["TIDEGATE_IDLE", "TIDEGATE_STEAL", "TIDEGATE_STACK_SIZE"] {
        let told = |arguments: &str| complaint(tidegate(arguments).env(variable, "bad"), 2);
        assert_eq!(told("compare fib 10 --workers 2"), told("run fib 10"));
    }
}
