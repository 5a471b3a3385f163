//! Memory that bodies declare on runtimes that take no notice of it: it is counted, and that is all.

use std::sync::atomic::{AtomicU64, Ordering};

static DECLARED: AtomicU64 = AtomicU64::new(0);
static PEAK: AtomicU64 = AtomicU64::new(0);

/// So many bytes are declared until this is dropped.
#[derive(Debug)]
pub struct Counted(u64);

// Relaxed throughout: a sum and a maximum, read when all that adds to them has ended.
impl Counted {
    pub(super) fn new(bytes: usize) -> Self {
        let bytes = bytes as u64;
        let now = DECLARED.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if now > PEAK.load(Ordering::Relaxed) {
            PEAK.fetch_max(now, Ordering::Relaxed);
        }
        Self(bytes)
    }

    /// The most bytes that were declared at a time, by all bodies on such runtimes together, since the last call.
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
