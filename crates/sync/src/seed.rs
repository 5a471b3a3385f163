//! Returns seeds for the workers' random number generators.

/// Returns the seed of worker `index`. The seeds differ between workers, and are the same in every
/// run.
///
/// The scheduler's random numbers must differ between workers, but need not be secret. A fixed seed
/// keeps runs comparable.
#[must_use]
pub fn worker_seed(index: usize) -> u64 {
    // The golden ratio spreads consecutive indices over the whole word (Knuth, TAOCP 3, 6.4).
    (index as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
