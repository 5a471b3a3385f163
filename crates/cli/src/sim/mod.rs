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
mod simulated;

use clap::Args;

use crate::arguments::{SimulatedMachine, Simulation};
use experiment::Done;
use head::Head;
use report::Report;
use sheet::Rows;
use tidegate_cli_support::arguments::TableFormat;
use tidegate_cli_support::failure::Failure;
use tidegate_cli_support::output::{self, describe};

pub use experiment::Experiment;
pub use processors::Processors;
pub use runs::{Figures, Runs};

#[derive(Args, Debug)]
#[command(after_help = help())]
pub struct SimArguments {
    #[command(subcommand)]
    pub simulation: Simulation,
    #[command(flatten)]
    pub machine: SimulatedMachine,
}

fn help() -> String {
    let (head, single) = (describe(Head::FIELDS), describe(Report::FIELDS));
    let tables = describe(Runs::FIELDS);
    let [shared, rows] = sheet::help();
    format!(
        "\
JSON of a program, with times in seconds of simulated time:
  workload
  parameters
{head}  sim_seed
{single}{shared}
With --seeds, `sim_seed` and the figures move to `runs`, a list with one row per seed. With several jobs and no \
--seeds, the figures move to `jobs`, a list with one row per job. Rows leave out `p_trimmed`, `all_procs_seconds`, \
`waste` and `events`. In `runs`, figures are sums over all jobs, except for `p_mean`, their mean, and `peak_bytes`, \
their maximum.

Fields that appear only with --seeds or several jobs:
  job: the number of the job (in `jobs`)
  program: its program, as on the command line (in `jobs`, with --job)
{rows}  summary: median, min and max of each figure, if there is more than one row
  t1, tinf: of one job
{tables}  programs: with --job, a list that replaces `workload`, `parameters`, `t1` and
    `tinf`; each entry has these fields, and `program`

--csv and --wide print the same rows. Summary rows have median, min or max in the first column. A single run is \
printed as one row.

JSON of `sim jobs`: events, a list of event (as in the file) and allotments (processors by job, after the event).

The costs of forks, steals and wake-ups are the rows of `tidegate tunables` that begin with `sim.`, unless --costs \
FILE sets them.

Exit codes: 0 success, 1 a bound is broken, 2 invalid usage or value, 3 the request could not be carried out."
    )
}

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
                self.print(&runs[0], Rows::of_jobs(experiment, run))?;
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
                self.print(&runs[0], Rows::of_runs(rows))?;
            }
        }
        let mut broken = runs.iter().filter_map(|run| broken(experiment, run));
        broken.next().map_or(Ok(()), |why| Err(Failure::Wrong(why)))
    }

    /// Prints a table with a row for each run or for each job.
    fn print(&self, first: &Done, rows: Rows) -> Result<(), Failure> {
        let experiment = &self.experiment;
        let runs = Runs {
            experiment,
            seed: (!self.by_seed).then_some(experiment.settings.seed),
            sizes: experiment.sizes(&first.outcome),
            rows,
        };
        if self.format.json {
            return output::print_json(&runs.to_json());
        }
        if !self.format.csv {
            output::to_stdout(|out| writeln!(out, "{}", runs.title()))?;
        }
        runs.rows.to_table().print(self.format)
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
            experiment.program(job).label,
            bound.value,
            bound.limit
        ))
    })
}
