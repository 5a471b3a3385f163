//! The program that the user chose on the command line.
//!
//! The subcommands of `run` and `compare` come from the registry of programs, so a new program
//! appears in both automatically. Their help lists the programs by group. clap cannot group
//! subcommands, so they are hidden, and the list is part of the help template.

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Command, Error, FromArgMatches, Subcommand};
use tidegate_workloads::digest::Digest;
use tidegate_workloads::parameter::{Kind, Parameter, Preset};
use tidegate_workloads::registry::{ENTRIES, Entry, GROUPS};
use tidegate_workloads::{Given, Program};

/// A program and the values of its parameters.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// The program's name.
    pub name: &'static str,
    /// The values of the parameters, which haven't been checked yet.
    pub given: Given,
    /// Whether to print a line for every file.
    pub list: bool,
    /// Whether to list every file with a problem.
    pub verbose: bool,
}

impl FromArgMatches for Chosen {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let entry = matches
            .subcommand()
            .and_then(|(name, matches)| Some((entry(name)?, matches)));
        match entry {
            Some((entry, matches)) => Ok(Self::read(entry, matches)),
            None => Err(RUN.unknown(matches, ENTRIES.iter().map(|entry| entry.name))),
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
                .after_help(result(entry) + COLD_FILES),
            _ => program(entry),
        });
        open(command)
            .help_template(grouped_help(|_| true))
            .subcommands(programs.map(|program| program.hide(true)))
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        entry(name).is_some()
    }
}

impl Chosen {
    /// Returns the program's name and parameters in the syntax of the command line.
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

/// Makes the parser accept unknown subcommands, so that [`Choice::unknown`] can report them.
pub fn open(command: Command) -> Command {
    command
        .subcommand_required(true)
        .arg_required_else_help(true)
        .allow_external_subcommands(true)
}

/// Returns a program's entry in the registry.
pub fn entry(name: &str) -> Option<&'static Entry> {
    ENTRIES.iter().find(|entry| entry.name == name)
}

/// What a subcommand is the name of, for errors.
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    /// What the help calls it.
    pub noun: &'static str,
    /// What cannot be done with an entry of the registry that is no choice here.
    pub participle: &'static str,
    /// The command that lists the choices.
    pub list: &'static str,
}

const RUN: Choice = Choice {
    noun: "workload",
    participle: "run",
    list: "tidegate run",
};

impl Choice {
    /// Returns the error for a subcommand that isn't in `known`.
    pub fn unknown<'a>(self, matches: &ArgMatches, known: impl Iterator<Item = &'a str>) -> Error {
        let name = matches.subcommand_name().unwrap_or_default();
        let (noun, list) = (self.noun, self.list);
        let message = match tidegate_policy::closest(name, known) {
            _ if entry(name).is_some() => {
                let participle = self.participle;
                format!("{noun} {name:?} cannot be {participle}: see `{list}`")
            }
            Some(known) => format!("unknown {noun} {name:?}; did you mean {known:?}?"),
            None => format!("unknown {noun} {name:?}: see `{list}`"),
        };
        Error::raw(ErrorKind::InvalidSubcommand, message)
    }
}

/// Returns a help template that lists, by group, the programs that satisfy `listed`.
pub fn grouped_help(listed: impl Fn(&Entry) -> bool) -> String {
    let mut help = String::from("{before-help}{about-with-newline}\n{usage-heading} {usage}\n\n");
    let width = ENTRIES.iter().map(|entry| entry.name.len()).max();
    let width = width.unwrap_or_default();
    for (group, names) in GROUPS {
        let entries = names.split(' ').filter_map(entry);
        let line = |entry: &Entry| format!("  {:<width$}  {}\n", entry.name, entry.summary);
        let lines: String = entries.filter(|entry| listed(entry)).map(line).collect();
        if !lines.is_empty() {
            help += &format!("{group}:\n{lines}\n");
        }
    }
    help + "{all-args}{after-help}"
}

/// The note about file caching in the help of `run digest`.
const COLD_FILES: &str = "
A warm-up run reads the files first, so that all timed runs find them in the file cache. With --repeat there is no \
warm-up; the first run may then wait for the disk, and no speedup is reported.
";

/// Returns the subcommand of a program.
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

fn result(entry: &Entry) -> String {
    let mut help = String::from("Result:\n");
    for field in entry.result {
        help += &format!("  {:<12} {}\n", field.name, field.meaning);
    }
    help
}

fn place(parameter: &Parameter, order: usize) -> Arg {
    let place = argument(place_id(parameter), parameter, order);
    match parameter.preset {
        // clap accepts a missing required argument if a conflicting argument is present.
        Preset::Required => place.required(true).conflicts_with(parameter.name),
        _ => place,
    }
}

/// Returns the identifier of a parameter's positional argument. Its named argument is identified by
/// the parameter's name.
fn place_id(parameter: &Parameter) -> String {
    format!("{} by position", parameter.name)
}

/// Returns an argument for a parameter, which the help shows at position `order`.
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
        // Without this, clap would list the positional parameters last, sorted by name.
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
            "Print only a line per file, in the format of sha256sum",
        )
        .conflicts_with("json"),
        flag(
            "verbose",
            "List all problem files instead of the first ten of each kind",
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grouped_help_lists_each_program_once() {
        let help = grouped_help(|_| true);
        for entry in ENTRIES {
            let line = format!("\n  {} ", entry.name);
            assert_eq!(help.matches(&line).count(), 1, "{}", entry.name);
        }
        let simulated = grouped_help(|entry| entry.simulated);
        assert!(simulated.contains("\n  fib ") && !simulated.contains("\n  digest "));
    }

    #[test]
    fn grouped_help_fits_80_columns() {
        for line in grouped_help(|_| true).lines() {
            assert!(line.len() <= 80, "{line}");
        }
    }
}
