//! The tests that make no child processes, in one program, which is linked once.
#![cfg(all(target_os = "linux", not(miri)))]

mod assault;
mod division;
#[path = "../support/mod.rs"]
mod support;
