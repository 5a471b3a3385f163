//! How many processors a job could put to good use.
//!
//! Once per cycle ([`EST_CYCLE`](crate::tunables::EST_CYCLE)) a job hands in what it has [`Seen`] of itself and gets its
//! desire for the next cycle. A [`DesirePolicy`] is the policy, a [`DesireState`] what one job remembers under it; behind it
//! stand the estimators, each an [`Estimate`] in a file of its name:
//!
//! * [`Steady`], ours,
//! * [`Wsap`]: Sen, "Dynamic processor allocation for adaptively parallel work-stealing jobs", 2004, section 6.1,
//! * `instantaneous`: the measure that Sen warns of, section 4.2,
//! * [`ASteal`], [`ADeque`], [`Palirria`], [`Dws`]: as told by Haselsteiner, "Adaptive
//!   Work-Stealing Techniques", 2015, sections 2.3, 2.4, 2.5 and 2.7.
//!
//! Common to all: a job without any work desires 0, a job with work at least 1, and a new one 1.
//!
//! The sources' thieves search without rest; ours park, and a parked thief makes no attempts. What of the allotment was
//! neither spent working nor searching counts as attempts that the parked thieves would have made; they would have met a
//! victim that was itself out of work as often as processors were out of work. To count them all as purely
//! unsuccessful would tell a job that keeps two of eight processors busy that it uses none.
//!
//! This module does not clamp a desire to what a job may have at most, and it shares nothing out: that is
//! [`allot`](crate::allot). It reads no counters; whoever hands in [`Seen`] has gathered them.

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

/// What a job saw of itself in one cycle.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen<'a> {
    /// How long the cycle was.
    pub length: Nanos,
    /// How many processors the job was entitled to: the mean over the cycle, rounded to nearest.
    pub allotment: usize,
    /// How many slots were held at the end.
    pub usage: usize,
    /// Attempts to steal, successes included.
    pub attempts: u64,
    /// Those of them that failed on a victim that was itself out of work.
    pub failed_empty: u64,
    /// The sum over all attempts of the length of the victim's deque.
    pub lengths_seen: u64,
    /// Time in which workers ran tasks, of all workers together.
    pub working: Nanos,
    /// Time in which workers looked for tasks, of all workers together.
    pub searching: Nanos,
    /// How many tasks wait in each worker's deque at the end, by the worker's number.
    pub deques: &'a [usize],
    /// How many tasks wait elsewhere at the end: in the queues of the pool, or begun and without a slot to go on with.
    pub queued: usize,
    /// How many workers run a task at the end.
    pub busy: usize,
    /// Processors of the machine that nobody uses at the end. Only [`Dws`] asks.
    pub free: usize,
    /// Processors that belong to this job and that others use. Only [`Dws`] asks.
    pub lent: usize,
}

impl Seen<'_> {
    /// How many tasks have not started.
    #[must_use]
    pub fn waiting(&self) -> usize {
        let lengths = self.deques.iter();
        lengths.fold(self.queued, |sum, length| sum.saturating_add(*length))
    }

    /// Whether the job has anything to do: a task runs or waits, or one ran a moment ago and its worker still holds the
    /// slot.
    #[must_use]
    pub fn has_work(&self) -> bool {
        self.busy > 0 || self.waiting() > 0 || (self.usage > 0 && self.working > 0)
    }

    /// The allotment, or the one processor that a job with work uses before it is told.
    fn entitled(&self) -> usize {
        self.allotment.max(1)
    }

    /// The time of all processors together that the job was entitled to.
    fn capacity(&self) -> Nanos {
        self.length.saturating_mul(self.entitled() as u64)
    }

    /// The part of it in which workers lay parked for lack of work.
    fn parked(&self) -> Nanos {
        let awake = self.working.saturating_add(self.searching);
        self.capacity().saturating_sub(awake)
    }

    /// The attempts, with those that parked thieves would have made; see the module.
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

/// Attempts to steal, and those that failed on a victim that was itself out of work.
#[derive(Clone, Copy, Debug)]
struct Attempts {
    all: u64,
    failed_empty: u64,
}

impl Attempts {
    /// The part of all attempts that did not fail purely, in [`ONE`]ths; all of them where there were none.
    fn useful(self) -> u64 {
        match self.all {
            0 => ONE,
            all => scale(ONE, all.saturating_sub(self.failed_empty), all),
        }
    }
}

/// Ratios are whole numbers of this fraction: fine enough for any parameter, and equal ratios are equal.
const ONE: u64 = 1_000_000;

/// A parameter in [`ONE`]ths.
fn fixed(ratio: f64) -> u64 {
    (ratio * ONE as f64 + 0.5) as u64
}

/// `value * times / by`, rounded to nearest.
fn scale(value: u64, times: u64, by: u64) -> u64 {
    let by = u128::from(by);
    let scaled = (u128::from(value) * u128::from(times) + by / 2) / by;
    u64::try_from(scaled).unwrap_or(u64::MAX)
}

/// `value * times / by` processors, a part of one counting as one.
fn processors(value: u64, times: u64, by: u64) -> usize {
    let scaled = (u128::from(value) * u128::from(times)).div_ceil(u128::from(by));
    usize::try_from(scaled).unwrap_or(usize::MAX)
}

/// A rule for the desire, with what it remembers.
pub trait Estimate {
    /// The desire for the next cycle, after a cycle in which the job saw this. It need not look at whether the job has work.
    fn next(&mut self, seen: &Seen<'_>) -> usize;
}

/// How a job estimates its desire.
///
/// The text form is the name, a colon and the parameters that differ from their defaults, for instance `wsap:eta=0.75`.
/// Every parameter, its range and its default is a row of [`tunables`](crate::tunables).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DesirePolicy {
    /// What was used lately, and more while all of that is used and tasks wait.
    Steady(Steady),
    /// By the attempts to steal that were in vain.
    Wsap(Wsap),
    /// As many as tasks run and wait now.
    Instantaneous,
    /// Up and down by a factor.
    ASteal(ASteal),
    /// What was used, and more by the length of the deques.
    ADeque(ADeque),
    /// By the workers at the rim and on the axes of a mesh.
    Palirria(Palirria),
    /// Whoever finds nothing leaves, and waiting tasks call others.
    Dws(Dws),
}

impl DesirePolicy {
    /// Refuses parameters outside their ranges.
    ///
    /// # Errors
    /// Names the policy, the parameter, its value and what is allowed.
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
        "How a job estimates how many processors it could use; steady comes to rest where the others go up and down.",
        Basis::Guessed;
}

choices!(DesirePolicy);

impl Default for DesirePolicy {
    /// [`DESIRE`].
    fn default() -> Self {
        DESIRE.default
    }
}

/// What one job remembers of its cycles.
///
/// ```
/// use tidegate_policy::DesireState;
/// use tidegate_policy::desire::{DesirePolicy, Seen};
///
/// let mut state = DesireState::new(&DesirePolicy::default())?;
/// assert_eq!(state.desire(), 1);
/// let seen = Seen { length: 5_000_000, allotment: 1, usage: 1, working: 5_000_000, deques: &[7], busy: 1, ..Seen::default() };
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
    /// The state of a job that has just begun.
    ///
    /// # Errors
    /// Those of [`DesirePolicy::check`].
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

    /// The desire after the last cycle.
    #[must_use]
    pub fn desire(&self) -> usize {
        self.desire
    }

    /// The desire for the next cycle, after one in which the job saw this.
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
        // Also without work: the estimator remembers that there was none.
        let desire = estimate.next(seen);
        self.desire = if seen.has_work() { desire.max(1) } else { 0 };
        self.desire
    }
}
