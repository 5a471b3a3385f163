//! The words of a command line, from what its parser has found.

use std::ffi::{OsStr, OsString};

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command};
use tidegate_workloads::digest::Bytes;

/// Returns the words that lead to `matches`: for `command`, then for the chosen subcommand. They do
/// not depend on the order of options.
pub fn of(command: &Command, matches: &ArgMatches) -> Vec<Bytes> {
    let (named, positional): (Vec<_>, Vec<_>) = command
        .get_arguments()
        .filter(|arg| matches.value_source(arg.get_id().as_str()) == Some(ValueSource::CommandLine))
        .partition(|arg| arg.get_long().is_some());
    let mut words: Vec<Bytes> = named
        .into_iter()
        .flat_map(|arg| option(arg, matches))
        .collect();
    if !positional.is_empty() {
        // What follows is no option, whatever it begins with.
        words.push(OsStr::new("--").into());
        let values = positional.into_iter().flat_map(|arg| values(arg, matches));
        words.extend(values.map(Bytes::from));
    }
    if let Some((name, matches)) = matches.subcommand() {
        words.push(OsStr::new(name).into());
        let below = command.find_subcommand(name);
        words.extend(below.into_iter().flat_map(|command| of(command, matches)));
    }
    words
}

fn values<'a>(arg: &Arg, matches: &'a ArgMatches) -> impl Iterator<Item = &'a OsStr> {
    matches.get_raw(arg.get_id().as_str()).into_iter().flatten()
}

fn option(arg: &Arg, matches: &ArgMatches) -> Vec<Bytes> {
    let name = format!("--{}", arg.get_long().unwrap_or_default());
    if let ArgAction::SetTrue = arg.get_action() {
        return vec![OsStr::new(&name).into()];
    }
    let word = |value: &OsStr| {
        let mut word = OsString::from(format!("{name}="));
        word.push(value);
        Bytes::from(&*word)
    };
    values(arg, matches).map(word).collect()
}
