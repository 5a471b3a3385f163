//! Where the workers' random draws begin.

/// A seed for worker number `index`: different for different workers, the same in every run.
///
/// Scheduling needs draws that differ between workers, not secrets; a fixed start keeps runs comparable.
#[must_use]
pub fn worker_seed(index: usize) -> u64 {
    // The golden ratio spreads consecutive indices over the whole word (Knuth, TAOCP 3, 6.4).
    (index as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
