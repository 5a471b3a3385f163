//! `tidegate-lab compare iter`, with a fake cargo and fake programs, because building the real
//! programs takes a minute.
//!
//! The real programs are tested in `benches/iter`. The fake ones are scripts, so they run only on
//! Unix.

#![cfg(unix)]

use crate::support::{assert_contains, complaint, json, keys, lab, printed};
use assert_cmd::Command;
use serde_json::Value;

/// Creates the command, which runs fake programs. `fake` selects the defect of these programs.
fn sized(size: &str, fake: &str, arguments: &str) -> Command {
    let mut command = lab(&format!(
        "compare iter --size {size} --repeat 6 {arguments}"
    ));
    let cargo = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fake/cargo");
    command.env("CARGO", cargo).env("FAKE", fake);
    command
}

fn iter(fake: &str, arguments: &str) -> Command {
    sized("tiny", fake, arguments)
}

fn list<'a>(found: &'a Value, name: &str) -> &'a [Value] {
    found[name].as_array().unwrap()
}

/// Returns the chain, number of items, place and number of workers of each cell.
fn cells(found: &Value) -> Vec<(&str, u64, &str, u64)> {
    let cells = list(found, "cells").iter().map(|cell| {
        (
            cell["chain"].as_str().unwrap(),
            cell["items"].as_u64().unwrap(),
            cell["place"].as_str().unwrap(),
            cell["workers"].as_u64().unwrap(),
        )
    });
    cells.collect()
}

#[test]
fn each_side_takes_every_sample() {
    let found = json(&mut iter("", "--json --workers 1,2"));
    assert_eq!(keys(&found), ["rows", "cells", "facts"]);
    let mut expected = Vec::new();
    for workers in [1, 2] {
        for case in [
            "zip 10^3 inside",
            "zip 10^3 outside",
            "rev 1234 outside",
            "orx_rev 1234 outside",
            "call 0 install",
        ] {
            let stock = ["rayon", "orx"][usize::from(case.starts_with("orx"))];
            for (runtime, nanos) in [("tidegate", 200.0), (stock, 400.0)] {
                // In each of six samples, the fake programs report as many wake-ups as they have
                // workers.
                expected.push((case, runtime, workers, nanos, 6 * workers));
            }
        }
    }
    let rows = list(&found, "rows");
    let told = rows.iter().map(|row| {
        (
            row["case"].as_str().unwrap(),
            row["runtime"].as_str().unwrap(),
            row["workers"].as_u64().unwrap(),
            row["median_ns"].as_f64().unwrap(),
            row["wakeups"].as_u64().unwrap(),
        )
    });
    assert_eq!(told.collect::<Vec<_>>(), expected);
    for (row, version) in [
        (
            0,
            "{} as rayon-core 1.13.0 from this repository below rayon 1.12.0, rustc 1",
        ),
        (1, "1.12.0 on rayon-core 1.13.0 from the registry, rustc 1"),
        (6, "{} as tidegate-orx below orx-parallel 4.1.1, rustc 1"),
        (7, "4.1.1 on its own pool, rustc 1"),
    ] {
        assert_eq!(
            rows[row]["version"],
            version.replace("{}", env!("CARGO_PKG_VERSION"))
        );
    }
}

#[test]
fn cells_compare_the_two_sides() {
    let found = json(&mut iter("", "--json"));
    let expected = [
        ("zip", 1000, "inside", 2),
        ("zip", 1000, "outside", 2),
        ("rev", 1234, "outside", 2),
        ("orx_rev", 1234, "outside", 2),
        ("call", 0, "install", 2),
    ];
    assert_eq!(cells(&found), expected);
    for cell in list(&found, "cells") {
        for (field, value) in [
            ("stock_ns", 400.0),
            ("tidegate_ns", 200.0),
            ("ratio", 2.0),
            ("ratio_low", 2.0),
            ("ratio_high", 2.0),
        ] {
            assert_eq!(cell[field], value, "{field}");
        }
        assert_eq!(cell["slower"], false);
    }
    let found = json(&mut iter("slow", "--json"));
    let slower = |cell: &Value| cell["slower"] == true && cell["ratio"] == 0.5;
    assert!(list(&found, "cells").iter().all(slower), "{found}");
}

#[test]
fn size_selects_the_item_counts() {
    for (size, expected) in [
        ("tiny", &[1000][..]),
        ("small", &[1000, 1_000_000]),
        ("paper", &[1000, 1_000_000, 10_000_000]),
    ] {
        let found = json(&mut sized(size, "", "--json --chain zip"));
        let mut items: Vec<_> = cells(&found).iter().map(|cell| cell.1).collect();
        items.dedup();
        assert_eq!(items, expected, "{size}");
    }
}

#[test]
fn text_has_a_table_and_facts() {
    let text = printed(&mut iter("", ""));
    for told in [
        "| zip     |  1000 | inside  |       2 | 2.00x | 2.00x | 2.00x |      | 400 ns |",
        "CPU time idle after the chains on rayon 2: 0.004 % of one processor",
        "100 scopes inside of scopes on tidegate 1: finished, 512 B of stack a level",
    ] {
        assert!(text.lines().any(|line| line == told), "{told} in {text}");
    }
    let text = printed(&mut iter("slow", ""));
    assert!(text.contains("| 0.50x | 0.50x | 0.50x | slow |"), "{text}");
}

/// If the program that measures a fact overflows its stack, the fact has no value, and the
/// comparison continues.
#[test]
fn stack_overflow_is_a_missing_fact() {
    let found = json(&mut iter("shallow", "--json --chain rev"));
    let depth = list(&found, "facts")
        .iter()
        .filter(|fact| fact["what"].as_str().unwrap().contains("scopes"));
    assert!(depth.clone().count() == 4 && depth.clone().all(|fact| fact["value"].is_null()));
}

#[test]
fn chains_are_chosen_by_name() {
    let found = json(&mut iter("", "--json --chain rev --with rayon"));
    assert_eq!(cells(&found), [("rev", 1234, "outside", 2)]);
    let told = complaint(&mut iter("", "--chain rev,map"), 2);
    assert_contains(&told, &["\"map\": expected zip, rev, orx_rev, call"]);
    complaint(&mut lab("compare fib --chain rev"), 2);
    let told = complaint(&mut iter("", "--with rayon,chili"), 2);
    assert!(told.contains("--with allows only rayon"), "{told}");
}

#[test]
fn what_goes_wrong_is_told() {
    #[rustfmt::skip]
    let faults = [
        ("unbuilt", 3, "cargo did not build"),
        ("unnamed", 3, "named no program"),
        ("mute", 3, "did not answer at its start: it ended with exit status: 3"),
        ("rude", 3, "is not JSON"),
        ("unable", 3, "sent an unexpected first line: {\"error\":\"no pool of 2\"}"),
        ("alike", 3, "is linked with rayon-core 1.13.0 from the registry, which is Tidegate"),
        ("unpatched", 3, "is linked with rayon-core 1.13.0 from this repository, which is not Tidegate"),
        ("wrong", 1, "zip differs"),
        ("refused", 3, "not today"),
    ];
    for (fake, code, told) in faults {
        let text = complaint(&mut iter(fake, ""), code);
        assert!(text.contains(told), "{fake}: {text}");
    }
    let text = complaint(iter("", "").env("CARGO", "/no/cargo"), 3);
    assert!(text.contains("/no/cargo cannot be started"), "{text}");
}
