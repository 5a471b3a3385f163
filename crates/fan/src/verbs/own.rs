//! The command line of a program of its own, and what it asks of the program's names.

use std::process::ExitCode;

use clap::{Args, CommandFactory, FromArgMatches, Parser};

use super::{RunArguments, Verb, act};
use crate::{Error, Split};

const AFTER: &str = "\
Exit codes: 0 success, 1 a result is missing, torn or wrong, or a piece panicked, 2 invalid usage, plan or item, \
3 another machine or another time may succeed, 128 + n signal n has interrupted `run`.";

// No doc comment: it would be the help of every program.
#[derive(Debug, Parser)]
struct Command<P: Split> {
    #[command(subcommand)]
    verb: Verb<P>,
}

/// Gives a program the verbs of this crate: call it from `main`. Prints errors to standard error.
///
/// The exit code is 0 after success, 1 if results are missing or wrong or a piece panicked, 2 if
/// the plan, the item or the command line is wrong, 3 if another machine may succeed, and 128 and
/// its number if a signal has interrupted the verb `run`.
pub fn main<P: Split>() -> ExitCode {
    let done = check::<P>().and_then(|()| {
        let matches = command::<P>().get_matches();
        match Command::<P>::from_arg_matches(&matches) {
            Ok(command) => act(command.verb, &[]),
            Err(error) => error.exit(),
        }
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}: {error}", P::NAME);
            ExitCode::from(error.code())
        }
    }
}

/// Returns the command. The doc comment of the program is the help.
fn command<P: Split>() -> clap::Command {
    let program = P::augment_args(clap::Command::new(P::NAME));
    let about = program.get_about().cloned();
    let about = about.unwrap_or_else(|| format!("{}, split into pieces", P::NAME).into());
    let command = Command::<P>::command().name(P::NAME).version(P::VERSION);
    let long = program.get_long_about().unwrap_or(&about).clone();
    command.about(about).long_about(long).after_help(AFTER)
}

/// Fails if an argument of the program has the name of one of the verb `run`. Of two arguments with
/// one name, clap would fill only one, or panic in a debug build.
pub fn check<P: Split>() -> Result<(), Error> {
    const {
        assert!(
            is_plain(P::NAME),
            "Split::NAME must have only letters, digits, hyphens, underscores and dots"
        );
    }
    let ours = RunArguments::augment_args(clap::Command::new(P::NAME));
    let mut theirs = P::augment_args(clap::Command::new(P::NAME));
    // The program may have deferred arguments.
    theirs.build();
    match clash(&theirs, &ours) {
        None => Ok(()),
        Some(name) => Err(Error::never(format!(
            "the argument `{name}` of {} is one of tidegate-fan's: rename it",
            P::NAME
        ))),
    }
}

/// Whether a folder can be named after the program.
const fn is_plain(name: &str) -> bool {
    let mut rest = name.as_bytes();
    while let [first, others @ ..] = rest {
        if !(first.is_ascii_alphanumeric() || matches!(first, b'-' | b'_' | b'.')) {
            return false;
        }
        rest = others;
    }
    !name.is_empty()
}

/// Returns a name that both commands use, or a subcommand of `theirs`: all options of `run` may
/// follow a subcommand.
fn clash(theirs: &clap::Command, ours: &clap::Command) -> Option<String> {
    let (longs, ids) = (longs(ours), ids(ours));
    let long = self::longs(theirs)
        .into_iter()
        .find(|long| longs.contains(long));
    let id = self::ids(theirs).into_iter().find(|id| ids.contains(id));
    let here = long.or(id).map(str::to_owned);
    here.or_else(|| {
        theirs
            .get_subcommands()
            .find_map(|below| clash(below, ours))
    })
}

fn longs(command: &clap::Command) -> Vec<&str> {
    let arguments = command.get_arguments();
    let longs = arguments.flat_map(|argument| {
        let aliases = argument.get_all_aliases().unwrap_or_default();
        argument.get_long().into_iter().chain(aliases)
    });
    longs.collect()
}

/// Returns the identifiers of arguments, and those of groups: the names of their structs.
fn ids(command: &clap::Command) -> Vec<&str> {
    let arguments = command.get_arguments().map(|argument| argument.get_id());
    let groups = command.get_groups().map(|group| group.get_id());
    arguments.chain(groups).map(clap::Id::as_str).collect()
}

#[cfg(test)]
mod tests {
    use clap::{Arg, ArgMatches, Subcommand};
    use serde::{Deserialize, Serialize};

    use super::super::{PieceArguments, carry_out};
    use super::*;
    use crate::testing::split;

    /// Counts odd numbers.
    ///
    /// More about them.
    #[derive(Args, Debug, Serialize, Deserialize)]
    struct Odd {
        /// Where the numbers end
        #[arg(long)]
        below: u64,
    }
    split!(Odd, "odd");

    #[derive(Args, Serialize, Deserialize)]
    struct Long {
        #[arg(id = "other", long = "dry-run")]
        field: bool,
    }
    split!(Long, "odd");

    #[derive(Args, Serialize, Deserialize)]
    struct Positional {
        json: String,
    }
    split!(Positional, "odd");

    #[derive(Args, Serialize, Deserialize)]
    struct Below {
        #[command(subcommand)]
        program: Program,
    }
    split!(Below, "odd");

    #[derive(Subcommand, Serialize, Deserialize)]
    enum Program {
        One {
            #[arg(long, alias = "budget")]
            money: u64,
        },
    }

    #[derive(Serialize, Deserialize)]
    struct Deferred;
    split!(Deferred, "odd");

    impl Args for Deferred {
        fn augment_args(parent: clap::Command) -> clap::Command {
            let argument = |command: clap::Command| command.arg(Arg::new("cpus"));
            parent.subcommand(clap::Command::new("one").defer(argument))
        }

        fn augment_args_for_update(parent: clap::Command) -> clap::Command {
            Self::augment_args(parent)
        }
    }

    impl FromArgMatches for Deferred {
        fn from_arg_matches(_: &ArgMatches) -> Result<Self, clap::Error> {
            Ok(Self)
        }

        fn update_from_arg_matches(&mut self, _: &ArgMatches) -> Result<(), clap::Error> {
            Ok(())
        }
    }

    #[test]
    fn arguments_of_run_are_reserved() {
        check::<Odd>().unwrap();
        for (checked, name) in [
            (check::<Long>(), "dry-run"),
            (check::<Positional>(), "json"),
            (check::<Below>(), "budget"),
            (check::<Deferred>(), "cpus"),
        ] {
            let error = checked.unwrap_err();
            let text = format!("the argument `{name}` of odd is one of tidegate-fan's: rename it");
            assert_eq!((error.to_string(), error.code()), (text, 2));
        }
    }

    /// A piece must start fast, so it does not build them.
    #[test]
    fn pieces_check_no_arguments() {
        let empty = tempfile::tempdir().unwrap();
        let folder = empty.path().to_str().unwrap();
        let command = PieceArguments::augment_args(clap::Command::new("piece"));
        let matches = command.get_matches_from(["piece", "--item", "0", "--out", folder]);
        let verb = PieceArguments::from_arg_matches(&matches).map(Verb::<Long>::Piece);
        let error = carry_out(verb.unwrap(), &[]).unwrap_err();
        assert!(error.to_string().contains("plan.json"), "{error}");
    }

    #[test]
    fn reserved_names_are_documented() {
        let ours = RunArguments::augment_args(clap::Command::new("run"));
        let names: Vec<_> = longs(&ours)
            .iter()
            .map(|name| format!("`{name}`"))
            .collect();
        let names = names.join(", ");
        for text in [
            include_str!("../lib.rs").replace("///", ""),
            include_str!("../../../../docs/guide/many-machines.md").to_owned(),
        ] {
            let text: Vec<_> = text.split_whitespace().collect();
            assert!(text.join(" ").contains(&names), "{names}");
        }
    }

    #[test]
    fn help_is_that_of_the_program() {
        let mut command = command::<Odd>();
        command.build();
        let help = command.render_long_help().to_string();
        let about = "Counts odd numbers.\n\nMore about them.\n";
        assert!(help.starts_with(about), "{help}");
        assert!(help.contains("Exit codes: 0 success"), "{help}");
        let run = command.find_subcommand_mut("run").expect("the verb");
        let help = run.render_help().to_string();
        assert!(help.starts_with("Plan, let an engine run"), "{help}");
        let help = super::command::<Long>().render_help().to_string();
        assert!(help.starts_with("odd, split into pieces\n"), "{help}");
    }

    #[test]
    fn names_suit_folders() {
        assert!(is_plain("primes-2_b.x"));
        for name in ["", "a/b", "a b", "a\\b", "größe"] {
            assert!(!is_plain(name), "{name}");
        }
    }
}
