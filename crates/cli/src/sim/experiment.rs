//! Runs programs on the simulated machine: as one job or several, with one seed or several.
//!
//! Runs with different seeds are independent, so they are tasks of a pool. The results are in the
//! order of the seeds, so they do not depend on the number of workers.

use serde_json::{Map, Value, json};
use tidegate::Pool;
use tidegate_policy::{MemoryPolicy, tunables};
use tidegate_sim::bounds::bounds;
use tidegate_sim::{
    Allot, Arrivals, Bound, Deques, Job, JobOutcome, Nanos, Outcome, Settings, Width, run_mix,
};

use super::costs;
use super::processors::Processors;
use super::simulated::{SimulatedProgram, labels};
use crate::arguments::{Simulated, SimulationFlags};
use tidegate_cli_support::failure::Failure;
use tidegate_cli_support::options::value;
use tidegate_cli_support::output::{Progress, show_count, show_seconds};

pub struct Experiment {
    /// The programs, which the jobs take in turn.
    pub programs: Vec<SimulatedProgram>,
    /// The settings of the simulated machine, including the first seed.
    pub settings: Settings,
    /// The path of the topology file; `None` without `--topology`.
    pub topology: Option<String>,
    /// The path of the cost file; `None` without `--costs`.
    pub costs: Option<String>,
    /// How many processors each job gets.
    pub width: Width,
    pub instances: usize,
    /// When the jobs arrive; `None` if all of them arrive at the start.
    pub arrivals: Option<Arrivals>,
    pub seeds: usize,
}

/// The outcome of a run, and each job's theoretical bounds.
pub struct Done {
    pub seed: u64,
    pub outcome: Outcome,
    pub bounds: Vec<Vec<Bound>>,
}

impl Experiment {
    pub fn new(
        Simulated { chosen, flags }: &Simulated,
        processors: &Processors,
    ) -> Result<Self, Failure> {
        let programs = SimulatedProgram::all(chosen, flags)?;
        let settings = Settings {
            seed: flags.sim_seed,
            idle: value(flags.idle, &tunables::IDLE)?,
            steal: value(flags.steal, &tunables::STEAL)?,
            victim: value(flags.victim, &tunables::VICTIM)?,
            deques: if flags.place_deques {
                Deques::Place
            } else {
                Deques::Worker
            },
            memory: value(flags.memory, &tunables::SPACE)?,
            places: processors.places(),
            cache: value(flags.cache, &tunables::SIM_CACHE)? as u64,
            pinned: flags.pinned,
            allot: allot(flags)?,
            allotments: flags.allotments.clone(),
            cycle: cycle(flags)?,
            costs: costs::read(flags.costs.as_deref())?,
            ..Settings::new(processors.count)
        };
        let width = flags
            .desire
            .map_or(Width::Fixed(processors.count), Width::Desired);
        Ok(Self {
            settings,
            topology: processors.file(),
            costs: flags.costs.as_ref().map(|file| file.display().to_string()),
            width,
            instances: instances(flags, &programs)?,
            programs,
            arrivals: flags.arrivals.clone(),
            seeds: seeds(flags)?,
        })
    }

    /// Returns the program that the job with this index runs.
    pub fn program(&self, job: usize) -> &SimulatedProgram {
        &self.programs[job % self.programs.len()]
    }

    /// Returns each program's work (T1) and span (Tinf) as JSON fields.
    pub fn sizes(&self, outcome: &Outcome) -> Map<String, Value> {
        // The first job that runs a program has the same index as the program.
        let sizes = self
            .programs
            .iter()
            .zip(&outcome.jobs)
            .map(|(simulated, job)| {
                let mut fields = Map::new();
                if self.programs.len() > 1 {
                    fields.insert("program".into(), simulated.label.clone().into());
                    fields.extend(simulated.to_json());
                }
                fields.insert("t1".into(), (job.work as f64 / 1e9).into());
                fields.insert("tinf".into(), (job.span as f64 / 1e9).into());
                fields
            });
        let mut sizes: Vec<_> = sizes.collect();
        match &mut sizes[..] {
            [only] => std::mem::take(only),
            _ => Map::from_iter([("programs".to_owned(), json!(sizes))]),
        }
    }

    /// Runs the programs with every seed, and returns the results in the order of the seeds.
    pub fn run(&self) -> Result<Vec<Done>, Failure> {
        let progress = Progress::start(self.seeds as u64);
        let labels = labels(&self.programs);
        progress.say(&format!("{labels}: simulating"));
        let one = |number: usize| {
            let mut far = |events: u64, now| {
                // Progress messages of several simulations at once would contradict each other.
                if self.seeds == 1 {
                    let (millions, now) = (events / 1_000_000, show_seconds(now as f64 / 1e9));
                    progress.say(&format!(
                        "{labels}: simulating, {millions} million events, {now} simulated"
                    ));
                }
            };
            let done = self.once(number, &mut far);
            progress.step();
            done
        };
        if self.seeds == 1 {
            return Ok(vec![one(0)?]);
        }
        let pool = Pool::builder().name("sim").build();
        let pool =
            pool.map_err(|error| Failure::Impossible(format!("cannot start a pool: {error}")))?;
        let all = pool.install(|| {
            let one = |number| one(number).map(|done| vec![done]);
            tidegate::map_reduce(0..self.seeds, one, |left, right| {
                let (mut left, mut right) = (left?, right?);
                left.append(&mut right);
                Ok(left)
            })
        });
        all.unwrap_or_else(|| Ok(Vec::new()))
    }

    /// Runs the programs with the seed of this number. Calls `far` now and then.
    pub fn once(&self, number: usize, far: &mut dyn FnMut(u64, Nanos)) -> Result<Done, Failure> {
        let seed = self.settings.seed + number as u64;
        let under = match self.settings.memory {
            MemoryPolicy::None | MemoryPolicy::Hybrid(_) => String::new(),
            memory => format!(" with --memory {memory}"),
        };
        let refused = |refusal: tidegate_sim::Refusal| {
            Failure::Usage(format!("sim {}{under}: {refusal}", labels(&self.programs)))
        };
        let settings = Settings {
            seed,
            ..self.settings.clone()
        };
        let arrivals = match &self.arrivals {
            Some(arrivals) => arrivals.times(self.instances, seed).map_err(refused)?,
            None => vec![0; self.instances],
        };
        let dags: Vec<_> = (0..self.instances)
            .map(|job| self.program(job).dag())
            .collect();
        let jobs = dags.iter().zip(arrivals).map(|(dag, arrives)| Job {
            dag: &**dag,
            arrives,
            width: self.width,
        });
        let outcome = run_mix(&settings, &jobs.collect::<Vec<_>>(), far).map_err(refused)?;
        let of_job = |(number, job): (usize, &JobOutcome)| {
            let walk = || self.program(number).extent(k_of(settings.memory));
            let extent = (job.peak_bytes > 0).then(walk);
            bounds(&settings, &outcome, (number, self.width), extent)
        };
        let bounds = outcome.jobs.iter().enumerate().map(of_job).collect();
        Ok(Done {
            seed,
            outcome,
            bounds,
        })
    }
}

/// Returns how many bytes count as one action in the bound of the memory policy.
fn k_of(memory: MemoryPolicy) -> u64 {
    match memory {
        MemoryPolicy::DepthFirst(policy) => policy.k as u64,
        MemoryPolicy::DfDeques(policy) => policy.k as u64,
        MemoryPolicy::None | MemoryPolicy::Hybrid(_) | MemoryPolicy::Budget(_) => u64::MAX,
    }
}

/// Returns the allotment policy. Fails if `--allot` is given without `--desire`.
fn allot(flags: &SimulationFlags) -> Result<Allot, Failure> {
    match (flags.allot, flags.desire) {
        (Some(_), None) => Err(requires_desire("--allot")),
        (rule, _) => Ok(rule.unwrap_or(Allot::Dp)),
    }
}

/// Returns the time between two estimates of a job's desire. Fails if `--est-cycle` is given
/// without `--desire`.
fn cycle(flags: &SimulationFlags) -> Result<Nanos, Failure> {
    match (flags.est_cycle, flags.desire) {
        (Some(_), None) => Err(requires_desire("--est-cycle")),
        (flag, _) => value(flag, &tunables::EST_CYCLE),
    }
}

fn requires_desire(option: &str) -> Failure {
    Failure::Usage(format!(
        "{option} requires --desire RULE: without it, every job has all processors"
    ))
}

/// Returns the number of jobs. The default is one job for each time of `--arrivals`, or one for
/// each program if there are no times.
fn instances(flags: &SimulationFlags, simulated: &[SimulatedProgram]) -> Result<usize, Failure> {
    let programs = simulated.len();
    let told = flags.arrivals.as_ref().map(Arrivals::count);
    match (flags.instances, told) {
        (Some(instances), Some(Some(times))) if instances != times => {
            Err(Failure::Usage(format!(
                "--instances is {instances}, but --arrivals has {times} times: omit one of them, or make the numbers equal"
            )))
        }
        (None, Some(None)) if programs == 1 => Err(Failure::Usage(
            "--arrivals poisson:MEAN requires --instances N, the number of jobs".into(),
        )),
        (instances, told) => match instances.or(told.flatten()).unwrap_or(programs) {
            few if few < programs => Err(Failure::Usage(format!(
                "{} cannot run {programs} programs (no job for {}): expected at least {programs} jobs, one per program",
                show_count(few, "job"),
                labels(&simulated[few..])
            ))),
            1 if told.is_some() => Err(Failure::Usage(
                "--arrivals has no effect on a single job: expected at:TIME,.. with two or more entries, or --instances 2 or more"
                    .into(),
            )),
            instances => Ok(instances),
        },
    }
}

/// Returns the number of seeds. Fails if the last seed would exceed the range.
fn seeds(flags: &SimulationFlags) -> Result<usize, Failure> {
    let seeds = flags.seeds.unwrap_or(1);
    match flags.sim_seed.checked_add(seeds as u64 - 1) {
        Some(_) => Ok(seeds),
        None => Err(Failure::Usage(format!(
            "invalid value {seeds} for --seeds with --sim-seed {}: expected at most {}",
            flags.sim_seed,
            u64::MAX - flags.sim_seed + 1
        ))),
    }
}
