//! `tidegate run`: runs a program, checks its result, and reports times and counters.
//!
//! The steps are: prepare the input, warm up, run the program `--repeat` times, read the times and
//! resources, run the serial version once, compare the results, print. The serial version comes
//! last, so that the figures do not include its memory and CPU time. It runs even if the right
//! answer is published, because the speedup needs its time. With `--serial`, only the serial
//! version runs.
//!
//! With an explicit `--repeat`, there is no warm-up. If the program reads files, its first run may
//! then wait for the disk, while the serial version finds the files in the cache. Therefore, the
//! report shows no speedup in this case.
//!
//! Pictures show an additional run after the measured runs. Every run is checked, and the result of
//! the last run is reported.

use tidegate_workloads::digest::{self, Digest};
use tidegate_workloads::{Program, Size, Trial, TrialOf, Values, find};

mod counts;
mod files;
mod measure;
mod pictures;
mod report;

use crate::arguments::TraceArguments;
use clap::Args;
pub use files::{Details, problems};
use measure::{Plan, REPEAT, Run, Runs};
use pictures::PictureArguments;
use report::Report;
use tidegate_cli_support::arguments;
use tidegate_cli_support::arguments::{Chosen, Format, repetitions};
use tidegate_cli_support::failure::{EXIT_CODES, Failure};
use tidegate_cli_support::options::{self, Flags, Options};
use tidegate_cli_support::output::{self, describe};
use tidegate_cli_support::stack;
use tidegate_cli_support::trial;

#[derive(Args, Debug)]
#[command(after_help = help())]
pub struct RunArguments {
    #[command(subcommand)]
    pub chosen: Chosen,
    #[command(flatten)]
    pub flags: Flags,
    /// Number of measured runs; without this option a warm-up run comes first [default: 3]
    #[arg(long, value_name = "R", global = true, value_parser = repetitions(), allow_negative_numbers = true)]
    pub repeat: Option<u32>,
    /// Also print CPU time, memory, the pool's counters and where the time went
    #[arg(long, global = true, conflicts_with = "json")]
    pub stats: bool,
    /// Run the serial version instead, on one thread without a pool
    #[arg(long, global = true, conflicts_with_all = options::OF_POOLS)]
    pub serial: bool,
    #[command(flatten)]
    pub pictures: PictureArguments,
    #[command(flatten)]
    pub trace: TraceArguments,
    /// Problem size, which sets the parameters' defaults: runs of milliseconds (tiny), of seconds
    /// (small), or as published (paper); test, A and B are aliases of tiny, small and paper
    #[arg(long, value_enum, default_value_t, global = true)]
    pub size: arguments::Size,
    #[command(flatten)]
    pub format: Format,
}

fn help() -> String {
    let fields = describe(Report::FIELDS);
    format!(
        "\
JSON:
{fields}
The run for --dot and --svg is checked like the others, but not measured. Every interval is drawn, so choose a small \
problem.

{EXIT_CODES}"
    )
}

pub fn run(arguments: &RunArguments) -> Result<(), Failure> {
    let mut options = Options::resolve(&arguments.flags)?;
    options.trace = arguments.trace.trace.is_some();
    if let Some(file) = &arguments.trace.trace {
        output::find_room(file, "a trace")?;
    }
    let pictures = &arguments.pictures;
    let files = [
        ("--trace", arguments.trace.trace.as_ref()),
        ("--dot", pictures.dot.as_ref()),
        ("--svg", pictures.svg.as_ref()),
    ];
    let aside = output::is_aside(&files, arguments.format.json)?;
    let plan = Plan {
        options,
        repeat: arguments.repeat.unwrap_or(REPEAT),
        warm_up: arguments.repeat.is_none(),
        serial: arguments.serial,
        pictures: pictures.clone(),
        trace: arguments.trace.trace.clone(),
    };
    stack::with_deep_stack(|| carry_out(arguments, &plan, aside))?
}

fn carry_out(arguments: &RunArguments, plan: &Plan, aside: bool) -> Result<(), Failure> {
    let size = arguments.size.into();
    if arguments.chosen.name == Digest::NAME {
        return digest(arguments, plan, size, aside);
    }
    let printed = Printed {
        plan,
        stats: arguments.stats,
        json: arguments.format.json,
        aside,
    };
    let chosen = &arguments.chosen;
    let mut program = find(chosen.name, size, &chosen.given)?;
    let run = measure(plan, &mut *program)?;
    printed.print(&*program, &run)
}

fn measure(plan: &Plan, program: &mut dyn Trial) -> Result<Run, Failure> {
    let runs = Runs::begin(plan, program)?;
    trial::prepare(program)?;
    runs.all(program)
}

/// Prints a run, in the format that the options request.
struct Printed<'a> {
    plan: &'a Plan,
    stats: bool,
    json: bool,
    aside: bool,
}

impl Printed<'_> {
    fn print(&self, program: &dyn Trial, run: &Run) -> Result<(), Failure> {
        let report = Report::new(program, self.plan, run, self.stats);
        if self.json {
            output::print_json(&report.to_json())?;
        } else {
            output::answer(self.aside, |out| {
                write!(out, "{report}")?;
                report.write_notes(out)
            })?;
        }
        if let Some(graph) = &run.graph {
            self.plan.pictures.write(graph)?;
        }
        run.verdict(program.name())
    }
}

/// Runs `digest`. Unlike other programs, `digest` also prints its rate and lists of files.
fn digest(arguments: &RunArguments, plan: &Plan, size: Size, aside: bool) -> Result<(), Failure> {
    let values = Values::parse(Digest::PARAMETERS, size, &arguments.chosen.given)?;
    let mut program = TrialOf::new(Digest::from_values(&values)?);
    let run = measure(plan, &mut program)?;
    let found: &digest::Report = program.output();
    let details = Details {
        found,
        changed: (
            "changed during the runs, ignored",
            run.check.as_ref().map_or(&[], |check| &check.changed),
        ),
        rest: (!arguments.chosen.verbose).then_some("--verbose"),
    };
    let report = Report::new(&program, plan, &run, arguments.stats);
    if arguments.format.json {
        output::print_json(&report.to_json())?;
    } else if arguments.chosen.list {
        output::to_stderr(&details.to_string());
        output::answer(aside, |out| files::list(found, out))?;
    } else {
        let rate = files::Rate {
            bytes: found.bytes,
            seconds: run.seconds.median(),
        };
        output::answer(aside, |out| {
            write!(out, "{report}{rate}{details}")?;
            report.write_notes(out)
        })?;
    }
    run.verdict(Digest::NAME)
}
