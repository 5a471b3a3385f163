//! Snapshots of help texts, tables and messages that are the same on every machine.
//!
//! `INSTA_UPDATE=always cargo test -p tidegate-cli --test all shown` updates them.
#![cfg(target_os = "linux")]

use crate::support::jobs::Home;
use crate::support::{assert_shown, assert_text, json, tidegate};
use serde_json::Value;

#[test]
fn helps() {
    #[rustfmt::skip]
    let commands = [
        "", "run", "run fib", "run digest", "compare", "compare fib", "sim", "sim fib", "sim jobs",
        "replay", "machine", "tunables", "jobs", "top", "table", "table check", "exec", "fan",
        "fan plan", "fan plan uts", "fan plan digest", "fan plan sim", "fan piece", "fan merge",
    ];
    for command in commands {
        let line = format!("{command} --help");
        assert_shown(&format!("help {command}"), &[line.trim()], tidegate);
    }
}

/// Adds the fields of each object to `shown`, unless it has those of an object before it.
fn add_fields(shown: &mut String, path: &str, value: &Value) {
    match value {
        Value::Array(list) => {
            let first = list.first();
            first
                .into_iter()
                .for_each(|value| add_fields(shown, path, value));
        }
        Value::Object(object) => {
            let names: Vec<_> = object.keys().map(String::as_str).collect();
            let names = format!(": {}\n", names.join(", "));
            if !shown.contains(&names) {
                *shown += &format!("{path}{names}");
            }
            for (name, value) in object {
                add_fields(shown, &format!("{path}.{name}"), value);
            }
        }
        _ => {}
    }
}

#[test]
fn fields_of_json() {
    let home = Home::new();
    let _job = home.job("");
    let mut shown = String::new();
    for line in [
        "run fib 10 --workers 1",
        "compare fib 10 --workers 1 --repeat 1",
        "sim fib 10",
        "sim fib 10 --seeds 2",
        "sim fib 10 --job uts --size tiny",
        "tunables",
        "jobs",
        "table check",
    ] {
        let found = json(&mut home.tidegate(&format!("{line} --json")));
        let mut fields = String::new();
        add_fields(&mut fields, "", &found);
        shown += &format!("$ {line} --json\n{fields}\n");
    }
    assert_text("fields of json", &shown);
}

#[test]
fn tunables() {
    assert_shown("tunables", &["tunables"], tidegate);
}

#[test]
fn simulations() {
    #[rustfmt::skip]
    let rows = [
        ("sim", "sim fib 20 --processors 4"),
        ("sim desire", "sim fib 15 --processors 4 --desire wsap"),
        ("sim allotments", "sim loopy 16 --processors 4 --steps 1000000 --allotments 0ms:4,1ms:1,3ms:2"),
        ("sim seeds", "sim fib 20 --processors 4 --seeds 3"),
        ("sim seeds wide", "sim fib 20 --processors 4 --seeds 3 --wide"),
        ("sim seeds csv", "sim fib 20 --processors 4 --seeds 3 --csv"),
        ("sim csv", "sim fib 15 --processors 4 --csv"),
        ("sim jobs csv", "sim fib 15 --processors 4 --instances 2 --csv"),
        ("sim instances", "sim fib 15 --processors 4 --instances 2"),
        ("sim programs", "sim fib 15 --processors 4 --size tiny --job knary --job uts --instances 5"),
        ("sim wide", "sim fib 20 --processors 4 --wide"),
    ];
    for (name, line) in rows {
        assert_shown(name, &[line], tidegate);
    }
}

#[test]
fn machines() {
    for name in ["chiplets", "flat", "sub_numa", "two_packages"] {
        let lines = ["machine", "machine --tree"]
            .map(|line| format!("{line} --topology tests/topologies/{name}.txt"));
        assert_shown(&format!("machine {name}"), &lines, tidegate);
    }
}

#[test]
fn bad_numbers() {
    let mut lines = Vec::new();
    for option in [
        "sim fib 20 --processors",
        "sim fib 20 --sim-seed",
        "sim fib 20 --seeds",
        "sim fib 20 --instances",
        "sim fib 20 --cache",
        "run fib 20 --workers",
        "run fib 20 --weight",
        "run fib 20 --repeat",
        "compare fib 20 --repeat",
    ] {
        lines
            .extend(["-1", "NaN", "99999999999999999999"].map(|value| format!("{option} {value}")));
    }
    assert_shown("bad numbers", &lines, tidegate);
}

#[test]
fn bad_values() {
    for (name, lines) in [
        ("bad others", OTHERS),
        ("bad run", RUN),
        ("bad compare", COMPARE),
        ("bad sim", SIM),
    ] {
        assert_shown(name, lines, tidegate);
    }
}

#[rustfmt::skip]
const OTHERS: &[&str] = &[
    "", "walk", "machine --yaml", "tunables --csv --json", "table", "table repair",
    "table check x", "jobs --watch", "exec", "exec --mx 1 true", "exec --", "exec --name= -- true",
    "exec --weight 0 -- true", "exec --min 0 -- true", "exec --max -1 -- true",
    "exec --max 0 true", "exec --max 1", "exec --min 3 --max 2 -- true",
    "exec --how often -- true", "exec --jobserver 4 make", "exec --jobserver=0 make",
    "exec --jobserver=make", "fan run foo", "fan run digst", "fan plan fib 10 --pieces 3",
    "fan plan sim nothing", "top", "top --every 1ms", "top --every 2h", "top --every 2",
    "top --every soon",
];

#[rustfmt::skip]
const RUN: &[&str] = &[
    "run fib 94", "run fib -1", "run fib 1 2", "run fib --n 1 2", "run uts --tree T9",
    "run uts --q 0.3 --m 4 --type binomial", "run uts --tree tiny --q 0.1", "run knary 3 2 5",
    "run nothing", "run digest", "run digest . --path .", "run fib 10 --workers 0",
    "run fib 10 --workers -1", "run fib 10 --workers two", "run fib 10 --repeat 0",
    "run fib 10 --repeat 100001", "run fib 10 --repeat -1", "run fib 10 --idle sometimes",
    "run fib 10 --idle linear:min=9s", "run fib 10 --steal fixed:0", "run fib 10 --victim me",
    "run fib 10 --wait long", "run fib 10 --places each:0", "run fib 10 --bind maybe",
    "run mergesort --sorters 7", "run cachestress --size tiny --locality worst --places machine",
    "run fib 10 --share maybe", "run fib 10 --weight 0", "run fib 10 --desire much",
    "run fib 10 --desire wsap:eta=2", "run digest . --list --json", "run fib 10 --list",
    "run fib 12 --est-cycle 2s", "run lufact C", "run fib 15 --serial --workers 2",
    "run fib 15 --serial --idle yield", "run fib 15 --serial --share off",
    "run fib 15 --serial --memory none", "run fib 10 --steal half --queue chase-lev",
    "run memfib 10 --steal half --memory dfdeques:k=64",
    "run memfib --memory budget:1KiB,serial=2KiB", "run fib 10 --svg never.svg",
    "run series test --serial --svg never.svg", "run series test --dot never --svg never",
];

#[rustfmt::skip]
const COMPARE: &[&str] = &[
    "compare", "compare nothing", "compare fib 94", "compare fib 10 --with openmp",
    "compare fib 10 --workers 1,0", "compare fib 10 --serial", "compare fib 10 --share maybe",
    "compare fib 10 --csv --wide", "compare digest /nothing/here", "compare fib 12 --est-cycle 2s",
];

#[rustfmt::skip]
const SIM: &[&str] = &[
    "sim fib 20 --desire psychic", "sim fib 20 --est-cycle 1ms", "sim fib 200", "sim digest",
    "sim jobs - --sim-seed 3", "sim jobs - --csv", "sim jobs - --allot most",
    "sim fib 20 --seeds 3 --csv --json", "sim fib 20 --seeds 3 --sim-seed 18446744073709551614",
    "sim fib 20 --arrivals poisson:0ms", "sim fib 20 --arrivals soon",
    "sim fib 20 --arrivals poisson:1ms", "sim fib 20 --instances 3 --arrivals at:1ms,2ms",
    "sim fib 20 --instances 1000 --processors 65536", "sim fib 20 --arrivals at:1ms",
    "sim fib 20 --instances 1 --arrivals poisson:1ms", "sim fib 20 --instances 2 --allot equi",
    "sim wavefront --size tiny --memory depth-first", "sim fib 12 --desire wsap --est-cycle 2s",
    "sim fib 12 --job nothing", "sim fib 12 --job digest", "sim fib 12 --job fib --instances 1",
    "sim fib 12 --job fib --arrivals at:1ms", "sim fib 12 --allotments soon",
    "sim fib 12 --allotments 1ms:2", "sim fib 12 --allotments 0ms:2,1ms:0",
    "sim fib 12 --allotments 0ms:2,1ms:1,1ms:2", "sim fib 12 --allotments 0ms:17",
    "sim fib 12 --allotments random:0ms", "sim fib 12 --allotments 0ms:2 --pinned",
    "sim fib 12 --allotments 0ms:2 --memory dfdeques", "sim nothing",
    "sim cachestress --cache 2TiB",
    "sim fib 15 --processors 4 --topology tests/topologies/two_packages.txt",
    "sim --processors 4 fib 15 --topology tests/topologies/two_packages.txt",
    "sim jobs - --processors 4 --topology tests/topologies/two_packages.txt",
];
