//! The `tidegate-lab` command: published experiments, benches, and comparisons of single
//! mechanisms.
//!
//! | subcommand | purpose |
//! |---|---|
//! | [`reproduce`] | reproduces published experiments |
//! | [`mod@fan`] | does so in pieces, on many machines |
//! | [`report`] | renders their results as an HTML page |
//! | [`mod@bench`] | measures queues, places, intervals, memory, and jobs that run together |
//! | [`compare`] | compares runtimes on a single mechanism, such as wake-ups or iterators |
//!
//! Results go to standard output. With `--json`, standard output carries only JSON. Progress, notes
//! and errors go to standard error.

#![forbid(unsafe_code)]

mod arguments;
mod bench;
mod cargo;
mod compare;
mod engine;
mod fan;
mod report;
mod reproduce;
mod talk;

use std::process::ExitCode;

use tidegate::memory::CountingAllocator;
use tidegate_cli_support::arguments::{Deferred, run};
use tidegate_cli_support::failure::Failure;

use arguments::{Cli, Command};

/// Allocations are counted only in the jobs of `bench memory`.
#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator::system().paused();

fn main() -> ExitCode {
    run(|cli: Cli| carry_out(cli.command))
}

fn carry_out(command: Command) -> Result<(), Failure> {
    match command {
        Command::Reproduce(Deferred(arguments)) => reproduce::reproduce(&arguments),
        Command::Fan(Deferred(arguments)) => fan::fan(arguments),
        Command::Report(Deferred(arguments)) => report::report(&arguments),
        Command::Bench(Deferred(arguments)) => bench::bench(&arguments),
        Command::Compare(Deferred(arguments)) => compare::compare(&arguments),
    }
}
