//! `tidegate sim`: a program on the simulated machine, or jobs that share one.
//!
//! Without `--desire` a job has all processors, with it as many as it desires, from one on. `--instances` makes several jobs of a
//! program, `--seeds` runs all of it with many seeds. `sim jobs` runs no
//! task: it plays the arrivals, desires and departures of a file through the rule that shares processors out.
//!
//! With `--topology` the machine has a processor for each CPU of the file. Worker `i` stands on the `i`-th of them, so the file
//! says whom a hierarchical thief asks first and what a look at a victim costs. `sim jobs` has no use for distances.
//!
//! It does not read the clock: the same command line prints the same bytes.

mod costs;
mod experiment;
mod head;
mod jobs;
mod processors;
mod report;
mod sheet;

use tidegate_workloads::{Simulated, SimulatedVisitor, visit_simulated};

use crate::arguments::{SimArguments, Simulation, SimulationFlags};
use experiment::{Done, Experiment};
use head::Head;
use processors::Processors;
use report::Report;
use sheet::Sheet;
use tidegate_command::failure::Failure;
use tidegate_command::output;

/// Carries the subcommand out.
pub fn sim(arguments: &SimArguments) -> Result<(), Failure> {
    let json = arguments.format.json;
    let processors = Processors::of(arguments.processors, arguments.topology.as_deref())?;
    match &arguments.simulation {
        Simulation::Program(chosen, flags) => {
            let visitor = Printed {
                experiment: Experiment::new(flags, &processors)?,
                form: Form::of(flags, json),
            };
            visit_simulated(chosen.name, flags.size.into(), &chosen.given, visitor)?
        }
        Simulation::Jobs(arguments) => jobs::share_out(arguments, processors.count, json),
    }
}

/// What is printed.
#[derive(Clone, Copy)]
struct Form {
    json: bool,
    csv: bool,
    /// A row for each run, also where there is one.
    by_seed: bool,
}

impl Form {
    fn of(flags: &SimulationFlags, json: bool) -> Self {
        Self {
            json,
            csv: flags.csv,
            by_seed: flags.seeds.is_some(),
        }
    }
}

/// Simulates the program it is shown and prints what came of it.
struct Printed {
    experiment: Experiment,
    form: Form,
}

impl SimulatedVisitor for Printed {
    type Out = Result<(), Failure>;

    fn visit<P: Simulated>(self, program: P) -> Self::Out {
        let Self { experiment, form } = self;
        let runs = experiment.run(&program)?;
        let head = Head::new(&program, &experiment);
        match &runs[..] {
            [run] if !form.by_seed && experiment.instances > 1 => {
                print(&experiment, &head, &runs, &Sheet::of_jobs(run), form)?;
            }
            [run] if !form.by_seed && !form.csv => {
                let report = Report::new(head, &experiment, run);
                if form.json {
                    output::print_json(&report.to_json())?;
                } else {
                    output::to_stdout(|out| write!(out, "{report}"))?;
                }
            }
            _ => print(&experiment, &head, &runs, &Sheet::of_runs(&runs), form)?,
        }
        judge(&runs)
    }
}

/// Refuses runs that broke a bound.
fn judge(runs: &[Done]) -> Result<(), Failure> {
    for run in runs {
        for (job, bounds) in run.bounds.iter().enumerate() {
            if let Some(bound) = bounds.iter().find(|bound| !bound.holds()) {
                return Err(Failure::Wrong(format!(
                    "the bound {} is broken with --sim-seed {}, job {job}: {} of {}; either theory does not hold here, or the simulator is wrong",
                    bound.name, run.seed, bound.value, bound.limit
                )));
            }
        }
    }
    Ok(())
}

/// Prints rows of figures.
fn print(
    experiment: &Experiment,
    head: &Head<'_>,
    runs: &[Done],
    sheet: &Sheet,
    form: Form,
) -> Result<(), Failure> {
    if form.csv {
        return output::to_stdout(|out| sheet.write_csv(out));
    }
    let seed = (!form.by_seed).then_some(experiment.settings.seed);
    if form.json {
        let mut fields = head.to_json(seed);
        let arrivals = experiment.arrivals.as_ref().map(ToString::to_string);
        let job = &runs[0].outcome.jobs[0];
        fields.insert("instances".into(), experiment.instances.into());
        fields.insert("arrivals".into(), arrivals.into());
        fields.insert("t1".into(), (job.work as f64 / 1e9).into());
        fields.insert("tinf".into(), (job.span as f64 / 1e9).into());
        fields.extend(sheet.to_json());
        return output::print_json(&fields.into());
    }
    let jobs = output::show_count(experiment.instances, "job");
    let seeds = output::show_count(experiment.seeds, "seed");
    let table = sheet.to_table();
    output::to_stdout(|out| writeln!(out, "{head}, {jobs}, {seeds}\n{table}"))
}
