//! Pools: options, environment, threads, places and shutdown.

mod environment;
// ThreadSanitizer ends a child that starts threads.
#[cfg(not(any(miri, tidegate_tsan)))]
mod global;
mod latencies;
mod many_threads;
mod options;
mod places;
mod resize;
mod shutdown;
mod thread_ends;
mod variables;
