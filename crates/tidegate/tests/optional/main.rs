//! What optional features add: a jobserver, metrics, pictures, serialized statistics and traces.

#[cfg(all(target_os = "linux", not(any(miri, tidegate_tsan))))]
mod jobserver;
mod metrics;
mod pictures;
mod statistics;
#[path = "../support/mod.rs"]
mod support;
mod trace;
