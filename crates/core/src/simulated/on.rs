//! Simulated pools, in builds that have them.

use crate::options::{self, BuildError, Environment, Options};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tidegate_policy::idle::Elastic;
use tidegate_policy::schedule::{Choice, Schedule, Turns};
use tidegate_policy::tunables::{SIMULATED_STEPS, SIMULATED_WORKERS, SIMULATION_PATIENCE};
use tidegate_policy::{IdlePolicy, SharePolicy};
use tidegate_sync::simulation::{self, Observer, Report, Settings, Simulation, is_simulated};
use tidegate_sync::stderr::print_line;

/// How a pool is simulated.
#[derive(Clone)]
pub struct Simulated {
    /// Whose turn it is, and what was chosen so far.
    pub turns: Arc<Mutex<Turns>>,
    /// Called if the simulation stops early.
    pub(crate) on_stop: Arc<dyn Fn(&Report) + Send + Sync>,
}

impl Simulated {
    /// Simulates in the order that `schedule` determines. `on_stop` is called if the simulation
    /// stops early.
    pub fn new(schedule: &Schedule, on_stop: impl Fn(&Report) + Send + Sync + 'static) -> Self {
        Self {
            turns: Arc::new(Mutex::new(Turns::new(schedule))),
            on_stop: Arc::new(on_stop),
        }
    }
}

/// Sets the options of a simulated pool that its builder has not set, so that a run does not depend
/// on the machine.
///
/// # Errors
/// If the builder has set an option that a simulated pool cannot have.
pub(crate) fn complete(mut settings: options::Settings) -> Result<options::Settings, BuildError> {
    if settings.simulated.is_none() {
        return Ok(settings);
    }
    let shares = settings
        .share
        .is_some_and(|share| share != SharePolicy::Off);
    let contradiction = if shares {
        Some("Builder::share: a simulated pool does not share the machine: expected off")
    } else if settings.bind == Some(true) {
        Some("Builder::bind: a simulated pool runs one thread at a time: expected off")
    } else {
        None
    };
    if let Some(error) = contradiction {
        return Err(BuildError::new(error.to_owned()));
    }
    settings.share = Some(SharePolicy::Off);
    settings.bind = Some(false);
    let workers = settings
        .workers
        .flatten()
        .unwrap_or(SIMULATED_WORKERS.default);
    settings.workers = Some(Some(workers));
    if settings.topology.is_none() {
        let cpus = format!("cpus 0-{}", workers.clamp(1, 4096) - 1);
        settings.topology = Some(cpus.parse().expect("a flat machine"));
    }
    if settings.idle.is_none() && settings.backoff.is_none() {
        // A search that finds nothing finds nothing new until another thread has run.
        settings.idle = Some(IdlePolicy::Elastic(Elastic { search: 0 }));
    }
    Ok(settings)
}

/// Begins the simulation of a pool with these options. Returns `None` if the pool is not simulated.
///
/// # Errors
/// If the calling thread belongs to a simulation already, or is a worker of an ordinary pool, whose
/// other threads do not wait for their turns.
pub(crate) fn begin(options: &Options, in_task: bool) -> Result<Option<Simulation>, BuildError> {
    simulation::settle();
    let Some(simulated) = &options.simulated else {
        refuse_simulated("Builder::build", "a pool that is not simulated")?;
        return Ok(None);
    };
    refuse_simulated("Builder::simulated", "another one")?;
    if in_task {
        let error = "Builder::simulated: a task of another pool cannot build a simulated pool";
        return Err(BuildError::new(error.to_owned()));
    }
    let (patience, _) = Environment::Strict.option("", None, &SIMULATION_PATIENCE)?;
    let settings = Settings {
        steps: SIMULATED_STEPS.default as u64,
        patience: Duration::from_nanos(patience),
    };
    let (turns, on_stop) = (simulated.turns.clone(), simulated.on_stop.clone());
    let choose = move |choice: &simulation::Choice<'_>| {
        let choice = Choice {
            step: choice.step,
            last: choice.last,
            gives_way: choice.gives_way,
            is_access: choice.is_access,
            ready: choice.ready,
        };
        turns.lock().expect("never poisoned").next(&choice)
    };
    let simulation = Simulation::begin(settings, choose, move |report| on_stop(report));
    Ok(Some(simulation.expect("checked above")))
}

/// Returns an error if a closed pool with these options cannot be built here.
pub(crate) fn check_closed(options: &Options) -> Result<(), BuildError> {
    if options.simulated.is_some() {
        let error = "Builder::simulated: a closed pool cannot be simulated";
        return Err(BuildError::new(error.to_owned()));
    }
    refuse_simulated("ClosedPool::build", "a pool that is not simulated")
}

fn refuse_simulated(method: &str, what: &str) -> Result<(), BuildError> {
    if !is_simulated() {
        return Ok(());
    }
    Err(BuildError::new(format!(
        "{method}: this thread belongs to a simulated pool and cannot build {what}"
    )))
}

/// Panics if the calling thread belongs to a simulation, because `pool` is not simulated.
pub(crate) fn check_ordinary(pool: &str) {
    assert!(
        !is_simulated(),
        "{pool} is not simulated, and was called by a thread of a simulated pool: call `install` on the simulated pool \
         first"
    );
}

/// Panics if a thread of a simulation uses another pool, or another thread uses a simulated pool:
/// the threads of a simulation would wait for threads that the simulation does not know.
pub(crate) fn check_caller(pool: &str, own: Option<&Observer>) {
    if is_right(own) {
        return;
    }
    let name = pool.escape_debug();
    match own {
        None => check_ordinary(&format!("pool {name}")),
        Some(_) => panic!(
            "pool {name} is simulated, and was called by a thread outside the simulation: only the pool's tasks and the \
             thread that has built the pool may use it"
        ),
    }
}

/// Aborts the process if the calling thread does not belong to the pool's simulation. This is the
/// last resort behind [`check_caller`]: a thread outside a simulation runs beside the threads
/// inside, which have no other protection than their turns.
pub(crate) fn check_thread(pool: &str, own: Option<&Observer>) {
    if !is_right(own) {
        print_line(format_args!(
            "pool {}: a thread outside the simulation of a pool used the pool, or a simulated thread used an ordinary \
             pool; aborting",
            pool.escape_debug()
        ));
        std::process::abort();
    }
}

fn is_right(own: Option<&Observer>) -> bool {
    own.map(Observer::serial) == simulation::serial_here()
}
