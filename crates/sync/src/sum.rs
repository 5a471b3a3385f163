//! Sums and maxima of a whole process, which outlast every model and order nothing.

use std::sync::atomic::{AtomicU64, Ordering};

/// A number that everybody adds to.
#[derive(Debug)]
pub struct Sum(AtomicU64);

// Relaxed throughout: each is a figure by itself, for people.
impl Sum {
    /// Nothing yet.
    #[must_use]
    pub const fn zero() -> Self {
        Self::of(0)
    }

    /// So much from the beginning.
    #[must_use]
    pub const fn of(n: u64) -> Self {
        Self(AtomicU64::new(n))
    }

    /// So much more; the sum.
    pub fn add(&self, n: u64) -> u64 {
        self.0.fetch_add(n, Ordering::Relaxed).wrapping_add(n)
    }

    /// So much less.
    pub fn take(&self, n: u64) {
        self.0.fetch_sub(n, Ordering::Relaxed);
    }

    /// At least so much.
    pub fn raise_to(&self, n: u64) {
        if n > self.get() {
            self.0.fetch_max(n, Ordering::Relaxed);
        }
    }

    /// The sum.
    #[must_use]
    pub fn get(&self) -> u64 {
        // Relaxed: a sum orders nothing else.
        self.0.load(Ordering::Relaxed)
    }
}
