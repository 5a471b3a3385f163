//! Helpers for the test files.

#![allow(dead_code, reason = "each test file uses its own part of this module")]

use rayon_core::{ThreadPool, ThreadPoolBuilder};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process::{Command, Output};
use std::sync::mpsc;
use std::time::Duration;

/// The time after which a test counts as hanging. The longest test needs a few seconds on a busy
/// machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs the body of a test. Fails if the body hangs.
pub fn watched<R: Send + 'static>(body: impl FnOnce() -> R + Send + 'static) -> R {
    let (done, end) = mpsc::channel();
    let run = move || {
        // The send fails only if the test has already failed and dropped the receiver.
        let _ = done.send(catch_unwind(AssertUnwindSafe(body)));
    };
    drop(std::thread::spawn(run));
    match end.recv_timeout(PATIENCE) {
        Ok(Ok(value)) => value,
        Ok(Err(payload)) => resume_unwind(payload),
        Err(_) => panic!("hangs: not finished after {PATIENCE:?}"),
    }
}

pub fn pool(threads: usize) -> ThreadPool {
    let builder = ThreadPoolBuilder::new().num_threads(threads);
    builder.build().expect("so many threads can be had")
}

const CHILD: &str = "TIDEGATE_TEST_CHILD";

/// Whether this process was started by [`in_child`].
pub fn is_child() -> bool {
    std::env::var_os(CHILD).is_some()
}

/// Runs the test `name` of this program in a new process with these additional environment
/// variables.
pub fn in_child(name: &str, variables: &[(&str, &str)]) -> Output {
    let program = std::env::current_exe().expect("a test program");
    let mut command = Command::new(program);
    for variable in [
        "RAYON_NUM_THREADS",
        "RAYON_RS_NUM_CPUS",
        "TIDEGATE_WORKERS",
        "TIDEGATE_EXPLAIN",
        "TIDEGATE_SHARE",
    ] {
        command.env_remove(variable);
    }
    command.args(["--exact", name, "--nocapture"]);
    command.env(CHILD, "1").envs(variables.iter().copied());
    command.output().expect("the test program runs")
}
