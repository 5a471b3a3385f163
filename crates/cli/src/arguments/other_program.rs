//! The value of `sim --job`: another program with its parameters, spelled as on the command line.

use clap::builder::EnumValueParser;
use clap::{Arg, ArgMatches, Command, Error, FromArgMatches};
use tidegate_cli_support::arguments::{Chosen, Size, open, program, rendered};

use super::simulation::{SIMULATED, simulated};

/// A program that `sim` simulates in addition to the subcommand's program.
#[derive(Clone, Debug)]
pub struct OtherProgram {
    pub text: String,
    pub chosen: Chosen,
    /// The program's size; `None` for the size of the simulation.
    pub size: Option<Size>,
}

/// Parses the value of `--job`.
pub fn other_program(text: &str) -> Result<OtherProgram, String> {
    read(text).map_err(|error| {
        let message = rendered(&error);
        let first = message.lines().next().unwrap_or_default();
        first.trim_start_matches("error: ").to_owned()
    })
}

fn read(text: &str) -> Result<OtherProgram, Error> {
    let matches = command().try_get_matches_from(text.split_whitespace())?;
    let of_program = |(name, matches)| known(name).then_some(matches);
    let Some(matches_of_program) = matches.subcommand().and_then(of_program) else {
        return Err(SIMULATED.unknown(&matches, simulated().map(|entry| entry.name)));
    };
    Ok(OtherProgram {
        text: text.split_whitespace().collect::<Vec<_>>().join(" "),
        chosen: Chosen::from_arg_matches(&matches)?,
        size: size(matches_of_program),
    })
}

fn known(name: &str) -> bool {
    simulated().any(|entry| entry.name == name)
}

fn size(matches: &ArgMatches) -> Option<Size> {
    matches.get_one("size").copied()
}

/// Returns the command that parses a value of `--job`. Like `sim`, it has a subcommand for each
/// program. But these have only the option `--size`, because the other options of `sim` describe
/// the machine.
fn command() -> Command {
    let size = Arg::new("size")
        .long("size")
        .value_parser(EnumValueParser::<Size>::new());
    let program = |entry| program(entry).arg(size.clone()).disable_help_flag(true);
    open(Command::new("--job").no_binary_name(true))
        .arg_required_else_help(false)
        .disable_help_flag(true)
        .disable_help_subcommand(true)
        .subcommands(simulated().map(program))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_parameters_and_size() {
        let read = other_program("  knary 8 --k 4 --r 2 --size tiny").unwrap();
        assert_eq!(read.text, "knary 8 --k 4 --r 2 --size tiny");
        assert_eq!(read.chosen.label(), "knary 8 --k 4 --r 2");
        assert_eq!(read.size, Some(Size::Tiny));
        assert_eq!(other_program("fib").unwrap().size, None);
    }

    #[test]
    fn rejects_in_one_line() {
        for (text, part) in [
            ("", "requires a subcommand"),
            ("nothing 3", "unknown workload \"nothing\""),
            ("digest .", "workload \"digest\" cannot be simulated"),
            ("fob 3", "did you mean \"fib\"?"),
            ("fib 1 2", "unexpected argument \"2\""),
            ("fib --idle yield", "unexpected argument \"--idle\""),
            ("fib --help", "unexpected argument \"--help\""),
            ("fib --size vast", "invalid value \"vast\" for --size"),
        ] {
            let message = other_program(text).unwrap_err();
            assert!(message.contains(part), "{text}: {message}");
            assert!(!message.trim_end().contains('\n'), "{message}");
        }
    }
}
