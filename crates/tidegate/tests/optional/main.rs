//! What optional features add: events, a jobserver, metrics, pictures, spans, serialized statistics
//! and traces.

#[cfg(all(target_os = "linux", not(any(miri, tidegate_tsan))))]
mod jobserver;
mod metrics;
mod pictures;
mod reported;
mod spans;
mod statistics;
#[path = "../support/mod.rs"]
mod support;
mod trace;
