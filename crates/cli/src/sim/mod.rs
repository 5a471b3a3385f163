//! `tidegate sim`: a program on the simulated machine, or jobs that share one.
//!
//! Without `--desire` a job has all processors, with it as many as it desires, from one on. `--job` adds jobs of other programs,
//! `--instances` makes several jobs of each, `--seeds` runs all of it with many seeds. `sim jobs` runs no
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
mod subject;

use crate::arguments::{SimArguments, Simulation};
use experiment::{Done, Experiment};
use head::Head;
use processors::Processors;
use report::Report;
use sheet::Sheet;
use tidegate_command::arguments::TableFormat;
use tidegate_command::failure::Failure;
use tidegate_command::output;

/// Carries the subcommand out.
pub fn sim(arguments: &SimArguments) -> Result<(), Failure> {
    let processors = Processors::of(arguments.processors, arguments.topology.as_deref())?;
    match &arguments.simulation {
        Simulation::Program(chosen, flags) => {
            let printed = Printed {
                experiment: Experiment::new(chosen, flags, &processors)?,
                format: flags.format,
                by_seed: flags.seeds.is_some(),
            };
            printed.simulate()
        }
        Simulation::Jobs(arguments) => jobs::share_out(arguments, processors.count),
    }
}

/// Simulates an experiment and prints what came of it.
struct Printed {
    experiment: Experiment,
    format: TableFormat,
    /// Whether there is a row for each run, even if there is only one.
    by_seed: bool,
}

impl Printed {
    fn simulate(&self) -> Result<(), Failure> {
        let experiment = &self.experiment;
        let runs = experiment.run()?;
        let head = Head::new(experiment);
        let TableFormat { json, csv, wide } = self.format;
        match &runs[..] {
            [run] if !self.by_seed && experiment.instances > 1 => {
                self.print(&head, &runs, &Sheet::of_jobs(experiment, run))?;
            }
            [run] if !(self.by_seed || csv || wide) => {
                let report = Report::new(head, experiment, run);
                if json {
                    output::print_json(&report.to_json())?;
                } else {
                    output::to_stdout(|out| write!(out, "{report}"))?;
                }
            }
            _ => self.print(&head, &runs, &Sheet::of_runs(&runs))?,
        }
        judge(experiment, &runs)
    }

    /// Prints rows of figures.
    fn print(&self, head: &Head<'_>, runs: &[Done], sheet: &Sheet) -> Result<(), Failure> {
        let experiment = &self.experiment;
        if self.format.json {
            let seed = (!self.by_seed).then_some(experiment.settings.seed);
            let mut fields = head.to_json(seed);
            let arrivals = experiment.arrivals.as_ref().map(ToString::to_string);
            fields.insert("instances".into(), experiment.instances.into());
            fields.insert("arrivals".into(), arrivals.into());
            fields.extend(experiment.sizes(&runs[0].outcome));
            fields.extend(sheet.to_json());
            return output::print_json(&fields.into());
        }
        if !self.format.csv {
            let jobs = output::show_count(experiment.instances, "job");
            let seeds = output::show_count(experiment.seeds, "seed");
            output::to_stdout(|out| writeln!(out, "{head}, {jobs}, {seeds}"))?;
        }
        sheet.to_table().print(self.format)
    }
}

/// Refuses runs that broke a bound.
fn judge(experiment: &Experiment, runs: &[Done]) -> Result<(), Failure> {
    for run in runs {
        for (job, bounds) in run.bounds.iter().enumerate() {
            if let Some(bound) = bounds.iter().find(|bound| !bound.holds()) {
                return Err(Failure::Wrong(format!(
                    "the bound {} is broken with --sim-seed {}, job {job} ({}): {} of {}; either theory does not hold here, or the simulator is wrong",
                    bound.name,
                    run.seed,
                    experiment.subject(job).label,
                    bound.value,
                    bound.limit
                )));
            }
        }
    }
    Ok(())
}
