//! `tidegate sim`: a program on the simulated machine, or jobs that share one.
//!
//! A program runs alone. Without `--desire` it has all processors, with it as many as it desires, from one on. `sim jobs` runs no
//! task: it plays the arrivals, desires and departures of a file through the rule that shares processors out.
//!
//! With `--topology` the machine has a processor for each CPU of the file. Worker `i` stands on the `i`-th of them, so the file
//! says whom a hierarchical thief asks first and what a look at a victim costs. `sim jobs` has no use for distances.
//!
//! It does not read the clock: the same command line prints the same bytes.

mod jobs;
mod processors;
mod report;

use tidegate_policy::{Space, tunables};
use tidegate_sim::bounds::bounds;
use tidegate_sim::{Extent, Job, Settings, Width, run};
use tidegate_workloads::{Simulated, SimulatedVisitor, visit_simulated};

use crate::arguments::{Chosen, SimArguments, Simulation, SimulationFlags};
use crate::failure::Failure;
use crate::options::value;
use crate::output::{self, Progress};
use processors::Processors;
use report::Report;

/// Carries the subcommand out.
pub fn sim(arguments: &SimArguments) -> Result<(), Failure> {
    let json = arguments.format.json;
    let processors = Processors::of(arguments.processors, arguments.topology.as_deref())?;
    match &arguments.simulation {
        Simulation::Program(chosen, flags) => simulate(chosen, flags, processors, json),
        Simulation::Jobs(arguments) => jobs::share_out(arguments, processors.count, json),
    }
}

fn simulate(
    chosen: &Chosen,
    flags: &SimulationFlags,
    processors: Processors,
    json: bool,
) -> Result<(), Failure> {
    let settings = Settings {
        seed: flags.sim_seed,
        idle: value(flags.idle, &tunables::IDLE)?,
        steal: value(flags.steal, &tunables::STEAL)?,
        victim: value(flags.victim, &tunables::VICTIM)?,
        space: value(flags.space, &tunables::SPACE)?,
        places: processors.places(),
        ..Settings::new(processors.count)
    };
    let width = flags
        .desire
        .map_or(Width::Fixed(processors.count), Width::Desired);
    let visitor = Printed {
        settings,
        topology: processors.file(),
        width,
        json,
    };
    visit_simulated(chosen.name, flags.size.into(), &chosen.given, visitor)?
}

/// For how many bytes the bound of a policy counts an action.
fn k_of(space: Space) -> u64 {
    match space {
        Space::DepthFirst(policy) => policy.k as u64,
        Space::DfDeques(policy) => policy.k as u64,
        Space::None | Space::Hybrid(_) | Space::Budget(_) => u64::MAX,
    }
}

/// Simulates the program it is shown and prints the report.
struct Printed {
    settings: Settings,
    topology: Option<String>,
    width: Width,
    json: bool,
}

impl SimulatedVisitor for Printed {
    type Out = Result<(), Failure>;

    fn visit<P: Simulated>(self, program: P) -> Self::Out {
        let Self {
            settings,
            topology,
            width,
            json,
        } = self;
        let progress = Progress::start(1);
        progress.say(&format!("{}: simulating", P::NAME));
        let jobs = [Job {
            dag: program.dag(),
            arrives: 0,
            width,
        }];
        let outcome =
            run(&settings, &jobs).map_err(|refusal| Failure::Usage(refusal.to_string()))?;
        let declares = outcome.jobs[0].peak_bytes > 0;
        let extent = declares.then(|| Extent::with_k(&jobs[0].dag, k_of(settings.space)));
        let bounds = bounds(&settings, &outcome, (0, width), extent.as_ref());
        drop(progress);
        let report = Report::new(&program, &settings, topology, width, &outcome, bounds);
        if json {
            return output::print_json(&report.to_json());
        }
        output::to_stdout(|out| write!(out, "{report}"))
    }
}
