//! The settings of a machine, and the jobs that run on it.

use crate::allot::Allot;
use crate::allotments::{Allotments, Course};
use crate::costs::Costs;
use std::fmt;
use tidegate_policy::desire::DesirePolicy;
use tidegate_policy::idle::BackoffFactory;
use tidegate_policy::tunables::{EST_CYCLE, SIM_PROCESSORS};
use tidegate_policy::{
    IdlePolicy, IdleState, MemoryPolicy, Nanos, ParseError, PlaceTree, StealAmount, VictimPolicy,
};

/// The machine and its policies.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The number of processors. Each job has this many workers, most of them asleep.
    pub processors: usize,
    /// The seed of all random draws.
    pub seed: u64,
    /// What an idle worker does.
    pub idle: IdlePolicy,
    /// A custom backoff that replaces `idle`. It is created for each worker with the worker's
    /// number in its job. Its sleeps are limited as in the runtime, and its panics reach the caller
    /// of the run.
    pub backoff: Option<BackoffFactory>,
    /// How many tasks a steal takes.
    pub steal: StealAmount,
    /// Which victim a thief tries.
    pub victim: VictimPolicy,
    /// Which workers share a deque.
    pub deques: Deques,
    /// Which tasks are granted memory, and which wait for it.
    pub memory: MemoryPolicy,
    /// The distances between the workers of a job, which are identified by their numbers in the
    /// job.
    pub places: PlaceTree,
    /// The size in bytes of the cache of each [place](PlaceTree::places). If it is 0, no touch ever
    /// misses.
    pub cache: u64,
    /// Whether the `i`-th worker of each job runs on processor `i` only. If not, any worker may use
    /// any free processor.
    pub pinned: bool,
    /// What operations cost.
    pub costs: Costs,
    /// How processors are divided among jobs that have a desire.
    pub allot: Allot,
    /// The maximum number of processors for each job over time, regardless of its
    /// [width](Job::width) and its share.
    pub allotments: Option<Allotments>,
    /// The time between two estimates of the jobs' desires.
    pub cycle: Nanos,
    /// The time between two samples of the workers' task counts; with 0, none are taken.
    pub sample: Nanos,
}

/// The maximum number of workers of all jobs together. Each worker takes half a kilobyte.
const MOST_WORKERS: usize = 1 << 22;

impl Settings {
    /// Returns a flat machine with the runtime's default policies.
    #[must_use]
    pub fn new(processors: usize) -> Self {
        Self {
            processors,
            seed: 0,
            idle: IdlePolicy::default(),
            backoff: None,
            steal: StealAmount::default(),
            victim: VictimPolicy::default(),
            deques: Deques::Worker,
            memory: MemoryPolicy::None,
            places: PlaceTree::flat(processors),
            cache: 0,
            pinned: false,
            costs: Costs::default(),
            allot: Allot::Dp,
            allotments: None,
            cycle: EST_CYCLE.default,
            sample: 0,
        }
    }

    /// Returns the idle policy, or `None` if a custom backoff replaces it.
    pub(crate) fn built_in_idle(&self) -> Option<IdlePolicy> {
        self.backoff.is_none().then_some(self.idle)
    }

    pub(crate) fn idle_state(&self, index: usize) -> Result<IdleState, ParseError> {
        match &self.backoff {
            Some(factory) => Ok(IdleState::custom(factory.make(index))),
            None => IdleState::new(&self.idle),
        }
    }

    /// Returns an error if these jobs cannot be run with these settings.
    pub(crate) fn check<D>(&self, jobs: &[Job<D>]) -> Result<(), Refusal> {
        SIM_PROCESSORS.check(self.processors)?;
        self.steal.check()?;
        self.memory.check()?;
        EST_CYCLE
            .check(self.cycle)
            .map_err(|error| error.alone().within(EST_CYCLE.name))?;
        if self.deques == Deques::Place && self.memory.keeps_order() {
            return Err(Refusal(format!(
                "deques of places cannot be used with the memory policy {}, which orders tasks itself: expected none or hybrid",
                self.memory
            )));
        }
        if self.deques == Deques::Place && self.steal.take(1) == 0 {
            return Err(Refusal(format!(
                "deques of places cannot be used with thieves that take {}, which may leave tasks in a place without workers: expected one or half",
                self.steal
            )));
        }
        let most = MOST_WORKERS / self.processors;
        if jobs.len() > most {
            return Err(Refusal(format!(
                "too many workers: {} jobs on {} processors, with one worker per job and processor: expected at most {most} jobs",
                jobs.len(),
                self.processors
            )));
        }
        self.check_allotments()?;
        for (number, job) in jobs.iter().enumerate() {
            if job.width.desire().is_some() && self.pinned {
                return Err(Refusal(format!(
                    "job {number} has a desire, but its workers are pinned, some of them to processors of other jobs: expected a fixed number of processors"
                )));
            }
            if job.width.desire().is_some() && self.memory.keeps_order() {
                return Err(Refusal(format!(
                    "job {number} has a desire, which the memory policy {} does not support: expected a fixed number of processors",
                    self.memory
                )));
            }
            if let Some(limit) = job.width.limit() {
                if !(1..=self.processors).contains(&limit) {
                    return Err(Refusal(format!(
                        "job {number} has {limit} processors: expected 1 to {}",
                        self.processors
                    )));
                }
            }
        }
        Ok(())
    }

    /// Returns the changes of the allotment that is imposed on a job, given the job's number and
    /// arrival time. There are none if `allotments` is not set.
    pub(crate) fn course(&self, job: usize, arrives: Nanos) -> Course<'_> {
        match &self.allotments {
            Some(allotments) => allotments.course((self.processors, self.seed), job, arrives),
            None => Box::new(std::iter::empty()),
        }
    }

    /// Returns an error if the other settings or the machine's size rule out the imposed
    /// allotments.
    fn check_allotments(&self) -> Result<(), Refusal> {
        let Some(allotments) = &self.allotments else {
            return Ok(());
        };
        if self.pinned {
            return Err(Refusal("allotments cannot be used with pinned workers, which cannot move to the remaining processors: expected only one of the two".into()));
        }
        if self.memory.keeps_order() {
            return Err(Refusal(format!(
                "allotments cannot be used with the memory policy {}, which cannot suspend a worker during a task: expected none or hybrid",
                self.memory
            )));
        }
        allotments.check(self.processors)
    }
}

/// Which workers share a deque.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deques {
    /// Each worker has its own deque.
    Worker,
    /// The workers of a [place](PlaceTree::places) share a deque. Each of them pushes and pops at
    /// the deque's young end, and workers of other places steal at its old end. (Weibel, "An
    /// advanced scheduler for intervals", 2010, chapter 4.)
    Place,
}

/// A job for the machine.
#[derive(Clone, Debug)]
pub struct Job<D> {
    /// The program that the job runs.
    pub dag: D,
    /// When the job arrives.
    pub arrives: Nanos,
    /// How many processors the job has.
    pub width: Width,
}

/// How many processors a job has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Width {
    /// Always this number, however many other jobs there are.
    Fixed(usize),
    /// One processor at first. Afterwards, as many as the job desires under this policy, if other
    /// jobs leave enough of them.
    Desired(DesirePolicy),
    /// Like [`Desired`](Self::Desired), but never more than this number.
    Limited(DesirePolicy, usize),
}

impl Width {
    /// Returns the policy for the job's desire, or `None` if the width is fixed.
    #[must_use]
    pub const fn desire(&self) -> Option<&DesirePolicy> {
        match self {
            Self::Fixed(_) => None,
            Self::Desired(desire) | Self::Limited(desire, _) => Some(desire),
        }
    }

    /// Returns the maximum number of processors that the job may have, if its width is fixed or
    /// limited.
    pub(crate) const fn limit(&self) -> Option<usize> {
        match *self {
            Self::Fixed(limit) | Self::Limited(_, limit) => Some(limit),
            Self::Desired(_) => None,
        }
    }
}

/// Why a run was rejected or could not finish.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal(String);

impl Refusal {
    pub(crate) const fn new(message: String) -> Self {
        Self(message)
    }

    pub(crate) fn too_long(longest: Nanos) -> Self {
        let days = longest as f64 / 86_400e9;
        Self(format!(
            "the run takes too long: expected at most {days:.3} simulated days with this number of workers, 584 years for all workers together"
        ))
    }
}

impl From<ParseError> for Refusal {
    fn from(error: ParseError) -> Self {
        Self(error.to_string())
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refusal {}
