//! The oracle: compares what a program has done with what it may do.
//!
//! Before a program runs, a serial evaluation fills in [`Expected`]: how often each task may run,
//! and which panics may surface where. While it runs, [`Token`]s count its tasks and payloads count
//! its panics in a [`Ledger`]. Afterwards [`Ledger::check`] compares the two. Mistakes that show up
//! inside a task are noted and reported at the end, so the oracle does not disturb the program.
//!
//! It knows nothing about programs: the tests of two crates use it.

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
