//! The command line: the verbs that a program gets.

mod own;

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Subcommand};

use crate::engine::EngineOptions;
use crate::merge::merge;
use crate::parent;
use crate::piece::{Asked, piece};
use crate::plan::{Header, Plan};
use crate::run::{self, Options, book};
use crate::status::{self, StatusArguments};
use crate::whole::whole;
use crate::{Budget, Error, Split};

pub use own::main;

/// A verb of a program that can be split.
#[derive(Debug, Subcommand)]
pub enum Verb<P: Split> {
    /// Print the plan: the program's arguments, and the items into which it was split
    Plan {
        /// How finely the program is split
        #[command(flatten)]
        pieces: Pieces,
        /// What the program is asked for
        #[command(flatten)]
        arguments: P,
    },
    /// Do the work of one item: what an engine runs
    Piece(PieceArguments),
    /// Merge the results of all items, and print the report
    Merge(MergeArguments),
    /// Plan, let an engine run the pieces, merge their results, and print the report
    Run {
        /// How it is run
        #[command(flatten)]
        options: RunArguments,
        /// What the program is asked for
        #[command(flatten)]
        arguments: P,
    },
    /// Show which results are published, what runs, what has failed, and the time left
    Status(StatusArguments),
}

/// How finely a program is split.
#[derive(Args, Debug)]
#[group(skip)]
pub struct Pieces {
    /// About how many pieces
    // The id is unlike that of any parameter of a program.
    #[arg(id = "fan-pieces", long = "pieces", value_name = "N", default_value_t = 64, global = true, value_parser = whole(1_usize, 1_000_000), allow_negative_numbers = true)]
    pub pieces: usize,
}

/// What runs the pieces, and how. All of these may follow a subcommand of the program.
#[derive(Args, Debug)]
#[group(skip)]
pub struct RunArguments {
    #[command(flatten)]
    pieces: Pieces,
    #[command(flatten)]
    engine: EngineOptions,
    /// The folder of the results [default: fan-NAME-DIGEST in the current folder]
    #[arg(long, value_name = "DIR", global = true)]
    dir: Option<PathBuf>,
    /// Start over: first remove the plan and the results that are in the folder
    #[arg(long, global = true)]
    fresh: bool,
    /// Count the results of this other build of the program as equal to those of this build
    #[arg(long, value_name = "BUILD", global = true)]
    accept_build: Option<String>,
    /// Write the plan, print what would be submitted, and start nothing
    #[arg(long, global = true)]
    dry_run: bool,
    /// How often an item whose piece has failed is tried again
    #[arg(
        long,
        value_name = "N",
        default_value_t = 2,
        global = true,
        value_parser = whole(0, u8::MAX),
        allow_negative_numbers = true
    )]
    retries: u8,
    /// After how many seconds a piece hands its remaining work to new pieces
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0, global = true, value_parser = seconds, allow_negative_numbers = true)]
    budget: f64,
    /// The processors of each piece [default: 1 with hq, slurm and k8s; a share of this machine with
    /// local]
    #[arg(long, value_name = "N", global = true, value_parser = whole(1_u16, 4096), allow_negative_numbers = true)]
    cpus: Option<u16>,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
}

/// Which item a piece does, and where the plan and the results are.
#[derive(Args, Debug)]
pub struct PieceArguments {
    /// The plan [default: plan.json in the folder of the results]
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,
    /// The item
    #[arg(long, value_name = "K")]
    item: Option<String>,
    /// The variable in which an engine names the item: HQ_ENTRY has an entry of the list, any other
    /// a number
    #[arg(long, value_name = "VARIABLE", conflicts_with = "item")]
    item_from: Option<String>,
    /// The list of a round, which tells the item of each number of an engine
    #[arg(long, value_name = "FILE", conflicts_with = "item")]
    list: Option<PathBuf>,
    /// The folder of the results
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// After how many seconds the piece hands its remaining work to new pieces
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0, value_parser = seconds, allow_negative_numbers = true)]
    budget: f64,
    /// End when this process ends, which has started the piece
    #[arg(long, value_name = "PID", hide = true)]
    parent: Option<u32>,
}

/// Parses a number of seconds.
fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse::<f64>().ok();
    let valid = seconds.filter(|seconds| (0.0..=1e9).contains(seconds));
    valid.ok_or_else(|| "expected a number of seconds from 0 to 1000000000".to_owned())
}

/// Which results are merged.
#[derive(Args, Debug)]
pub struct MergeArguments {
    /// The plan [default: plan.json in the folder]
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,
    /// The folder of the results
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Carries out a verb, for a program that has other verbs as well. `prefix` are the arguments that
/// lead to the verbs of this crate, such as `fan`.
///
/// # Errors
/// Returns an error whose [code](Error::code) should be the process's exit code.
pub fn carry_out<P: Split>(verb: Verb<P>, prefix: &[OsString]) -> Result<(), Error> {
    // The others do not take the program's arguments, and pieces must start fast.
    if let Verb::Plan { .. } | Verb::Run { .. } = verb {
        own::check::<P>()?;
    }
    act(verb, prefix)
}

fn act<P: Split>(verb: Verb<P>, prefix: &[OsString]) -> Result<(), Error> {
    match verb {
        Verb::Plan { pieces, arguments } => {
            let plan = Plan::new(Header::new(arguments, pieces.pieces))?;
            print(plan.to_text().as_bytes())
        }
        Verb::Piece(asked) => {
            asked.parent.map_or(Ok(()), parent::follow)?;
            let budget = Budget::new(Duration::from_secs_f64(asked.budget));
            let asked = Asked {
                plan: &plan_path(asked.plan, &asked.out),
                item: asked.item.as_deref(),
                item_from: asked.item_from.as_deref(),
                list: asked.list.as_deref(),
                out: &asked.out,
            };
            piece::<P>(&asked, &budget)
        }
        Verb::Merge(arguments) => {
            let path = plan_path(arguments.plan, &arguments.dir);
            let plan = Plan::<P>::read(&path, &arguments.dir, None)?;
            print_report::<P>(&merge(&plan, &arguments.dir)?, arguments.json)
        }
        Verb::Run { options, arguments } => carry_out_run(options, arguments, prefix),
        Verb::Status(asked) => status::carry_out::<P>(&asked, prefix),
    }
}

/// Returns the path of the plan that the user has named, or of that in the folder of the results.
fn plan_path(named: Option<PathBuf>, folder: &Path) -> PathBuf {
    named.unwrap_or_else(|| book::plan_path(folder))
}

fn carry_out_run<P: Split>(
    asked: RunArguments,
    arguments: P,
    prefix: &[OsString],
) -> Result<(), Error> {
    // For clap, options before and after a subcommand do not conflict.
    let given = [
        (asked.dry_run, "--dry-run"),
        (asked.fresh, "--fresh"),
        (asked.accept_build.is_some(), "--accept-build"),
        (asked.dry_run && asked.json, "--json"),
    ];
    let mut given = given.iter().filter(|(is_given, _)| *is_given);
    if let (Some((_, one)), Some((_, other))) = (given.next(), given.next()) {
        return Err(Error::never(format!("{one} cannot be used with {other}")));
    }
    let options = Options {
        pieces: asked.pieces.pieces,
        engine: asked.engine,
        dir: asked.dir,
        fresh: asked.fresh,
        accept_build: asked.accept_build,
        retries: asked.retries.into(),
        budget: asked.budget,
        cpus: asked.cpus.map(usize::from),
        prefix: prefix.to_vec(),
    };
    if asked.dry_run {
        return print(run::dry_run(arguments, &options)?.as_bytes());
    }
    let (report, dir) = run::run(arguments, &options)?;
    print_report::<P>(&report, asked.json)?;
    eprintln!("the results of the pieces are in {}", dir.display());
    Ok(())
}

fn print_report<P: Split>(report: &P::Report, json: bool) -> Result<(), Error> {
    let mut text = if json {
        serde_json::to_string_pretty(report).expect("a report is JSON")
    } else {
        report.to_string()
    };
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    print(text.as_bytes())
}

/// Writes to standard output. A reader that has read enough, such as `head`, is no error.
pub(crate) fn print(bytes: &[u8]) -> Result<(), Error> {
    let mut out = std::io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Error::elsewhere(format!("standard output: {error}")))
        }
        _ => Ok(()),
    }
}
