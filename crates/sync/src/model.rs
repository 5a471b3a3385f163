//! Helpers for loom models, which explore the interleavings of threads within a bound on
//! preemptions.

use crate::atomic::{AtomicUsize, Ordering};
use loom::model::Builder;
use std::time::Instant;

/// The bound on preemptions, unless `LOOM_MAX_PREEMPTIONS` sets one.
const PREEMPTIONS: usize = 1;

fn model() -> Builder {
    let mut model = Builder::new();
    model.preemption_bound = model.preemption_bound.or(Some(PREEMPTIONS));
    model.max_branches = 100_000;
    model
}

/// Explores every interleaving of `body`.
pub fn check(body: impl Fn() + Send + Sync + 'static) {
    run(&model(), body);
}

/// Like `check`, but explores interleavings only from `loom::explore` to `loom::stop_exploring`.
/// The whole life of a pool with two workers has too many interleavings.
pub fn check_part(body: impl Fn() + Send + Sync + 'static) {
    let mut model = model();
    model.expect_explicit_explore = true;
    run(&model, body);
}

fn run(model: &Builder, body: impl Fn() + Send + Sync + 'static) {
    let start = Instant::now();
    model.check(body);
    // When its time limit is reached, loom returns as if it had explored everything.
    if model
        .max_duration
        .is_some_and(|most| start.elapsed() >= most)
    {
        println!("cut off");
    }
}

/// A call that must happen exactly once.
pub struct Once(AtomicUsize);

impl Once {
    /// Creates a call that has not happened.
    #[must_use]
    pub fn new() -> crate::Arc<Self> {
        crate::Arc::new(Self(AtomicUsize::new(0)))
    }

    /// Notes that the call happens.
    ///
    /// # Panics
    /// If it has happened before.
    pub fn happen(&self) {
        assert_eq!(self.0.fetch_add(1, Ordering::Relaxed), 0, "happened twice");
    }

    /// Checks that the call has happened.
    ///
    /// # Panics
    /// If it has not.
    pub fn check(&self) {
        assert_eq!(self.0.load(Ordering::Relaxed), 1, "never happened");
    }
}
