//! Measures how long some of the tasks that are spawned from outside wait in the pool's queue.

use std::num::NonZero;
use tidegate_policy::tunables::QUEUE_WAIT_SAMPLE;
use tidegate_policy::{Nanos, Rng};
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
    /// Returns a sample for one of every [`QUEUE_WAIT_SAMPLE`] tasks. Which of them it is varies:
    /// tasks often come in bursts of equal lengths, and samples at equal distances could always hit
    /// the same place in a burst.
    pub(crate) fn draw(&self) -> Option<Sample> {
        // Relaxed: just a counter.
        let before = self.queued.fetch_add(1, Ordering::Relaxed);
        let (every, before) = (QUEUE_WAIT_SAMPLE.default as u64, before as u64);
        if before % every != Rng::new(before / every).below(every) {
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

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// Bursts are as long as the distance between samples is on average.
    #[test]
    fn samples_vary_in_bursts() {
        let sampler = WaitSampler::default();
        let every = QUEUE_WAIT_SAMPLE.default;
        let places = (0..100).map(|_| {
            let burst = (0..every).filter(|_| sampler.draw().is_some());
            let [place] = burst.collect::<Vec<_>>()[..] else {
                panic!("not one sample in a burst");
            };
            place
        });
        assert!(places.collect::<HashSet<_>>().len() > every / 2);
    }
}
