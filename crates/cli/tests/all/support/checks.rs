//! Helpers that the tests of both commands share.

use assert_cmd::Command;
use serde_json::Value;

/// Appends `arguments`, which are separated by spaces, and isolates the command from the
/// environment.
pub fn alone(mut command: Command, table: &str, arguments: &str) -> Command {
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("TIDEGATE_") {
            command.env_remove(name);
        }
    }
    // A private table keeps the tests from sharing the machine with other jobs.
    command.env("TIDEGATE_TABLE", table);
    command.args(arguments.split_whitespace());
    command
}

/// Runs the command, which must succeed and print nothing to standard error, and returns its JSON.
pub fn json(command: &mut Command) -> Value {
    let output = command.assert().success().stderr("").get_output().clone();
    serde_json::from_slice(&output.stdout).expect("standard output is JSON")
}

/// Runs the command, which must succeed, and returns its output. It may also print messages.
pub fn printed(command: &mut Command) -> String {
    let output = command.assert().success().get_output().clone();
    String::from_utf8(output.stdout).expect("standard output is text")
}

/// Runs the command, which must exit with `code`, print nothing to standard output and not panic.
/// Returns its standard error.
pub fn complaint(command: &mut Command, code: i32) -> String {
    let output = command.assert().code(code).stdout("").get_output().clone();
    let text = String::from_utf8(output.stderr).expect("messages are text");
    assert!(!text.contains("panicked"), "{text}");
    text
}

#[track_caller]
pub fn assert_contains(text: &str, parts: &[&str]) {
    assert!(parts.iter().all(|part| text.contains(part)), "{text}");
}

/// Returns the keys of an object in their order.
pub fn keys(value: &Value) -> Vec<&str> {
    let object = value.as_object().expect("an object");
    object.keys().map(String::as_str).collect()
}

/// Runs `command` for each line, and compares the outputs and exit codes with a snapshot.
pub fn assert_shown(name: &str, lines: &[impl AsRef<str>], command: fn(&str) -> Command) {
    let mut shown = String::new();
    for line in lines.iter().map(AsRef::as_ref) {
        let output = command(line)
            .env("COLUMNS", "100")
            .output()
            .expect("it starts");
        let code = output.status.code().expect("it ends by itself");
        let text = String::from_utf8([output.stdout, output.stderr].concat()).expect("text");
        shown += &format!("$ {line}\n{text}[{code}]\n\n");
    }
    assert_text(name, &shown);
}

/// Compares a text with a snapshot.
pub fn assert_text(name: &str, shown: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_omit_expression(true);
    settings.set_prepend_module_to_snapshot(false);
    settings.set_snapshot_path(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/snapshots"));
    settings.bind(|| insta::assert_snapshot!(name.trim().replace(' ', "-"), shown));
}
