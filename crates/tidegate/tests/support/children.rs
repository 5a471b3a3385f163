//! Children: this test program again, running one of its tests, with its own variables and limits.
//!
//! Such a test does nothing when it runs as an ordinary test.

use std::process::{Command, Output};

/// Set in children only.
const CHILD: &str = "TIDEGATE_TEST_CHILD";

pub fn is_child() -> bool {
    std::env::var_os(CHILD).is_some()
}

/// Runs the test `name` of this program in a process of its own.
pub fn child(name: &str, variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([name, "--exact", "--nocapture", "--test-threads=1"]);
    command.env(CHILD, "1").envs(variables.iter().copied());
    command.output().expect("this binary runs")
}

/// Like `child`, but with a limit on its address space: the system refuses threads to a process
/// that has nearly used it up. ThreadSanitizer needs more than any such limit leaves.
#[cfg(all(target_os = "linux", not(tidegate_tsan)))]
pub fn limited(name: &str, mebibytes: usize, variables: &[(&str, &str)]) -> Output {
    // The shell sets the limit, and the child's own size counts against it.
    let exe = std::env::current_exe().unwrap();
    let script = format!(
        "ulimit -v {} && exec \"$0\" {name} --exact --nocapture --test-threads=1",
        mebibytes << 10
    );
    let mut command = Command::new("sh");
    command.args(["-c", &script]).arg(exe);
    command.env(CHILD, "1").envs(variables.iter().copied());
    command.output().expect("a shell")
}

/// Returns the child's standard error. Panics if the child failed.
#[track_caller]
pub fn succeeds(output: &Output) -> String {
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{:?}: {errors}", output.status);
    errors
}
