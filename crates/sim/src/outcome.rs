//! The results of a run.

use crate::allot::Broken;
use tidegate_policy::Nanos;

/// Counters of one job, summed over its workers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// The number of tasks that ran.
    pub tasks: u64,
    /// The number of attempts to steal.
    pub attempts: u64,
    /// The number of attempts that succeeded, including the [`swaps`](Self::swaps).
    pub steals: u64,
    /// The number of tasks that the thieves took in these steals.
    pub stolen_tasks: u64,
    /// The number of steals in which a thief woke a sleeping worker that had work, and fell asleep
    /// in its place.
    pub swaps: u64,
    /// The number of attempts that failed although the victim had work.
    pub failed_busy: u64,
    /// The number of attempts that failed because the victim was out of work.
    pub failed_empty: u64,
    /// The length of the victim's deque, summed over all attempts.
    pub lengths_seen: u64,
    /// How often a thief slept for a while, as its idle policy required.
    pub naps: u64,
    /// How often a task slept because it requested memory, or yielded its processor to a task that
    /// comes earlier in the depth-first order.
    pub sleeps: u64,
    /// Requests for memory that could never be granted; their tasks continued without it.
    pub refusals: u64,
    /// Bytes of data that tasks touched.
    pub touched_bytes: u64,
    /// The part of `touched_bytes` that was not in the cache of the task's place.
    pub missed_bytes: u64,
    /// The time that workers spent running tasks, including all costs, and the cost of taking the
    /// tasks that a search found.
    pub working: Nanos,
    /// The part of `working` that was spent on taking the tasks that a search found.
    pub stealing: Nanos,
    /// The time that workers spent searching.
    pub searching: Nanos,
    /// The time for which estimates of the job's desire held up its workers. It also counts as time
    /// in the state that the worker was in.
    pub held_up: Nanos,
    /// The time that workers slept for lack of work, or took to wake up.
    pub asleep: Nanos,
}

/// The results of one job.
#[derive(Clone, Debug, PartialEq)]
pub struct JobOutcome {
    /// When the job arrived.
    pub arrived: Nanos,
    /// When the job's last task ended.
    pub ended: Nanos,
    /// The total time of the job's tasks, T1, including cache misses if there are caches.
    pub work: Nanos,
    /// The length of the longest chain of tasks that waited for each other, Tinf.
    pub span: Nanos,
    /// The number of actions (steps of tasks) on the chain with the highest number of actions.
    pub depth: u64,
    /// The mean of the job's allotment over its lifetime.
    pub mean_allotment: f64,
    /// Like `mean_allotment`, but in the periods with the largest allotments, which together last
    /// Tinf, only as many processors count as there were ready tasks. This is the average effective
    /// allotment of Sen, "Dynamic processor allocation for adaptively parallel work-stealing jobs",
    /// 2004, definition 1.
    pub effective_allotment: f64,
    /// Like `mean_allotment`, but without the periods with the largest allotments, which together
    /// last Tinf. This is the trimmed mean of Agrawal, He, Hsu and Leiserson, "Adaptive work
    /// stealing with parallelism feedback", PPoPP 2007. If the job has a fixed number of
    /// processors, this is that number.
    pub trimmed_allotment: f64,
    /// The time from the job's arrival until as many workers have had work as the machine has
    /// processors, or `None` if that never happened.
    pub all_processors: Option<Nanos>,
    /// Whether a worker had to wait for a processor, so that the job had fewer processors than it
    /// was allotted.
    pub stood_in_line: bool,
    /// The peak of the memory that the job's tasks had declared.
    pub peak_bytes: u64,
    /// The counters, summed over the job's workers.
    pub counters: Counters,
}

impl JobOutcome {
    /// Returns how long the job took.
    #[must_use]
    pub const fn time(&self) -> Nanos {
        self.ended - self.arrived
    }
}

/// How many tasks each worker had at one time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// When the sample was taken, in simulated time since the start of the run.
    pub time: Nanos,
    /// At index `i`, how many workers had `i` tasks, running or waiting.
    pub workers: Vec<u32>,
}

/// The results of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The jobs, in the order in which they were passed.
    pub jobs: Vec<JobOutcome>,
    /// The first promise of the allotment rule that was broken, if any.
    pub broken: Option<Broken>,
    /// Samples of the workers' task counts, as often as the settings request.
    pub samples: Vec<Sample>,
    /// The number of events that the machine handled.
    pub events: u64,
}

impl Outcome {
    /// Returns the time at which the last job ended.
    #[must_use]
    pub fn end(&self) -> Nanos {
        self.jobs.iter().map(|job| job.ended).max().unwrap_or(0)
    }
}
