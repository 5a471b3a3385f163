//! Options and parameters that both commands take.
//!
//! Parameters of programs come from the registry of programs, which also checks their values.
//! Nothing is read twice: a value that the parser accepts is used as it stands.

use std::process::ExitCode;

use clap::{Args, Parser, ValueEnum};

mod chosen;
mod whole;

pub use chosen::{Chosen, entry, open, program, unknown};
pub use whole::{repetitions, whole};

use crate::failure::Failure;
use crate::output;

/// How the answer is printed.
#[derive(Args, Clone, Copy, Debug)]
pub struct Format {
    /// Print JSON
    #[arg(long, global = true)]
    pub json: bool,
}

/// How an answer that is a table is printed.
#[derive(Args, Clone, Copy, Debug)]
#[command(next_help_heading = "Output options")]
pub struct TableFormat {
    /// Print JSON
    #[arg(long, global = true)]
    pub json: bool,
    /// Print all columns as comma-separated values: times in seconds, sizes in bytes
    #[arg(long, global = true, conflicts_with = "json")]
    pub csv: bool,
    /// Print all columns, in lines of more than 80 characters
    #[arg(long, global = true, conflicts_with_all = ["json", "csv"])]
    pub wide: bool,
}

/// How big a program is when parameters are left out.
#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(
    missing_docs,
    reason = "the parser would print each variant's text in every help"
)]
pub enum Size {
    // The other names are those of Java Grande's sizes.
    #[value(alias = "test")]
    Tiny,
    #[default]
    #[value(alias = "A")]
    Small,
    #[value(alias = "B")]
    Paper,
}

impl From<Size> for tidegate_workloads::Size {
    fn from(size: Size) -> Self {
        match size {
            Size::Tiny => Self::Tiny,
            Size::Small => Self::Small,
            Size::Paper => Self::Paper,
        }
    }
}

/// Parses the command line, does the work and reports a failure: the whole of a command's `main`.
pub fn run<C: Parser>(work: impl FnOnce(C) -> Result<(), Failure>) -> ExitCode {
    let done = match parse::<C>() {
        Ok(command) => work(command),
        Err(error) if error.use_stderr() => {
            output::to_stderr(&output::tame(&error.render().to_string()));
            return ExitCode::from(2);
        }
        Err(help) => {
            let text = output::tame(&help.render().to_string());
            output::to_stdout(|out| out.write_all(text.as_bytes()))
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            let message = output::tame(&failure.to_string());
            output::to_stderr(&format!("{}: {message}\n", C::command().get_name()));
            failure.code()
        }
    }
}

/// Reads this process's command line. An error shows the usage of the subcommand that was given.
fn parse<C: Parser>() -> Result<C, clap::Error> {
    let mut command = C::command();
    let matches = command.try_get_matches_from_mut(std::env::args_os())?;
    C::from_arg_matches(&matches).map_err(|error| {
        let chosen = matches.subcommand_name().unwrap_or_default();
        match command.find_subcommand_mut(chosen) {
            Some(chosen) => error.format(chosen),
            None => error.format(&mut command),
        }
    })
}
