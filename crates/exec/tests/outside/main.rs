//! Checks the decisions about programs that do not use Tidegate, and the jobserver.
#![cfg(target_os = "linux")]

mod desires;
mod guard;
mod jobserver;
mod processors;

const MS: u64 = 1_000_000;
