//! Runs a program, and reports its seed if it fails or hangs.

use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// A program that takes longer counts as hanging. Nearly all programs need a few milliseconds.
const PATIENCE: Duration = Duration::from_secs(120);

/// Runs a program in a new thread.
///
/// # Panics
/// If `run` returns an error, panics or takes too long. The message contains the seed and the
/// program.
pub fn attempt<P>(
    seed: u64,
    program: P,
    run: impl FnOnce(&P) -> Result<(), String> + Send + 'static,
) where
    P: Debug + Send + Sync + 'static,
{
    // Printed first, so that after a crash, the last seed belongs to the program that crashed.
    println!("seed {seed}");
    let program = Arc::new(program);
    let (sender, end) = channel();
    let own = Arc::clone(&program);
    let thread = thread::Builder::new().name(format!("program {seed}"));
    let body = move || {
        let result = catch_unwind(AssertUnwindSafe(|| run(&own)));
        // The receiver is gone only if a hang has already been reported.
        let _ = sender.send(result.unwrap_or_else(|_| Err("it panicked, see above".into())));
    };
    let thread = thread.spawn(body).expect("a thread for the program");
    let result = match end.recv_timeout(PATIENCE) {
        Ok(result) => result,
        Err(RecvTimeoutError::Timeout) => Err(format!("it hangs: not finished after {PATIENCE:?}")),
        Err(RecvTimeoutError::Disconnected) => Err("its thread has died".into()),
    };
    if let Err(report) = result {
        panic!(
            "seed {seed}: {report}\nTIDEGATE_SOAK_SEED={seed} runs this program again:\n{program:?}"
        );
    }
    thread.join().expect("it has sent its result");
}
