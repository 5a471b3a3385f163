//! `tidegate fan`: runs a program in pieces, on many machines.
//!
//! `tidegate-fan` plans, runs the pieces and merges their results. This module splits the programs:
//! [`uts`] by subtrees, [`digest`] by files, and [`sim`] by seeds.

mod digest;
mod sim;
mod uts;
mod words;

use std::fmt;

use clap::{ArgMatches, Args, Command, FromArgMatches};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tidegate_fan::{Budget, Done, Error, Split, Verb, Weighted};
use tidegate_workloads::Program as _;
use tidegate_workloads::digest::{Bytes, Digest};
use tidegate_workloads::uts::Uts;

use tidegate_cli_support::arguments::{Choice, open, rendered};
use tidegate_cli_support::failure::Failure;

const SPLIT: Choice = Choice {
    noun: "program",
    participle: "split",
    list: "tidegate fan run",
};

/// Into how many items a piece packs what it leaves to others.
const REST: usize = 16;

/// The programs that can be split, and what the user asks them for. A plan stores the command line,
/// so it is read back by the same parser.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "Vec<Bytes>", into = "Vec<Bytes>")]
pub struct Programs {
    words: Vec<Bytes>,
    program: Program,
}

#[derive(Clone, Debug)]
enum Program {
    Uts(uts::Split),
    Digest(digest::Split),
    Sim(sim::Split),
}

/// The results of all pieces, as text and as JSON.
pub struct Report {
    text: String,
    json: Value,
}

/// How one program is split: see [`Split`].
trait Divisible {
    type Item: Serialize + DeserializeOwned;
    type Out: Serialize + DeserializeOwned;

    fn plan(&self, pieces: usize) -> Result<Vec<Weighted<Self::Item>>, Error>;
    fn run(&self, item: Self::Item, budget: &Budget) -> Result<Done<Self::Item, Self::Out>, Error>;
    fn merge(&self, outs: Vec<Self::Out>) -> Result<Report, Error>;
}

/// Carries out a verb of `tidegate fan`.
pub fn carry_out(verb: Verb<Programs>) -> Result<(), Failure> {
    let checked = match &verb {
        Verb::Run { arguments, .. } => arguments.check_results(),
        _ => Ok(()),
    };
    Ok(checked.and_then(|()| tidegate_fan::carry_out(verb, &["fan".into()]))?)
}

/// Converts a failure to the error with the same exit code.
fn failed(failure: impl Into<Failure>) -> Error {
    failure.into().into()
}

fn commands(parent: Command, sim: Command) -> Command {
    open(parent)
        .disable_help_subcommand(true)
        .subcommand_value_name("PROGRAM")
        .subcommand_help_heading("Programs")
        .subcommands([uts::command(), digest::command(), sim])
}

impl Args for Programs {
    fn augment_args(command: Command) -> Command {
        let all = |sim| sim::programs(sim, |_| true);
        commands(command, sim::command().defer(all))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Programs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let program = Program::from_arg_matches(matches)?;
        let sim = sim::programs(sim::command(), |_| true);
        let words = words::of(&commands(Command::new("fan"), sim), matches);
        Ok(Self { words, program })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Program {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(match matches.subcommand() {
            Some((sim::NAME, sim)) => Self::Sim(sim::Split::from_arg_matches(sim)?),
            Some((Digest::NAME, _)) => Self::Digest(digest::Split::from_arg_matches(matches)?),
            Some((Uts::NAME, _)) => Self::Uts(uts::Split::from_arg_matches(matches)?),
            _ => {
                return Err(
                    SPLIT.unknown(matches, [Uts::NAME, Digest::NAME, sim::NAME].into_iter())
                );
            }
        })
    }
}

impl Programs {
    /// Refuses a folder of results in which the program cannot run.
    fn check_results(&self) -> Result<(), Error> {
        match &self.program {
            Program::Digest(digest) => digest.check_results(),
            Program::Uts(_) | Program::Sim(_) => Ok(()),
        }
    }
}

impl From<Programs> for Vec<Bytes> {
    fn from(programs: Programs) -> Self {
        programs.words
    }
}

impl TryFrom<Vec<Bytes>> for Programs {
    type Error = String;

    fn try_from(words: Vec<Bytes>) -> Result<Self, String> {
        let given: Vec<_> = words.iter().map(Bytes::to_os_string).collect();
        // Every piece reads the plan, so what cannot be chosen is left out.
        let sim = sim::programs(sim::command(), |name| given.iter().any(|word| word == name));
        let command = commands(Command::new("fan").no_binary_name(true), sim);
        let matches = command.try_get_matches_from(given);
        let program = matches.and_then(|matches| Program::from_arg_matches(&matches));
        let program = program.map_err(|error| rendered(&error))?;
        Ok(Self { words, program })
    }
}

impl Split for Programs {
    const NAME: &'static str = "tidegate";
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    /// The JSON of the program's item, so that a plan is read without knowing which program it is.
    type Item = Box<RawValue>;
    type Out = Box<RawValue>;
    type Report = Report;

    fn plan(&self, pieces: usize) -> Result<Vec<Weighted<Self::Item>>, Error> {
        match &self.program {
            Program::Uts(uts) => plan(uts, pieces),
            Program::Digest(digest) => plan(digest, pieces),
            Program::Sim(sim) => plan(sim, pieces),
        }
    }

    fn run(&self, item: Self::Item, budget: &Budget) -> Result<Done<Self::Item, Self::Out>, Error> {
        match &self.program {
            Program::Uts(uts) => run(uts, &item, budget),
            Program::Digest(digest) => run(digest, &item, budget),
            Program::Sim(sim) => run(sim, &item, budget),
        }
    }

    fn merge(&self, outs: Vec<Self::Out>) -> Result<Report, Error> {
        match &self.program {
            Program::Uts(uts) => merge(uts, &outs),
            Program::Digest(digest) => merge(digest, &outs),
            Program::Sim(sim) => merge(sim, &outs),
        }
    }
}

fn plan<P: Divisible>(split: &P, pieces: usize) -> Result<Vec<Weighted<Box<RawValue>>>, Error> {
    Ok(split.plan(pieces)?.into_iter().map(raw_item).collect())
}

fn run<P: Divisible>(
    split: &P,
    item: &RawValue,
    budget: &Budget,
) -> Result<Done<Box<RawValue>, Box<RawValue>>, Error> {
    let Done { out, rest } = split.run(read(item)?, budget)?;
    Ok(Done {
        out: raw(&out),
        rest: rest.into_iter().map(raw_item).collect(),
    })
}

fn merge<P: Divisible>(split: &P, outs: &[Box<RawValue>]) -> Result<Report, Error> {
    let outs = outs.iter().map(|out| read(out));
    split.merge(outs.collect::<Result<_, _>>()?)
}

fn raw_item<I: Serialize>(Weighted { item, weight }: Weighted<I>) -> Weighted<Box<RawValue>> {
    let item = raw(&item);
    Weighted { item, weight }
}

fn raw<T: Serialize>(value: &T) -> Box<RawValue> {
    serde_json::value::to_raw_value(value).expect("items and results are JSON")
}

fn read<T: DeserializeOwned>(raw: &RawValue) -> Result<T, Error> {
    serde_json::from_str(raw.get()).map_err(|error| {
        Error::never(format!(
            "an item or a result is not of this program: {error}"
        ))
    })
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Serialize for Report {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.json.serialize(serializer)
    }
}

impl Report {
    /// Creates the report on an answer, which has the same rows as that of `tidegate run`.
    fn of_answer<P: tidegate_workloads::Program>(
        program: &P,
        result: &tidegate_workloads::Answer,
    ) -> Self {
        use tidegate_cli_support::output::{show_fields, show_value};
        let parameters = program.parameters();
        let mut text = format!("{} {}\n", P::NAME, show_fields(&parameters));
        for (name, value) in result {
            text += &row(name, &show_value(value));
        }
        let json = json!({"workload": P::NAME, "parameters": parameters, "result": result});
        Self { text, json }
    }
}

fn row(label: &str, value: &str) -> String {
    format!("{label:<12}{value}\n")
}
