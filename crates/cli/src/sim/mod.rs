//! `tidegate sim`: simulates a program, or jobs that share a machine.
//!
//! Without `--desire`, a job always has all processors. With it, a job starts with one processor,
//! and later gets as many as it desires, if possible. `--job` adds jobs of other programs,
//! `--instances` sets the number of jobs, and `--seeds` repeats the simulation with several seeds.
//! `sim jobs` runs no tasks: it passes the arrivals, desires and departures in a file to the
//! allotment policy.
//!
//! With `--topology`, the machine has one processor for each CPU in the file, and worker `i` is on
//! the `i`-th processor. So the file determines which victims a hierarchical thief tries first, and
//! the cost of a steal attempt. `sim jobs` does not use distances.
//!
//! The simulation never reads the clock, so the same command line always prints the same bytes.

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
        Simulation::Jobs(arguments) => jobs::run(arguments, processors.count),
    }
}

struct Printed {
    experiment: Experiment,
    format: TableFormat,
    /// Whether to print a row for each run even if there is only one run.
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

    /// Prints a table with a row for each run or for each job.
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

/// Returns a failure if any run exceeded a bound.
fn judge(experiment: &Experiment, runs: &[Done]) -> Result<(), Failure> {
    for run in runs {
        for (job, bounds) in run.bounds.iter().enumerate() {
            if let Some(bound) = bounds.iter().find(|bound| !bound.holds()) {
                return Err(Failure::Wrong(format!(
                    "--sim-seed {1}, job {job} ({2}) breaks the bound {0}: {3} of {4}; either the theory does not apply here, or the \
                     simulator is wrong",
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
