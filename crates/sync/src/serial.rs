//! Numbers that are given out once in a process.

use std::sync::atomic::{AtomicU64, Ordering};

/// A number that no other call in this process returns, from 1 on.
#[must_use]
pub fn next() -> u64 {
    static GIVEN: AtomicU64 = AtomicU64::new(0);
    // Relaxed: only the number matters, nothing is published with it.
    GIVEN.fetch_add(1, Ordering::Relaxed) + 1
}
