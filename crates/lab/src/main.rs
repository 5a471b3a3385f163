//! The `tidegate-lab` command: published experiments, benches, and comparisons of single mechanisms.
//!
//! | subcommand | does |
//! |---|---|
//! | [`reproduce`] | reproduces published experiments |
//! | [`report`] | makes a page of their results |
//! | [`mod@bench`] | measures jobs that share the machine, queues, places, intervals and memory |
//! | [`compare`] | compares runtimes in wake-ups, idling, joins, loops and iterators |
//!
//! Standard output carries the answer, and with `--json` nothing but JSON; progress, notes and
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

/// Counts in the jobs of `bench memory`, and nowhere else.
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
