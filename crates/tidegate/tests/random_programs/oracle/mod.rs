//! The oracle: compares what has happened in a program with what may happen.
//!
//! Before a program runs, a serial evaluation determines what is [`Expected`]: how often each task
//! may run, and which panics may surface where. While it runs, [`Token`]s count its tasks and
//! payloads count its panics in a [`Ledger`]. Afterwards [`Ledger::check`] compares the two.
//! Mistakes that are found inside a task are recorded and reported at the end, so that the oracle
//! does not disturb the program.
//!
//! The oracle does not depend on the form of programs, because the tests of two crates use it.

#![allow(
    dead_code,
    unused_imports,
    reason = "each crate uses only a part of this module"
)]

mod attempt;
mod expected;
mod ledger;
mod tests;
mod waits;

pub use attempt::attempt;
pub use expected::{CAUGHT, Expected, Fate, Outcome, Panic, Sizes, Sum, mix};
pub use ledger::{Ledger, Token, unclaimed};
pub use waits::{Returned, Spawned};
