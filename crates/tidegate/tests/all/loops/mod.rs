//! Loops, reductions, sorts and streams.

mod early;
mod folds;
mod items;
mod ranges;
mod scoped_streams;
mod stream_ends;
mod streams;

use crate::support::{pool, watched};

/// Runs `check` for each length, outside of all pools and on one to three workers.
fn everywhere(check: impl Fn(usize) + Send + Sync + 'static) {
    watched(move || {
        for length in [0, 1, 2, 31, 32, 33, 5_000] {
            check(length);
            for workers in 1..=3 {
                pool(workers).install(|| check(length));
            }
        }
    });
}
