//! Subcommands that are built when they are chosen.

use clap::builder::Resettable;
use clap::{ArgMatches, Args, Command, Error, FromArgMatches, Subcommand};

/// What follows a subcommand. The parser builds it when the subcommand is chosen, so a start does
/// not pay for the options of the other subcommands.
#[derive(Clone, Copy, Debug)]
pub struct Deferred<A>(pub A);

/// Builds a subcommand with `build`, and keeps the description that its parent's help shows. clap
/// would replace it by the comments on the structs that declare the options.
fn described(command: Command, build: fn(Command) -> Command) -> Command {
    let about = Resettable::from(command.get_about().cloned());
    let long_about = Resettable::from(command.get_long_about().cloned());
    build(command).about(about).long_about(long_about)
}

impl<A: FromArgMatches> FromArgMatches for Deferred<A> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        A::from_arg_matches(matches).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.0.update_from_arg_matches(matches)
    }
}

impl<A: Args> Args for Deferred<A> {
    fn augment_args(command: Command) -> Command {
        command.defer(|command| described(command, A::augment_args))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<A: Subcommand> Subcommand for Deferred<A> {
    fn augment_subcommands(command: Command) -> Command {
        command.defer(|command| described(command, A::augment_subcommands))
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        A::has_subcommand(name)
    }
}
