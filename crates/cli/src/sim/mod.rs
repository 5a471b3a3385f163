//! `tidegate sim`: a program on the simulated machine, or jobs that share one.
//!
//! A program runs alone. Without `--desire` it has all processors, with it as many as it desires, from one on. `sim jobs` runs no
//! task: it plays the arrivals, desires and departures of a file through the rule that shares processors out.
//!
//! It does not read the clock: the same command line prints the same bytes.

mod jobs;
mod report;

use tidegate_policy::tunables;
use tidegate_sim::{Job, Settings, Width, run};
use tidegate_workloads::{Simulated, SimulatedVisitor, visit_simulated};

use crate::arguments::{Chosen, SimArguments, Simulation, SimulationFlags};
use crate::failure::Failure;
use crate::options::value;
use crate::output::{self, Progress};
use report::Report;

/// Carries the subcommand out.
pub fn sim(arguments: &SimArguments) -> Result<(), Failure> {
    let (processors, json) = (arguments.processors, arguments.format.json);
    match &arguments.simulation {
        Simulation::Program(chosen, flags) => simulate(chosen, flags, processors, json),
        Simulation::Jobs(arguments) => jobs::share_out(arguments, processors, json),
    }
}

fn simulate(
    chosen: &Chosen,
    flags: &SimulationFlags,
    processors: usize,
    json: bool,
) -> Result<(), Failure> {
    let settings = Settings {
        seed: flags.sim_seed,
        idle: value(flags.idle, &tunables::IDLE)?,
        steal: value(flags.steal, &tunables::STEAL)?,
        victim: value(flags.victim, &tunables::VICTIM)?,
        ..Settings::new(processors)
    };
    let width = flags
        .desire
        .map_or(Width::Fixed(processors), Width::Desired);
    let visitor = Printed {
        settings,
        width,
        json,
    };
    visit_simulated(chosen.name, flags.size.into(), &chosen.given, visitor)?
}

/// Simulates the program it is shown and prints the report.
struct Printed {
    settings: Settings,
    width: Width,
    json: bool,
}

impl SimulatedVisitor for Printed {
    type Out = Result<(), Failure>;

    fn visit<P: Simulated>(self, program: P) -> Self::Out {
        let Self {
            settings,
            width,
            json,
        } = self;
        let progress = Progress::start(1);
        progress.say(&format!("{}: simulating", P::NAME));
        let job = Job {
            dag: program.dag(),
            arrives: 0,
            width,
        };
        let outcome =
            run(&settings, &[job]).map_err(|refusal| Failure::Usage(refusal.to_string()))?;
        drop(progress);
        let report = Report::new(&program, &settings, width, &outcome);
        if json {
            return output::print_json(&report.to_json());
        }
        output::to_stdout(|out| write!(out, "{report}"))
    }
}
