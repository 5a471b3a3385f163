//! Busy waiting for a given time, and differences between times.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// Keeps the calling thread busy for `length`.
pub fn compute(length: Duration) {
    let start = Instant::now();
    while black_box(start.elapsed()) < length {
        std::hint::spin_loop();
    }
}

/// Returns the nanoseconds from `early` to `late`, or 0 if `late` is earlier.
pub fn nanos_between(early: Instant, late: Instant) -> f64 {
    late.saturating_duration_since(early).as_nanos() as f64
}
