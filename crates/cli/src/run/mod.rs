//! `tidegate run`: one program, checked, timed and counted.
//!
//! The order is: make the input, run the program `--repeat` times, read what it cost, run the serial
//! version once, compare, print. The serial version comes last so that neither its memory nor its
//! processor time is in the figures, and it runs even where the answer is published, because its time
//! is what the others are measured by. That of a program which reads files is the time of a second
//! reading, from memory, so no speedup is made of it. With `--serial` it is the only thing that runs.
//!
//! Pictures are drawn of a run of its own, behind those that are timed.
//!
//! Several runs are for the sake of the time: each is checked, and the last one's result is printed.

use tidegate_workloads::digest::{self, Digest};
use tidegate_workloads::{Program, Size, Values};

mod counts;
mod files;
mod measure;
mod pictures;
mod report;

use crate::arguments::RunArguments;
use measure::{Plan, Run, Runs};
use report::Report;
use tidegate_command::failure::Failure;
use tidegate_command::options::Options;
use tidegate_command::output;
use tidegate_command::stack;
use tidegate_command::subject::{self, Subject, Trial};

/// Carries the subcommand out.
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
        repeat: arguments.repeat,
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
        json: arguments.format.json,
        aside,
    };
    let chosen = &arguments.chosen;
    subject::find(chosen.name, size, &chosen.given, &mut |program| {
        let runs = Runs::begin(plan, program.name(), program.intervals())?;
        let mut trial = program.prepare()?;
        let run = runs.all(&mut *trial)?;
        printed.print(&*trial, &run)
    })
}

/// How a run is printed.
struct Printed<'a> {
    plan: &'a Plan,
    json: bool,
    aside: bool,
}

impl Printed<'_> {
    fn print(&self, program: &dyn Subject<'_>, run: &Run) -> Result<(), Failure> {
        let report = Report::new(program, self.plan, run);
        if self.json {
            output::print_json(&report.to_json())?;
        } else {
            output::answer(self.aside, |out| write!(out, "{report}"))?;
        }
        if let Some(graph) = &run.graph {
            self.plan.pictures.write(graph)?;
        }
        run.verdict(program.name())
    }
}

/// `digest` has more to print than fields.
fn digest(arguments: &RunArguments, plan: &Plan, size: Size, aside: bool) -> Result<(), Failure> {
    let values = Values::parse(Digest::PARAMETERS, size, &arguments.chosen.given)?;
    let program = Digest::from_values(&values)?;
    let runs = Runs::begin(plan, Digest::NAME, Digest::INTERVALS)?;
    let mut trial = Trial::new(&program)?;
    let run = runs.all(&mut trial)?;
    let found: &digest::Report = trial.output();
    let details = files::Details {
        found,
        changed: run.check.as_ref().map_or(&[], |check| &check.changed),
        all: arguments.chosen.verbose,
    };
    let report = Report::new(&trial, plan, &run);
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
        output::answer(aside, |out| write!(out, "{report}{rate}{details}"))?;
    }
    run.verdict(Digest::NAME)
}
