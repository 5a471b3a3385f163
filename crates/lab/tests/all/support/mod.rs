//! Runs the program under test, isolated from the caller's environment.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use assert_cmd::Command;

#[path = "../../../../cli/tests/all/support/checks.rs"]
mod checks;

pub use checks::*;

/// Creates a command with these arguments, separated by spaces. Each call stores runs in its own
/// folder.
pub fn lab(arguments: &str) -> Command {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let folder = folder.join(format!("runs-{}-{number}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for runs");
    let mut command = assert_cmd::cargo::cargo_bin_cmd!("tidegate-lab");
    command.current_dir(folder);
    checks::alone(
        command,
        concat!(env!("CARGO_TARGET_TMPDIR"), "/table"),
        arguments,
    )
}

/// Applies `change` to each run that a command has kept in this file.
pub fn rewrite_runs(file: &Path, change: impl Fn(&mut serde_json::Value)) {
    let text = std::fs::read_to_string(file).expect("runs were kept");
    let mut lines = text.lines();
    let mut new = lines
        .next()
        .expect("a line that says of what they are")
        .to_owned();
    for line in lines {
        let mut run: serde_json::Value = serde_json::from_str(line).expect("a run");
        change(&mut run["value"]);
        new += &format!("\n{run}");
    }
    std::fs::write(file, new + "\n").expect("it can be written");
}
