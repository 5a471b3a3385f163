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
mod runs;
mod sheet;
mod subject;

use crate::arguments::{SimArguments, Simulation};
use experiment::Done;
use head::Head;
use report::Report;
use sheet::Sheet;
use tidegate_command::arguments::TableFormat;
use tidegate_command::failure::Failure;
use tidegate_command::output;

pub use experiment::Experiment;
pub use processors::Processors;
pub use runs::{Figures, Runs};

pub fn sim(arguments: &SimArguments) -> Result<(), Failure> {
    let processors = Processors::of(&arguments.machine)?;
    match &arguments.simulation {
        Simulation::Program(simulated, format) => {
            let printed = Printed {
                experiment: Experiment::new(simulated, &processors)?,
                format: *format,
                by_seed: simulated.flags.seeds.is_some(),
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
        let TableFormat { json, csv, wide } = self.format;
        match &runs[..] {
            [run] if !self.by_seed && experiment.instances > 1 => {
                self.print(&runs[0], Sheet::of_jobs(experiment, run))?;
            }
            [run] if !(self.by_seed || csv || wide) => {
                let report = Report::new(Head::new(experiment), experiment, run);
                if json {
                    output::print_json(&report.to_json())?;
                } else {
                    output::to_stdout(|out| write!(out, "{report}"))?;
                }
            }
            _ => {
                let rows = runs.iter().map(sheet::row).collect();
                self.print(&runs[0], Sheet::of_runs(rows))?;
            }
        }
        let mut broken = runs.iter().filter_map(|run| broken(experiment, run));
        broken.next().map_or(Ok(()), |why| Err(Failure::Wrong(why)))
    }

    /// Prints a table with a row for each run or for each job.
    fn print(&self, first: &Done, sheet: Sheet) -> Result<(), Failure> {
        let experiment = &self.experiment;
        let runs = Runs {
            experiment,
            seed: (!self.by_seed).then_some(experiment.settings.seed),
            sizes: experiment.sizes(&first.outcome),
            sheet,
        };
        if self.format.json {
            return output::print_json(&runs.to_json());
        }
        if !self.format.csv {
            output::to_stdout(|out| writeln!(out, "{}", runs.title()))?;
        }
        runs.sheet.to_table().print(self.format)
    }
}

/// Says which bound the run exceeded, if any.
fn broken(experiment: &Experiment, run: &Done) -> Option<String> {
    run.bounds.iter().enumerate().find_map(|(job, bounds)| {
        let bound = bounds.iter().find(|bound| !bound.holds())?;
        Some(format!(
            "--sim-seed {1}, job {job} ({2}) breaks the bound {0}: {3} of {4}; either the theory does not apply here, or the \
             simulator is wrong",
            bound.name,
            run.seed,
            experiment.subject(job).label,
            bound.value,
            bound.limit
        ))
    })
}
