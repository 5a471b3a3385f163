//! The program under test, away from the environment of whoever tests it.

#![allow(dead_code, reason = "each test file uses its part")]

use assert_cmd::Command;
use serde_json::Value;

/// The fields of a row of a comparison.
pub const ROW: [&str; 14] = [
    "case",
    "runtime",
    "version",
    "workers",
    "median_ns",
    "p99_ns",
    "min_ns",
    "max_ns",
    "repetitions",
    "over_serial_ns",
    "ratio_to_serial",
    "ratio_to_rayon",
    "cpu_seconds",
    "wakeups",
];

/// The program with these arguments, separated by spaces.
pub fn tidegate(arguments: &str) -> Command {
    let mut command = assert_cmd::cargo::cargo_bin_cmd!("tidegate");
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("TIDEGATE_") {
            command.env_remove(name);
        }
    }
    // A table of the tests' own: what runs beside them has no part in it.
    let table = concat!(env!("CARGO_TARGET_TMPDIR"), "/table");
    command.env("TIDEGATE_TABLE", table);
    command.args(arguments.split_whitespace());
    command
}

/// The same with one of the topologies that lie beside these tests.
pub fn with_topology(arguments: &str, name: &str) -> Command {
    let mut command = tidegate(arguments);
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/topologies");
    command
        .arg("--topology")
        .arg(folder.join(name).with_extension("txt"));
    command
}

/// The JSON that a successful run prints, with nothing on standard error.
pub fn json(command: &mut Command) -> Value {
    let output = command.assert().success().stderr("").get_output().clone();
    serde_json::from_slice(&output.stdout).expect("standard output is JSON")
}

/// What a run that ends with `code` prints on standard error; it prints nothing else and does not panic.
pub fn complaint(command: &mut Command, code: i32) -> String {
    let output = command.assert().code(code).stdout("").get_output().clone();
    let text = String::from_utf8(output.stderr).expect("messages are text");
    assert!(!text.contains("panicked"), "{text}");
    text
}

/// The keys of an object, in order.
pub fn keys(value: &Value) -> Vec<&str> {
    let object = value.as_object().expect("an object");
    object.keys().map(String::as_str).collect()
}
