//! Work of a given length, and moments that several threads agree on.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// Keeps the calling thread computing for so long.
pub fn compute(length: Duration) {
    let start = Instant::now();
    while black_box(start.elapsed()) < length {
        std::hint::spin_loop();
    }
}

/// How long `late` is after `early`, in nanoseconds; nothing if it is not.
pub fn nanos_between(early: Instant, late: Instant) -> f64 {
    late.saturating_duration_since(early).as_nanos() as f64
}
