//! A watchdog, which turns a hang into a failure. No check depends on time.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// Far longer than any test takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs a test's body on a thread of its own, and fails if it has not ended in time.
pub fn watched(body: impl FnOnce() + Send + 'static) {
    let (done, end) = mpsc::channel();
    thread::spawn(move || {
        // The receiver is gone only after a failure that was reported.
        let _ = done.send(catch_unwind(AssertUnwindSafe(body)));
    });
    match end.recv_timeout(PATIENCE) {
        Ok(Ok(())) => {}
        Ok(Err(payload)) => resume_unwind(payload),
        Err(_) => panic!("not finished after {PATIENCE:?}"),
    }
}
