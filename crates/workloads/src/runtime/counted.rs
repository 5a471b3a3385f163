//! Counts the memory that bodies declare, for runtimes that otherwise ignore declarations.

use std::sync::atomic::{AtomicU64, Ordering};

static DECLARED: AtomicU64 = AtomicU64::new(0);
static PEAK: AtomicU64 = AtomicU64::new(0);

/// A number of bytes that count as declared until this value is dropped.
#[derive(Debug)]
pub struct Counted(u64);

// Relaxed throughout: the current total and its peak are read only after everything that updates
// them has ended.
impl Counted {
    pub(super) fn new(bytes: usize) -> Self {
        let bytes = bytes as u64;
        let now = DECLARED.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if now > PEAK.load(Ordering::Relaxed) {
            PEAK.fetch_max(now, Ordering::Relaxed);
        }
        Self(bytes)
    }

    /// Returns the peak of the declared bytes since the last call. All runtimes in this process
    /// that use this counter contribute to the peak.
    #[must_use]
    pub fn take_peak() -> u64 {
        PEAK.swap(DECLARED.load(Ordering::Relaxed), Ordering::Relaxed)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        DECLARED.fetch_sub(self.0, Ordering::Relaxed);
    }
}
