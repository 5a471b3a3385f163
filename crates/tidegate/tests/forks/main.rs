//! Children made by `fork` while their parent has pools.

// ThreadSanitizer ends a child that starts threads.
#![cfg(all(unix, not(any(miri, tidegate_tsan))))]

mod frames;
mod pools;
#[path = "../support/mod.rs"]
mod support;
