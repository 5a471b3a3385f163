//! Waits for other threads and processes.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// What takes longer counts as hanging. The longest test needs a few seconds, and ten times as long
/// under ThreadSanitizer.
pub const PATIENCE: Duration = Duration::from_secs(if cfg!(tidegate_tsan) { 300 } else { 60 });

/// Runs a test's body on another thread, and fails if the body hangs: if it takes longer than
/// [`PATIENCE`] for each slice of a soak.
pub fn watched<R: Send + 'static>(body: impl FnOnce() -> R + Send + 'static) -> R {
    let (returned, result) = mpsc::channel();
    watch(Box::new(move || {
        returned.send(body()).expect("the caller waits");
    }));
    result.recv().expect("the body has returned")
}

fn watch(body: Box<dyn FnOnce() + Send>) {
    let name = thread::current().name().unwrap_or("test").to_owned();
    let (done, end) = mpsc::channel();
    let run = move || {
        // The receiver is gone only if the test has already failed.
        let _ = done.send(catch_unwind(AssertUnwindSafe(body)));
    };
    let thread = thread::Builder::new().name(name.clone());
    drop(thread.spawn(run).expect("a thread for the test's body"));
    let patience = PATIENCE.saturating_mul(crate::soaks::scale());
    match end.recv_timeout(patience) {
        Ok(Ok(())) => (),
        Ok(Err(payload)) => resume_unwind(payload),
        Err(_) => panic!("{name} hangs: not finished after {patience:?}"),
    }
}

/// Busy-waits for a condition, yielding the processor to other threads. The caller is [`watched`].
pub fn until(condition: impl Fn() -> bool) {
    while !condition() {
        thread::yield_now();
    }
}

/// Waits for a condition that must become true soon, and fails after [`PATIENCE`]. Returns how long
/// that took.
#[track_caller]
pub fn eventually(what: &str, mut condition: impl FnMut() -> bool) -> Duration {
    let begin = Instant::now();
    while !condition() {
        assert!(begin.elapsed() < PATIENCE, "not after {PATIENCE:?}: {what}");
        thread::sleep(Duration::from_millis(2));
    }
    begin.elapsed()
}
