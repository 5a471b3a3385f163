//! The `tidegate` command: runs programs on the runtime, checks them and compares runtimes.
//!
//! Every subcommand is a folder or file of that name and goes through the same order: parse
//! ([`arguments`]), run, check ([`tidegate_command::reference`]), print ([`tidegate_command::output`]). What can go wrong is a
//! [`Failure`], which carries the exit code; nothing else ends the process, apart from Ctrl-C.
//!
//! | subcommand | does |
//! |---|---|
//! | [`mod@run`] | one program on Tidegate, checked, timed and counted |
//! | [`compare`] | a program on several runtimes in turns, as a table |
//! | [`sim`] | a program on a simulated machine, or jobs that share one |
//! | [`replay`] | what a pool has asked its rules, again |
//! | [`machine`] | what this machine, or one from a file, is and why so many workers |
//! | [`tunables`] | every number and choice that can be set |
//! | [`jobs`] | who divides the machine at this moment |
//! | [`top`] | the same as a screen that follows it |
//! | [`share`] | whether the table of jobs is in order |
//!
//! Standard output carries the answer, and with `--json` nothing but JSON; progress, notes and
//! errors go to standard error, and so does the answer where a file that is written is `-`.
//!
//! What this program does not do: hold a benchmark's code (`tidegate-workloads`), decide anything
//! about scheduling (`tidegate-policy`), share processors out (`tidegate-share`), or write a file other
//! than the pictures and the trace of `run`, what `replay` makes of one, and the page of `report`.

#![forbid(unsafe_code)]

mod arguments;
mod compare;
mod jobs;
mod machine;
mod replay;
mod roster;
mod run;
mod share;
mod sim;
mod top;
mod topology;
mod tunables;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process::ExitCode;

use tidegate::memory::ReservationError;

use arguments::{Cli, Command, ShareCommand};
use tidegate_command::arguments::run;
use tidegate_command::failure::Failure;

fn main() -> ExitCode {
    run(|cli: Cli| carry_out(cli.command))
}

/// A program that does not fit into its budget has failed, too.
fn carry_out(command: Command) -> Result<(), Failure> {
    catch_unwind(AssertUnwindSafe(|| choose(command))).unwrap_or_else(|panic| {
        let error = panic
            .downcast::<ReservationError>()
            .unwrap_or_else(|other| resume_unwind(other));
        Err(Failure::from(*error))
    })
}

fn choose(command: Command) -> Result<(), Failure> {
    match command {
        Command::Run(arguments) => run::run(&arguments),
        Command::Compare(arguments) => compare::compare(&arguments),
        Command::Sim(arguments) => sim::sim(&arguments),
        Command::Replay(arguments) => replay::run(&arguments),
        Command::Machine(arguments) => machine::print(&arguments),
        Command::Tunables(format) => tunables::print(format),
        Command::Jobs(format) => jobs::print(format),
        Command::Top(arguments) => top::run(&arguments),
        Command::Share(ShareCommand::Check(format)) => share::check(format),
    }
}
