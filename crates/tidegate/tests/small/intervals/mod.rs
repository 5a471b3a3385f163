//! Intervals: order, locks, failures and misuse.

mod failures;
#[cfg(not(miri))]
mod handwritten;
mod misuse;
#[cfg(not(miri))]
mod random;
