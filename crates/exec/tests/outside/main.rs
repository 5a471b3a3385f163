//! Checks the decisions about programs that do not use Tidegate.
#![cfg(target_os = "linux")]

mod desires;
mod guard;
mod processors;

const MS: u64 = 1_000_000;
