//! How many processors a job could use effectively.
//!
//! Once per cycle ([`EST_CYCLE`](crate::tunables::EST_CYCLE)) a job passes in its observations
//! ([`Seen`]) and gets its desire for the next cycle. A [`DesirePolicy`] chooses an estimator, and
//! a [`DesireState`] holds the estimator's state for one job. Each estimator implements
//! [`Estimate`] in its own file:
//!
//! * [`Steady`], designed for this project,
//! * [`Wsap`]: Sen, "Dynamic processor allocation for adaptively parallel work-stealing jobs",
//!   2004, section 6.1,
//! * `instantaneous`: the measure that Sen advises against in section 4.2,
//! * [`ASteal`], [`ADeque`], [`Palirria`], [`Dws`]: as described by Haselsteiner, "Adaptive
//!   Work-Stealing Techniques", 2015, sections 2.3, 2.4, 2.5 and 2.7.
//!
//! Under all estimators, a job without work desires 0 processors, a job with work at least 1, and a
//! new job 1.
//!
//! In the cited papers, thieves never stop searching. In our pools, they park, and a parked thief
//! makes no attempts. So the part of the allotment that was spent neither working nor searching is
//! converted to the attempts that parked thieves would have made. Of these attempts, the fraction
//! that fails on an empty victim equals the fraction of processors without work. If all of them
//! counted as failed, a job that keeps two of eight processors busy would seem to use none.
//!
//! This module does not limit a desire to what a job may have, and does not compute allotments
//! ([`allot`](crate::allot) does). The caller reads the counters and fills in [`Seen`].

mod a_deque;
mod a_steal;
mod dws;
mod form;
mod instantaneous;
mod palirria;
mod steady;
pub(crate) mod tunables;
mod wsap;

pub use a_deque::ADeque;
pub use a_steal::ASteal;
pub use dws::Dws;
pub use palirria::Palirria;
pub use steady::Steady;
pub use wsap::Wsap;

use crate::Nanos;
use crate::error::ParseError;
use crate::parameters::Policy;
use crate::tunable::{Basis, Tunable, choice, choices, table};
use a_steal::AStealState;
use instantaneous::Instantaneous;
use steady::SteadyState;
use tunables::ATTEMPT_TIME;

/// A job's observations in one cycle. Times are in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen<'a> {
    /// The length of the cycle.
    pub length: Nanos,
    /// The number of processors that the job was entitled to: the mean over the cycle, rounded to
    /// the nearest integer.
    pub allotment: usize,
    /// The number of slots that the job holds at the end of the cycle.
    pub usage: usize,
    /// The number of attempts to steal, including successful ones.
    pub attempts: u64,
    /// The number of attempts that failed on a victim without work.
    pub failed_empty: u64,
    /// The sum of the lengths of the victims' deques, over all attempts.
    pub lengths_seen: u64,
    /// Total time in which workers ran tasks.
    pub working: Nanos,
    /// Total time in which workers looked for tasks.
    pub searching: Nanos,
    /// The number of tasks in each worker's deque at the end of the cycle, indexed by worker.
    pub deques: &'a [usize],
    /// The number of tasks that wait outside the deques at the end of the cycle: in the pool's
    /// queues, or started but without a slot to continue.
    pub queued: usize,
    /// The number of workers that run a task at the end of the cycle.
    pub busy: usize,
    /// The number of the machine's processors that are unused at the end of the cycle. Only [`Dws`]
    /// needs it.
    pub free: usize,
    /// The number of this job's processors that other jobs use. Only [`Dws`] needs it.
    pub lent: usize,
}

impl Seen<'_> {
    /// Returns the number of tasks that wait, in deques or elsewhere.
    #[must_use]
    pub fn waiting(&self) -> usize {
        let lengths = self.deques.iter();
        lengths.fold(self.queued, |sum, length| sum.saturating_add(*length))
    }

    /// Returns whether the job has work: a task runs or waits, or one ran in this cycle and its
    /// worker still holds the slot.
    #[must_use]
    pub fn has_work(&self) -> bool {
        self.busy > 0 || self.waiting() > 0 || (self.usage > 0 && self.working > 0)
    }

    /// Returns the allotment, but at least 1: a job with work uses one processor even before it
    /// gets an allotment.
    fn entitled(&self) -> usize {
        self.allotment.max(1)
    }

    /// Returns the processor time that the job was entitled to, in nanoseconds.
    fn capacity(&self) -> Nanos {
        self.length.saturating_mul(self.entitled() as u64)
    }

    /// Returns the part of the capacity in which workers were parked for lack of work.
    fn parked(&self) -> Nanos {
        let awake = self.working.saturating_add(self.searching);
        self.capacity().saturating_sub(awake)
    }

    /// Counts the attempts, including those that parked thieves would have made, as the module's
    /// documentation explains.
    fn attempts(&self) -> Attempts {
        let parked = self.parked() / ATTEMPT_TIME.default;
        let (capacity, length_out_of_work) = (
            self.capacity(),
            self.capacity().saturating_sub(self.working),
        );
        let pure = scale(parked, length_out_of_work, capacity.max(1));
        Attempts {
            all: self.attempts.saturating_add(parked),
            failed_empty: self.failed_empty.saturating_add(pure),
        }
    }
}

/// The number of attempts to steal, and how many of them failed on a victim without work.
#[derive(Clone, Copy, Debug)]
struct Attempts {
    all: u64,
    failed_empty: u64,
}

impl Attempts {
    /// Returns the share of attempts that did not fail on an empty victim, in [`ONE`]ths. It is 1
    /// if there were no attempts.
    fn useful(self) -> u64 {
        match self.all {
            0 => ONE,
            all => scale(ONE, all.saturating_sub(self.failed_empty), all),
        }
    }
}

/// Ratios are represented as integer multiples of 1/`ONE`. This is precise enough for any
/// parameter, and equal ratios compare as equal.
const ONE: u64 = 1_000_000;

/// Converts a parameter to [`ONE`]ths.
fn fixed(ratio: f64) -> u64 {
    (ratio * ONE as f64 + 0.5) as u64
}

/// Returns `value * times / by`, rounded to the nearest integer.
fn scale(value: u64, times: u64, by: u64) -> u64 {
    let by = u128::from(by);
    let scaled = (u128::from(value) * u128::from(times) + by / 2) / by;
    u64::try_from(scaled).unwrap_or(u64::MAX)
}

/// Returns `value * times / by`, rounded up.
fn processors(value: u64, times: u64, by: u64) -> usize {
    let scaled = (u128::from(value) * u128::from(times)).div_ceil(u128::from(by));
    usize::try_from(scaled).unwrap_or(usize::MAX)
}

/// An estimator, including its memory of earlier cycles.
pub trait Estimate {
    /// Returns the desire for the next cycle. `seen` holds the job's observations from the last
    /// cycle. An implementation may ignore whether the job has work.
    fn next(&mut self, seen: &Seen<'_>) -> usize;
}

/// How a job estimates its desire. Default: [`Steady`](Self::Steady).
///
/// The text form is the name, a colon and the parameters that differ from their defaults, for
/// instance `wsap:eta=0.75`. [`tunables`](crate::tunables) lists every parameter with its range and
/// its default.
///
/// ```
/// use tidegate_policy::DesirePolicy;
///
/// let desire: DesirePolicy = "wsap:eta=0.75".parse()?;
/// assert_eq!(desire.to_string(), "wsap:eta=0.75");
/// assert!(matches!(DesirePolicy::default(), DesirePolicy::Steady(_)));
/// # Ok::<(), tidegate_policy::ParseError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DesirePolicy {
    /// Steady: the desire follows recent use, and grows while the whole allotment is used and tasks
    /// wait (the default).
    Steady(Steady),
    /// WSAP: derives the desire from the share of attempts to steal that fail on a victim without
    /// work.
    Wsap(Wsap),
    /// Instantaneous: the desire is the number of tasks that run or wait now.
    Instantaneous,
    /// A-Steal: multiplies the desire after an efficient cycle, divides it after an inefficient
    /// one.
    ASteal(ASteal),
    /// A-Deque: the desire is the number of processors used, plus the number of waiting tasks times
    /// a factor.
    ADeque(ADeque),
    /// Palirria: derives the desire from the deques of the workers on the rim and on the axes of a
    /// mesh.
    Palirria(Palirria),
    /// Demand-aware work-stealing: workers that find nothing give up their processors, and waiting
    /// tasks request more.
    Dws(Dws),
}

impl DesirePolicy {
    /// Rejects parameters outside their ranges.
    ///
    /// # Errors
    /// Returns an error that names the policy, the parameter, its value and the allowed values.
    pub fn check(&self) -> Result<(), ParseError> {
        match self {
            Self::Steady(p) => p.check(),
            Self::Wsap(p) => p.check(),
            Self::Instantaneous => Ok(()),
            Self::ASteal(p) => p.check(),
            Self::ADeque(p) => p.check(),
            Self::Palirria(p) => p.check(),
            Self::Dws(p) => p.check(),
        }
    }
}

table! {
    DESIRE: DesirePolicy = choice("desire", DesirePolicy::names(), DesirePolicy::Steady(Steady::DEFAULT)).set_by("TIDEGATE_DESIRE"),
        "How a job estimates how many processors it could use. `steady` converges in cases where other estimators oscillate.",
        Basis::Guessed;
}

choices!(DesirePolicy, check);

impl Default for DesirePolicy {
    fn default() -> Self {
        DESIRE.default
    }
}

/// One job's desire, and the state of its estimator.
///
/// ```
/// use tidegate_policy::DesireState;
/// use tidegate_policy::desire::{DesirePolicy, Seen};
///
/// let mut state = DesireState::new(&DesirePolicy::default())?;
/// assert_eq!(state.desire(), 1);
/// let cycle = Seen { length: 5_000_000, allotment: 1, usage: 1, ..Seen::default() };
/// let seen = Seen { working: 5_000_000, deques: &[7], busy: 1, ..cycle };
/// assert_eq!(state.next(&seen), 8);
/// # Ok::<(), tidegate_policy::ParseError>(())
/// ```
#[derive(Clone, Debug)]
pub struct DesireState {
    kind: Kind,
    desire: usize,
}

#[derive(Clone, Debug)]
enum Kind {
    Steady(SteadyState),
    Wsap(Wsap),
    Instantaneous(Instantaneous),
    ASteal(AStealState),
    ADeque(ADeque),
    Palirria(Palirria),
    Dws(Dws),
}

impl DesireState {
    /// Creates the state of a job that has just started, with a desire of 1.
    ///
    /// # Errors
    /// Returns the errors of [`DesirePolicy::check`].
    pub fn new(desire: &DesirePolicy) -> Result<Self, ParseError> {
        desire.check()?;
        let kind = match *desire {
            DesirePolicy::Steady(p) => Kind::Steady(SteadyState::new(p)),
            DesirePolicy::Wsap(p) => Kind::Wsap(p),
            DesirePolicy::Instantaneous => Kind::Instantaneous(Instantaneous),
            DesirePolicy::ASteal(p) => Kind::ASteal(AStealState::new(p)),
            DesirePolicy::ADeque(p) => Kind::ADeque(p),
            DesirePolicy::Palirria(p) => Kind::Palirria(p),
            DesirePolicy::Dws(p) => Kind::Dws(p),
        };
        Ok(Self { kind, desire: 1 })
    }

    /// Returns the desire after the last cycle.
    #[must_use]
    pub fn desire(&self) -> usize {
        self.desire
    }

    /// Returns the desire for the next cycle. `seen` holds the job's observations from the last
    /// cycle.
    pub fn next(&mut self, seen: &Seen<'_>) -> usize {
        let estimate: &mut dyn Estimate = match &mut self.kind {
            Kind::Steady(state) => state,
            Kind::Wsap(p) => p,
            Kind::Instantaneous(p) => p,
            Kind::ASteal(state) => state,
            Kind::ADeque(p) => p,
            Kind::Palirria(p) => p,
            Kind::Dws(p) => p,
        };
        // Call the estimator even if there is no work, because it must remember that cycle.
        let desire = estimate.next(seen);
        self.desire = if seen.has_work() { desire.max(1) } else { 0 };
        self.desire
    }
}
