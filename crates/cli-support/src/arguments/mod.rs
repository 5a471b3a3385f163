//! Options and parameters that both commands share.
//!
//! Parameters of programs come from the registry, which also checks their values.

use std::error::Error;
use std::process::{ExitCode, Termination};

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue};
use clap::{Args, Parser, ValueEnum};
use serde::{Deserialize, Serialize};

mod chosen;
mod deferred;
mod whole;

pub use chosen::{Choice, Chosen, entry, grouped_help, open, program};
pub use deferred::Deferred;
pub use tidegate_fan::whole;
pub use whole::repetitions;

use crate::failure::Failure;
use crate::output;

/// The output format.
#[derive(Args, Clone, Copy, Debug)]
pub struct Format {
    /// Print JSON
    #[arg(long, global = true)]
    pub json: bool,
}

/// The output format of a table.
#[derive(Args, Clone, Copy, Debug)]
#[command(next_help_heading = "Output options")]
pub struct TableFormat {
    /// Print JSON
    #[arg(long, global = true)]
    pub json: bool,
    /// Print all columns as comma-separated values, with times in seconds and sizes in bytes
    #[arg(long, global = true, conflicts_with = "json")]
    pub csv: bool,
    /// Print all columns, even if lines are longer than 80 characters
    #[arg(long, global = true, conflicts_with_all = ["json", "csv"])]
    pub wide: bool,
}

/// The problem size, which sets the defaults of parameters.
#[derive(ValueEnum, Serialize, Deserialize, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
#[expect(
    missing_docs,
    reason = "the parser would print each variant's text in every help"
)]
pub enum Size {
    // The aliases are the names of sizes in the Java Grande benchmarks.
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

/// Parses the command line, calls `work`, and reports its exit code or a failure. `main` only has
/// to call this function.
pub fn run<C: Parser, T: Termination>(work: impl FnOnce(C) -> Result<T, Failure>) -> ExitCode {
    let done = match parse::<C>() {
        Ok(command) => work(command).map(T::report),
        Err(error) if error.use_stderr() => {
            let message = output::tame(&rendered(&error));
            // If the subcommand is missing, the error is the help text, which doesn't have this
            // prefix.
            match message.strip_prefix("error: ") {
                Some(message) => complain::<C>(message),
                None => output::to_stderr(&message),
            }
            return ExitCode::from(2);
        }
        Err(help) => {
            let text = output::tame(&help.render().to_string());
            output::to_stdout(|out| out.write_all(text.as_bytes())).map(|()| ExitCode::SUCCESS)
        }
    };
    match done {
        Ok(code) => code,
        Err(failure) => {
            let message = output::tame(&failure.to_string());
            complain::<C>(&format!("{message}\n"));
            failure.code()
        }
    }
}

/// Renders an error, with the quotation marks of our own messages. If one of our parsers rejected the
/// value, the message would quote it twice, because clap quotes it as well. In that case, removes
/// our copy and keeps what was expected.
pub fn rendered(error: &clap::Error) -> String {
    // What clap quotes has a style of its own, unlike an apostrophe.
    let styled = (error.render().ansi().to_string())
        .replace("'\x1b[", "\"\x1b[")
        .replace("\x1b[0m'", "\x1b[0m\"");
    let mut message = StyledStr::from(styled).to_string();
    if let Some(ContextValue::String(argument)) = error.get(ContextKind::InvalidArg) {
        // Our messages don't quote what has the value.
        message = message.replacen(
            &format!(" for {argument:?}"),
            &format!(" for {argument}"),
            1,
        );
    }
    let (Some(ContextValue::String(value)), Some(source)) =
        (error.get(ContextKind::InvalidValue), error.source())
    else {
        return message;
    };
    let ours = source.to_string();
    match ours.split_once(": expected ") {
        Some((problem, expected)) if problem.contains(&format!("{value:?}")) => {
            message.replacen(&ours, &format!("expected {expected}"), 1)
        }
        _ => message,
    }
}

/// Prints an error message that begins with the command's name.
fn complain<C: Parser>(message: &str) {
    output::to_stderr(&format!("{}: {message}", C::command().get_name()));
}

/// Parses this process's command line. Errors include the usage of the chosen subcommand.
fn parse<C: Parser>() -> Result<C, clap::Error> {
    let mut command = C::command();
    let matches = command.try_get_matches_from_mut(std::env::args_os())?;
    C::from_arg_matches(&matches).map_err(|error| {
        let (mut chosen, mut matches) = (&mut command, &matches);
        while let Some((name, below)) = matches.subcommand() {
            if chosen.find_subcommand(name).is_none() {
                break;
            }
            chosen = chosen.find_subcommand_mut(name).expect("it was found");
            matches = below;
        }
        error.format(chosen)
    })
}
