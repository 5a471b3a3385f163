//! Tests that need no process and no feature of their own.

mod handles;
mod loops;
mod memory;
mod pools;
#[path = "../support/mod.rs"]
mod support;
mod waits;
