//! What a run of the machine was like.

use tidegate_policy::Nanos;
use tidegate_policy::allot::Broken;

/// Counters of one job, summed over its workers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Tasks that ran.
    pub tasks: u64,
    /// Attempts to steal.
    pub attempts: u64,
    /// Those that succeeded, the swaps below included.
    pub steals: u64,
    /// Tasks taken by these.
    pub stolen_tasks: u64,
    /// Steals by which a thief woke a worker asleep with work and fell asleep in its place.
    pub swaps: u64,
    /// Attempts that failed on a victim that had work itself.
    pub failed_lost_race: u64,
    /// Attempts that failed on a victim that was out of work.
    pub failed_empty: u64,
    /// The length of the victim's deque, summed over all attempts.
    pub lengths_seen: u64,
    /// How often a thief slept for a while, by its idle policy.
    pub naps: u64,
    /// How often a task has slept for memory, or left its processor to one that comes before it.
    pub sleeps: u64,
    /// Requests for memory that could never be granted; their tasks went on without.
    pub refusals: u64,
    /// Bytes of data that tasks touched.
    pub touched_bytes: u64,
    /// Those of them that were not in the cache of the task's place.
    pub missed_bytes: u64,
    /// Time in which workers ran tasks, costs included, also those of taking what a search had found.
    pub working: Nanos,
    /// What that taking took.
    pub stealing: Nanos,
    /// Time in which they searched.
    pub searching: Nanos,
    /// Time for which estimates of the job's desire held its workers up; it counts as what these did then.
    pub held_up: Nanos,
    /// Time in which they slept for lack of work, or were on the way from there.
    pub asleep: Nanos,
}

/// What became of one job.
#[derive(Clone, Debug, PartialEq)]
pub struct JobOutcome {
    /// When it arrived.
    pub arrived: Nanos,
    /// When its last task was over.
    pub ended: Nanos,
    /// The time that its tasks took by themselves, T1; where there are caches, with what was missing in them.
    pub work: Nanos,
    /// The longest chain of tasks that waited for each other, Tinf.
    pub span: Nanos,
    /// How many actions the longest chain by that measure has: the steps of its tasks.
    pub depth: u64,
    /// The mean over its time of the processors allotted to it.
    pub mean_allotment: f64,
    /// The same, but in the Tinf of time with the most processors only as many as there were tasks ready: the average effective allotment of Sen,
    /// "Dynamic processor allocation for adaptively parallel work-stealing jobs", 2004, definition 1.
    pub effective_allotment: f64,
    /// The same without the Tinf of time with the most processors: the trimmed mean of Agrawal, He, Hsu and Leiserson, "Adaptive work stealing with parallelism feedback", PPoPP 2007.
    /// That of a job with a fixed number is that number.
    pub trimmed_allotment: f64,
    /// How long after its arrival as many workers as the machine has processors had had work; none if they never had.
    pub all_processors: Option<Nanos>,
    /// Whether a worker had to stand in line for a processor: the job had fewer than it was allotted.
    pub stood_in_line: bool,
    /// The most that its tasks had declared at a time.
    pub peak_bytes: u64,
    /// What was counted.
    pub counters: Counters,
}

impl JobOutcome {
    /// How long the job took.
    #[must_use]
    pub const fn time(&self) -> Nanos {
        self.ended - self.arrived
    }
}

/// How many tasks the workers had at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// When that was.
    pub time: Nanos,
    /// By a number of tasks, that which runs and those that wait, how many workers had so many.
    pub workers: Vec<u32>,
}

/// What became of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The jobs, in the order in which they were handed in.
    pub jobs: Vec<JobOutcome>,
    /// The first promise of the rule for allotments that was broken, if one was.
    pub broken: Option<Broken>,
    /// How many tasks the workers had, as often as the settings say.
    pub samples: Vec<Sample>,
    /// How many moments the machine went through.
    pub events: u64,
}

impl Outcome {
    /// When the last job was over.
    #[must_use]
    pub fn end(&self) -> Nanos {
        self.jobs.iter().map(|job| job.ended).max().unwrap_or(0)
    }
}
