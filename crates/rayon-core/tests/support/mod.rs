//! Helpers for the test files.

use rayon_core::{ThreadPool, ThreadPoolBuilder};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
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
