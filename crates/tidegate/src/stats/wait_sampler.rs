//! Measures how long some of the tasks that are spawned from outside wait in the pool's queue.

use std::num::NonZero;
use tidegate_policy::Nanos;
use tidegate_policy::tunables::QUEUE_WAIT_SAMPLE;
use tidegate_sync::atomic::{AtomicUsize, Ordering};
use tidegate_sync::clock;

/// Chooses the tasks to measure.
#[derive(Default)]
pub(crate) struct WaitSampler {
    queued: AtomicUsize,
}

/// The time at which a measured task was queued. `Option<Sample>` is one word.
#[derive(Clone, Copy)]
pub(crate) struct Sample(NonZero<Nanos>);

impl WaitSampler {
    /// Returns a sample for the first of every [`QUEUE_WAIT_SAMPLE`] tasks.
    pub(crate) fn draw(&self) -> Option<Sample> {
        // Relaxed: just a counter.
        let before = self.queued.fetch_add(1, Ordering::Relaxed);
        if before % QUEUE_WAIT_SAMPLE.default != 0 {
            return None;
        }
        // The first reading of the clock may be 0.
        NonZero::new(clock::now().max(1)).map(Sample)
    }
}

impl Sample {
    /// Returns the time since the task was queued.
    pub(crate) fn wait(self) -> Nanos {
        clock::now().saturating_sub(self.0.get())
    }
}
