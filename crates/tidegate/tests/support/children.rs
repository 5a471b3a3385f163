//! Child processes that run one test of this program, with their own variables and limits.
//!
//! When such a test runs as an ordinary test, it does nothing.

use std::process::{Command, Output};

/// The environment variable that is set only in children.
const CHILD: &str = "TIDEGATE_TEST_CHILD";

pub fn is_child() -> bool {
    std::env::var_os(CHILD).is_some()
}

/// Runs the test `name` of this program in a separate process, with these variables and no other
/// variables of Tidegate.
pub fn child(name: &str, variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(std::env::current_exe().unwrap());
    let set = std::env::vars_os().map(|(name, _)| name);
    for name in set.filter(|name| name.to_string_lossy().starts_with("TIDEGATE_")) {
        command.env_remove(name);
    }
    command.args([name, "--exact", "--nocapture", "--test-threads=1"]);
    command.env(CHILD, "1").envs(variables.iter().copied());
    output(&mut command, name)
}

/// Returns the output of a child. Panics if the program has no test of this name: the child would
/// run nothing and succeed.
fn output(command: &mut Command, name: &str) -> Output {
    let output = command.output().expect("the child starts");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("running 1 test\n"), "no test {name}: {said}");
    output
}

/// Runs the test `name` of this program, which calls this function, in a separate process. Returns
/// whether this is that process.
pub fn is_alone(name: &str) -> bool {
    if !is_child() {
        succeeds(&child(name, &[]));
    }
    is_child()
}

/// Like `child`, but limits the child's address space. When the child has nearly used it up, the
/// system refuses to start further threads. ThreadSanitizer needs more address space than such a
/// limit leaves.
#[cfg(all(target_os = "linux", not(tidegate_tsan)))]
pub fn limited(name: &str, mebibytes: usize, variables: &[(&str, &str)]) -> Output {
    // The shell sets the limit, which includes the child's own size.
    let exe = std::env::current_exe().unwrap();
    let script = format!(
        "ulimit -v {} && exec \"$0\" {name} --exact --nocapture --test-threads=1",
        mebibytes << 10
    );
    let mut command = Command::new("sh");
    command.args(["-c", &script]).arg(exe);
    command.env(CHILD, "1").envs(variables.iter().copied());
    output(&mut command, name)
}

/// Returns the child's standard error. Panics if the child failed.
#[track_caller]
pub fn succeeds(output: &Output) -> String {
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{:?}: {errors}", output.status);
    errors
}
