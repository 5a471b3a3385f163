//! What the tests of several crates need: a watchdog, waits, the sizes of soaks, and child
//! processes that run one test.
//!
//! No check depends on time. A limit only turns a hang into a failure.

#![forbid(unsafe_code)]

#[cfg(target_os = "linux")]
mod cgroup;
mod children;
mod soaks;
mod waits;

#[cfg(target_os = "linux")]
pub use cgroup::Cgroup;
#[cfg(all(target_os = "linux", not(tidegate_tsan)))]
pub use children::limited;
pub use children::{child, child_until, is_alone, is_child, on_path, succeeds, this};
pub use soaks::{scale, seeds, soak};
pub use waits::{PATIENCE, eventually, until, watched};
