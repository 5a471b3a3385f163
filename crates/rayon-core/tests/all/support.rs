//! Helpers for the test files.

use rayon_core::{ThreadPool, ThreadPoolBuilder};
pub use tidegate_testkit::watched;

pub fn pool(threads: usize) -> ThreadPool {
    let builder = ThreadPoolBuilder::new().num_threads(threads);
    builder.build().expect("so many threads can be had")
}
