//! The `tidegate-lab` command: published experiments, benches, and comparisons of single
//! mechanisms.
//!
//! | subcommand | does |
//! |---|---|
//! | [`reproduce`] | reproduces published experiments |
//! | [`report`] | renders their results as an HTML page |
//! | [`mod@bench`] | measures jobs that share the machine, queues, places, intervals and memory |
//! | [`compare`] | compares runtimes in wake-ups, idling, joins, loops and iterators |
//!
//! The answer goes to standard output, which carries only JSON with `--json`. Progress, notes and
//! errors go to standard error.

#![forbid(unsafe_code)]

mod arguments;
mod bench;
mod cargo;
mod compare;
mod engine;
mod report;
mod reproduce;

use std::process::ExitCode;

use tidegate::memory::CountingAllocator;
use tidegate_command::arguments::run;
use tidegate_command::failure::Failure;

use arguments::{Cli, Command};

/// Counting is paused, except in the jobs of `bench memory`.
#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator::system().paused();

fn main() -> ExitCode {
    run(|cli: Cli| carry_out(cli.command))
}

fn carry_out(command: Command) -> Result<(), Failure> {
    match command {
        Command::Reproduce(arguments) => reproduce::reproduce(&arguments),
        Command::Report(arguments) => report::report(&arguments),
        Command::Bench(arguments) => bench::bench(&arguments),
        Command::Compare(arguments) => compare::compare(&arguments),
    }
}
