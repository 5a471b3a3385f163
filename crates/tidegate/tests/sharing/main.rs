//! Pools in one or several processes that share a table.
#![cfg(all(target_os = "linux", not(any(miri, tidegate_tsan))))]

mod processes;
#[path = "../../../share/tests/support/mod.rs"]
mod share;
mod stuck;
#[path = "../support/mod.rs"]
mod support;
mod tables;
