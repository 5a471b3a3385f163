//! Tests on few threads, small enough for Miri.

mod aborts;
mod closed;
mod destructors;
mod origins;
mod par_map;
#[path = "../support/mod.rs"]
mod support;
mod ways;
mod workers;
