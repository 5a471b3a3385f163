//! Child processes that run one test of the calling program, with their own variables and limits.
//!
//! When such a test runs as an ordinary test, it does nothing, or starts itself as a child.

use std::env;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// The environment variable that is set only in children. A name with Tidegate's prefix would be
/// reported as unknown.
const CHILD: &str = "TESTKIT_CHILD";

/// The variable that names the emulator that runs programs of another processor. Unset, programs run
/// by themselves.
const RUNNER: &str = "TESTKIT_RUNNER";

/// Whether this process is a child.
pub fn is_child() -> bool {
    env::var_os(CHILD).is_some()
}

/// Runs the test `name` of this program in a separate process, with these variables and no other
/// variables of Tidegate and rayon.
pub fn child(name: &str, variables: &[(&str, &str)]) -> Output {
    output(this(), name, variables)
}

/// Like `child`, for a test that hangs. Returns the first line of its standard error that contains
/// `part`, and kills the child.
///
/// # Panics
/// Panics if the child ends without such a line.
pub fn child_until(name: &str, variables: &[(&str, &str)], part: &str) -> String {
    let mut command = this();
    prepare(&mut command, name, variables);
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the child starts");
    let errors = BufReader::new(child.stderr.take().expect("piped"));
    let mut lines = errors.lines().map(|line| line.expect("text"));
    let line = lines.find(|line| line.contains(part));
    // The child may have ended by itself.
    let _ = child.kill();
    child.wait().expect("the child has ended");
    line.unwrap_or_else(|| panic!("{name} ended without a line that contains {part:?}"))
}

/// Like `child`, but limits the child's address space. When the child has nearly used it up, the
/// system refuses to start further threads. ThreadSanitizer needs more address space than such a
/// limit leaves.
#[cfg(all(target_os = "linux", not(tidegate_tsan)))]
pub fn limited(name: &str, mebibytes: usize, variables: &[(&str, &str)]) -> Output {
    // The shell sets the limit, which includes the child's own size.
    let script = format!("ulimit -v {} && exec \"$0\" \"$@\"", mebibytes << 10);
    let mut command = Command::new("sh");
    let this = this();
    command.args(["-c", &script]);
    command.arg(this.get_program()).args(this.get_args());
    output(command, name, variables)
}

/// Returns a command that runs this program.
pub fn this() -> Command {
    let this = env::current_exe().expect("this program");
    match env::var_os(RUNNER) {
        None => Command::new(this),
        Some(runner) => {
            let mut command = Command::new(runner);
            command.arg(this);
            command
        }
    }
}

/// Returns the output of a child. Panics if the program has no test of this name: the child would
/// run nothing and succeed.
fn output(mut command: Command, name: &str, variables: &[(&str, &str)]) -> Output {
    prepare(&mut command, name, variables);
    let output = command.output().expect("the child starts");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("running 1 test\n"), "no test {name}: {said}");
    output
}

fn prepare(command: &mut Command, name: &str, variables: &[(&str, &str)]) {
    for (variable, _) in env::vars_os() {
        let text = variable.to_string_lossy();
        if ["TIDEGATE_", "RAYON_"]
            .iter()
            .any(|of| text.starts_with(of))
        {
            command.env_remove(&variable);
        }
    }
    command.args([name, "--exact", "--nocapture", "--test-threads=1"]);
    command.env(CHILD, "1").envs(variables.iter().copied());
}

/// Returns the child's standard error. Panics if the child failed.
#[track_caller]
pub fn succeeds(output: &Output) -> String {
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{:?}: {errors}", output.status);
    errors
}

/// Runs the test `name` of this program, which calls this function, in a separate process. Returns
/// whether this is that process.
#[track_caller]
pub fn is_alone(name: &str) -> bool {
    if !is_child() {
        succeeds(&child(name, &[]));
    }
    is_child()
}

/// Returns each program of this name on the path, in the path's order. If there is none, prints that
/// a test is skipped.
pub fn on_path(name: &str) -> Vec<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let programs = env::split_paths(&path).map(|folder| folder.join(name));
    let programs: Vec<_> = programs.filter(|program| program.is_file()).collect();
    if programs.is_empty() {
        eprintln!("skipped: {name} is not on the path");
    }
    programs
}
