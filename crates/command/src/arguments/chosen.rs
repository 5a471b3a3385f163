//! A program or case as chosen on the command line.
//!
//! The subcommands of `run` and `compare` are made from the registry, so a new program appears in
//! both by itself. A name that is none is answered with the list of those that are.

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Command, Error, FromArgMatches, Subcommand};
use tidegate_workloads::digest::Digest;
use tidegate_workloads::parameter::{Kind, Parameter, Preset};
use tidegate_workloads::registry::{ENTRIES, Entry};
use tidegate_workloads::{Given, Program};

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

impl FromArgMatches for Chosen {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let entry = matches
            .subcommand()
            .and_then(|(name, matches)| Some((entry(name)?, matches)));
        match entry {
            Some((entry, matches)) => Ok(Self::read(entry, matches)),
            None => Err(unknown(matches, ENTRIES.iter().map(|entry| entry.name))),
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

impl Chosen {
    /// The program and what was given for its parameters, as on the command line.
    pub fn label(&self) -> String {
        let positional = self.given.positional.iter();
        let named = self.given.named.iter();
        let words = positional.map(|value| value.to_string_lossy().into_owned());
        let options = named.map(|(name, value)| format!("--{name} {}", value.to_string_lossy()));
        let words: Vec<_> = [self.name.to_owned()]
            .into_iter()
            .chain(words)
            .chain(options)
            .collect();
        words.join(" ")
    }

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
pub fn open(command: Command) -> Command {
    command
        .subcommand_required(true)
        .arg_required_else_help(true)
        .allow_external_subcommands(true)
}

/// The registry's entry for a program.
pub fn entry(name: &str) -> Option<&'static Entry> {
    ENTRIES.iter().find(|entry| entry.name == name)
}

/// The name that was asked for is none of these.
pub fn unknown<'a>(matches: &ArgMatches, known: impl Iterator<Item = &'a str>) -> Error {
    let name = matches.subcommand_name().unwrap_or_default();
    let known: Vec<_> = known.collect();
    let told = format!("{name:?} is none of: {}\n", known.join(", "));
    Error::raw(ErrorKind::InvalidSubcommand, told)
}

/// What the help of `run digest` says of times.
const SECOND_READING: &str = "
The serial version runs last and reads the files a second time, from the system's cache if they fit: \
no speedup is told, for the first run may have waited for the disk. `compare digest` warms up first.
";

/// The subcommand of a program.
pub fn program(entry: &Entry) -> Command {
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
