//! A program or case as chosen on the command line.
//!
//! The subcommands of `run` and `compare` are made from the registry, so a new program appears in
//! both by itself. A name that is none is answered with the list of those that are.

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{
    Arg, ArgAction, ArgMatches, Command, CommandFactory, Error, FromArgMatches, Subcommand,
};
use tidegate_workloads::digest::Digest;
use tidegate_workloads::parameter::{Kind, Parameter, Preset};
use tidegate_workloads::registry::{ENTRIES, Entry};
use tidegate_workloads::{Given, Program};

use super::Cli;

/// A program with what was given for its parameters.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// Its name.
    pub name: &'static str,
    /// Its parameters, not checked yet.
    pub given: Given,
    /// Whether to print the line of every file.
    pub list: bool,
    /// Whether to print every problem file.
    pub verbose: bool,
}

/// What `compare` can do beside running programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// From a fork to its start on a parked worker.
    Wake,
    /// CPU time while there is nothing to do in parallel.
    Idle,
    /// Two long arms that never fork must overlap.
    JoinArms,
    /// Work hidden behind an owner that polls nothing.
    Hidden,
    /// Short loops inside and outside the pool.
    Loop,
    /// rayon's iterators on its own runtime and on Tidegate.
    Iter,
}

/// A program or a case.
#[derive(Clone, Debug)]
pub enum Contest {
    /// A program.
    Program(Chosen),
    /// A case, with the chains to which it is restricted.
    Case(Case, Vec<String>),
}

impl Case {
    const ALL: [Self; 6] = [
        Self::Wake,
        Self::Idle,
        Self::JoinArms,
        Self::Hidden,
        Self::Loop,
        Self::Iter,
    ];

    /// The name by which a user asks for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Wake => "wake",
            Self::Idle => "idle",
            Self::JoinArms => "join-arms",
            Self::Hidden => "hidden",
            Self::Loop => "loop",
            Self::Iter => "iter",
        }
    }

    fn summary(self) -> &'static str {
        match self {
            Self::Wake => "time from a fork to its start on a parked worker, beside a bare futex",
            Self::Idle => "CPU time of an idle pool, and of serial phases between parallel bursts",
            Self::JoinArms => "by how much two arms of a join overlap that never fork",
            Self::Hidden => "how long work waits behind an owner that polls nothing",
            Self::Loop => "a short loop, many times, inside and outside the pool",
            Self::Iter => "chains of rayon's iterators on its own runtime and on tidegate",
        }
    }

    /// The subcommand.
    fn command(self) -> Command {
        let command = Command::new(self.name()).about(self.summary());
        match self {
            Self::Iter => command.arg(chain()).after_help(AFTER_ITER),
            _ => command,
        }
    }
}

impl FromArgMatches for Chosen {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let entry = subcommand(matches).and_then(|(name, matches)| Some((entry(name)?, matches)));
        match entry {
            Some((entry, matches)) => Ok(Self::read(entry, matches)),
            None => Err(unknown(
                "run",
                matches,
                ENTRIES.iter().map(|entry| entry.name),
            )),
        }
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Subcommand for Chosen {
    fn augment_subcommands(command: Command) -> Command {
        let programs = ENTRIES.iter().map(|entry| match entry.name {
            Digest::NAME => program(entry)
                .args(digest_flags())
                .after_help(result(entry) + SECOND_READING),
            _ => program(entry),
        });
        open(command).subcommands(programs)
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        entry(name).is_some()
    }
}

impl FromArgMatches for Contest {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let name = subcommand(matches).map(|(name, _)| name);
        match Case::ALL.into_iter().find(|case| Some(case.name()) == name) {
            Some(case) => Ok(Self::Case(case, chains(matches))),
            None if name.is_some_and(|name| entry(name).is_some()) => {
                Chosen::from_arg_matches(matches).map(Self::Program)
            }
            None => {
                let programs = ENTRIES.iter().map(|entry| entry.name);
                let known = programs.chain(Case::ALL.map(Case::name));
                Err(unknown("compare", matches, known))
            }
        }
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Subcommand for Contest {
    fn augment_subcommands(command: Command) -> Command {
        open(command)
            .subcommands(ENTRIES.iter().map(program))
            .subcommands(Case::ALL.map(Case::command))
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        entry(name).is_some() || Case::ALL.iter().any(|case| case.name() == name)
    }
}

impl Chosen {
    fn read(entry: &Entry, matches: &ArgMatches) -> Self {
        let text = |id: &str| matches.get_one::<OsString>(id).cloned();
        let flag = |name| matches!(matches.try_get_one(name), Ok(Some(true)));
        let positional = entry.parameters.iter().filter(|p| p.positional);
        let named =
            |parameter: &Parameter| Some((parameter.name.to_owned(), text(parameter.name)?));
        Self {
            name: entry.name,
            given: Given {
                positional: positional.filter_map(|p| text(&place_id(p))).collect(),
                named: entry.parameters.iter().filter_map(named).collect(),
            },
            list: flag("list"),
            verbose: flag("verbose"),
        }
    }
}

/// A command whose subcommands are checked here and not by the parser, for the sake of the message.
pub(super) fn open(command: Command) -> Command {
    command
        .subcommand_required(true)
        .arg_required_else_help(true)
        .allow_external_subcommands(true)
}

pub(super) fn subcommand(matches: &ArgMatches) -> Option<(&str, &ArgMatches)> {
    matches.subcommand()
}

pub(super) fn entry(name: &str) -> Option<&'static Entry> {
    ENTRIES.iter().find(|entry| entry.name == name)
}

/// What `command` was asked for is none of these.
pub(super) fn unknown<'a>(
    command: &str,
    matches: &ArgMatches,
    known: impl Iterator<Item = &'a str>,
) -> Error {
    let name = matches.subcommand_name().unwrap_or_default();
    let known: Vec<_> = known.collect();
    let told = format!("{name:?} is none of: {}", known.join(", "));
    // The usage that an error shows is that of the command which makes it.
    let mut cli = Cli::command();
    cli.build();
    let command = cli.find_subcommand_mut(command).expect("it was given");
    command.error(ErrorKind::InvalidSubcommand, told)
}

/// The option that restricts `compare iter`.
fn chain() -> Arg {
    Arg::new("chain")
        .long("chain")
        .value_name("CHAIN,..")
        .value_delimiter(',')
        .action(ArgAction::Append)
        .help("Only these chains [default: all]")
}

/// What was given for that option, nothing where it does not exist.
fn chains(matches: &ArgMatches) -> Vec<String> {
    let matches = subcommand(matches).map(|(_, matches)| matches);
    match matches.map(|matches| matches.try_get_many::<String>("chain")) {
        Some(Ok(Some(chains))) => chains.cloned().collect(),
        _ => Vec::new(),
    }
}

/// What the help of `compare iter` says of its output.
const AFTER_ITER: &str = "\
Two programs are built, one on the published rayon-core and one on this repository's, and sampled in turns with two \
workers unless --workers is given. Chains run on 10^3 to 10^6 items, with --size paper on 10^7 too (all but \
sort_strings).

A ratio is stock's median by tidegate's: above 1 tidegate is faster. Its 95 % interval comes from redrawn samples \
(bootstrap with a constant seed). A row is marked slower if the whole interval lies below 0.97; that is no failure.

JSON: an object of rows (of all samples, as in the other comparisons: `compare --help`), cells (chain, items, \
place: inside, outside or install, workers, stock_ns, tidegate_ns, ratio, ratio_low, ratio_high (null for fewer \
than 6 samples), slower) and facts (what, value).
";

/// What the help of `run digest` says of times.
const SECOND_READING: &str = "
The serial version runs last and reads the files a second time, from the system's cache if they fit: \
no speedup is told, for the first run may have waited for the disk. `compare digest` warms up first.
";

/// The subcommand of a program.
pub(super) fn program(entry: &Entry) -> Command {
    let positional = || entry.parameters.iter().filter(|p| p.positional);
    let places = positional().enumerate().map(|(order, p)| place(p, order));
    let first = positional().count();
    let named = entry.parameters.iter().enumerate().map(|(order, p)| {
        argument(p.name.to_owned(), p, first + order)
            .long(p.name)
            .hide(p.positional)
    });
    Command::new(entry.name)
        .about(entry.summary)
        .after_help(result(entry))
        .args(places)
        .args(named)
}

/// The fields of a program's result, for its help.
fn result(entry: &Entry) -> String {
    let mut help = String::from("Result:\n");
    for field in entry.result {
        help += &format!("  {:<12} {}\n", field.name, field.meaning);
    }
    help
}

/// A parameter by position.
fn place(parameter: &Parameter, order: usize) -> Arg {
    let place = argument(place_id(parameter), parameter, order);
    match parameter.preset {
        // An argument is not required when one that it conflicts with is there.
        Preset::Required => place.required(true).conflicts_with(parameter.name),
        _ => place,
    }
}

/// The identifier of a parameter given by position; its name is that of the one given by name.
fn place_id(parameter: &Parameter) -> String {
    format!("{} by position", parameter.name)
}

/// A parameter whose line in the help is the `order`-th of all parameters.
fn argument(id: String, parameter: &Parameter, order: usize) -> Arg {
    let allowed = match parameter.kind {
        Kind::Path => String::new(),
        kind => format!(" [{kind}]"),
    };
    let preset = match parameter.preset {
        Preset::Sizes([tiny, small, paper]) if tiny == small && small == paper => {
            format!(" [default: {tiny}]")
        }
        Preset::Sizes(sizes) => format!(" [default by size: {}]", sizes.join(", ")),
        Preset::Required => String::new(),
        Preset::Implied(words) => format!(" [default: {words}]"),
    };
    Arg::new(id)
        .value_name(parameter.name.to_uppercase())
        // Without this all positional parameters come last, by name.
        .display_order(order)
        .help(format!("{}{allowed}{preset}", parameter.meaning))
        .help_heading("Parameters")
        .value_parser(clap::value_parser!(OsString))
        .allow_negative_numbers(true)
}

fn digest_flags() -> [Arg; 2] {
    let flag = |name, help| {
        Arg::new(name)
            .long(name)
            .action(ArgAction::SetTrue)
            .help(help)
    };
    [
        flag(
            "list",
            "Print the line of every file, as sha256sum does, and no summary",
        )
        .conflicts_with("json"),
        flag(
            "verbose",
            "Print all problem files and not only the first ten of each kind",
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    fn all_commands(command: &Command) -> Vec<&Command> {
        let below = command.get_subcommands().flat_map(all_commands);
        [command].into_iter().chain(below).collect()
    }

    /// The parser breaks lines where the terminal ends, so that any break before would make them ragged.
    #[test]
    fn no_paragraph_of_a_help_has_breaks_of_its_own_but_for_lists() {
        let cli = Cli::command();
        let mut helps = 0;
        for command in all_commands(&cli) {
            let Some(help) = command.get_after_help() else {
                continue;
            };
            let help = help.to_string();
            for paragraph in help.trim().split("\n\n") {
                let list = |line: &str| line.starts_with("  ");
                assert!(paragraph.lines().skip(1).all(list), "{paragraph}");
            }
            helps += 1;
        }
        assert!(helps > 10);
    }

    #[test]
    fn no_parameter_shares_a_name_with_an_option() {
        let mut cli = Cli::command();
        cli.build();
        for command in ["run", "compare"] {
            let command = cli.find_subcommand(command).unwrap();
            let options: Vec<_> = command.get_arguments().filter_map(Arg::get_long).collect();
            assert!(options.contains(&"json"));
            for entry in ENTRIES {
                for parameter in entry.parameters {
                    assert!(!options.contains(&parameter.name), "{}", parameter.name);
                }
            }
        }
    }
}
