//! Process-wide sums and maxima. They do not order any other memory accesses. Under loom, they are
//! never reset, not even between models.

use std::sync::atomic::{AtomicU64, Ordering};

/// A process-wide sum or maximum.
#[derive(Debug)]
pub struct Sum(AtomicU64);

// Relaxed throughout: each value is an independent statistic, which is only reported.
impl Sum {
    /// Creates a sum of 0.
    #[must_use]
    pub const fn zero() -> Self {
        Self::of(0)
    }

    /// Creates a sum that starts at `n`.
    #[must_use]
    pub const fn of(n: u64) -> Self {
        Self(AtomicU64::new(n))
    }

    /// Adds `n`. Returns the new sum.
    pub fn add(&self, n: u64) -> u64 {
        self.0.fetch_add(n, Ordering::Relaxed).wrapping_add(n)
    }

    /// Subtracts `n` from the sum.
    pub fn take(&self, n: u64) {
        self.0.fetch_sub(n, Ordering::Relaxed);
    }

    /// Raises the value to `n` if it is lower.
    pub fn raise_to(&self, n: u64) {
        if n > self.get() {
            self.0.fetch_max(n, Ordering::Relaxed);
        }
    }

    /// Returns the current value.
    #[must_use]
    pub fn get(&self) -> u64 {
        // Relaxed: the value orders no other memory access.
        self.0.load(Ordering::Relaxed)
    }
}
