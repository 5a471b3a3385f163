//! Tests on few threads, small enough for Miri.

mod aborts;
mod closed;
mod destructors;
mod intervals;
mod origins;
mod par_map;
mod priorities;
mod sort;
#[path = "../support/mod.rs"]
mod support;
mod ways;
mod workers;
