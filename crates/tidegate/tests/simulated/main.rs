//! Simulated pools: their steps, their reports and the bugs that a search finds.

mod aborts;
mod outside;
mod planted_bugs;
mod priorities;
mod programs;
mod reports;
mod streams;
#[path = "../support/mod.rs"]
mod support;
