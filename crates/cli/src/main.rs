//! The `tidegate` command: runs programs on the runtime, checks them and compares runtimes.
//!
//! Every subcommand has a module with the same name, and follows the same order: parse
//! ([`arguments`]), run, check ([`tidegate_cli_support::reference`]), print
//! ([`tidegate_cli_support::output`]). Any error is a [`Failure`], which determines the exit code.
//! Nothing else ends the process, except Ctrl-C, and in [`exec`] the signal that ended its program
//! and the end of its watcher. Only [`exec`] can succeed with a code other than 0.
//!
//! | subcommand | purpose |
//! |---|---|
//! | [`mod@run`] | runs a program on Tidegate, checks it and reports times and counters |
//! | [`compare`] | runs a program on several runtimes and prints a table |
//! | [`sim`] | simulates a program, or jobs that share a machine |
//! | [`replay`] | repeats the scheduling decisions of a recorded pool |
//! | [`machine`] | describes this machine, or one from a file, and explains the number of workers |
//! | [`tunables`] | lists all tuning parameters |
//! | [`jobs`] | lists the jobs that currently share the machine |
//! | [`top`] | monitors these jobs |
//! | [`table`] | checks the table of jobs |
//! | [`exec`] | runs any program as a job that shares the machine |
//! | [`fan`] | runs a program in pieces, on many machines |
//!
//! The result goes to standard output, which contains only JSON with `--json`. Progress, notes and
//! errors go to standard error, and so does the result if an output file is `-`.
//!
//! The benchmark programs are in `tidegate-workloads`, scheduling decisions in `tidegate-policy`,
//! and sharing in `tidegate-share`. The only files written are the pictures and the trace of `run`,
//! the timeline of `replay`, the table of jobs, and the record and the fifo of `exec`.

#![forbid(unsafe_code)]

mod arguments;
mod command_line;
mod compare;
mod exec;
mod fan;
mod jobs;
mod machine;
mod replay;
mod roster;
mod run;
mod sim;
mod table;
mod top;
mod topology;
mod tunables;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process::ExitCode;

use tidegate::memory::ReservationError;

use command_line::{Cli, Command, TableCommand};
use tidegate_cli_support::arguments::{Deferred, run};
use tidegate_cli_support::failure::Failure;

fn main() -> ExitCode {
    run(|cli: Cli| carry_out(cli.command))
}

/// Runs a subcommand. If a program panics because it exceeds its memory budget, the panic becomes a
/// failure.
fn carry_out(command: Command) -> Result<ExitCode, Failure> {
    catch_unwind(AssertUnwindSafe(|| choose(command))).unwrap_or_else(|panic| {
        let error = panic
            .downcast::<ReservationError>()
            .unwrap_or_else(|other| resume_unwind(other));
        Err(Failure::from(*error))
    })
}

fn choose(command: Command) -> Result<ExitCode, Failure> {
    let done = match command {
        Command::Run(Deferred(arguments)) => run::run(&arguments),
        Command::Compare(Deferred(arguments)) => compare::compare(&arguments),
        Command::Sim(Deferred(arguments)) => sim::sim(&arguments),
        Command::Replay(Deferred(arguments)) => replay::run(&arguments),
        Command::Machine(Deferred(arguments)) => machine::print(&arguments),
        Command::Tunables(Deferred(format)) => tunables::print(format),
        Command::Jobs(Deferred(arguments)) => jobs::print(arguments.format),
        Command::Top(Deferred(arguments)) => top::run(&arguments),
        Command::Table(Deferred(TableCommand::Check(format))) => table::check(format),
        Command::Exec(Deferred(arguments)) => return exec::run(arguments),
        Command::Fan(Deferred(verb)) => fan::carry_out(verb),
        #[cfg(target_os = "linux")]
        Command::ExecWatch { record } => exec::watch(record.as_deref()),
    };
    done.map(|()| ExitCode::SUCCESS)
}
