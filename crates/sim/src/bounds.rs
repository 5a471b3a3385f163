//! What theory promises of a run, and how near the run came to it.
//!
//! * `greedy`: T <= T1/P + Tinf, P being the trimmed allotment, on a machine where nothing but tasks takes time and no work is left lying. With a fixed number of processors it is the bound of Graham and
//!   Brent; with others it is meant as theorem 3 of Sen, "Dynamic processor allocation for adaptively parallel work-stealing jobs", 2004, is, whose mean of the allotments is too large ([`JobOutcome::effective_allotment`]).
//! * `stealing-time`: the same for work stealing, with a constant before the span: the least that fits, against [`STEALING_TIME`].
//! * `steals`: the steals in units of P times the steps of the longest chain, against [`STEALS`]. Both constants are expected values in Blumofe and Leiserson,
//!   "Scheduling multithreaded computations by work stealing", J. ACM 46(5), 1999, theorems 11 and 13, which name no number.
//! * `memory`: what is declared at most. Work stealing P S1 (the same, theorem 3), depth-first and DFDeques S1 + k P D, a budget itself.
//! * `allotments`: how many promises of the rule that shares processors out were broken, against none; not judged where jobs are given less than their shares.
//!
//! Theory counts in steps of one length. Here a step on the longest chain takes what it takes to fork, be found by a thief, which slept where thieves park, and join; so much is
//! added to the span for each of its actions ([`JobOutcome::depth`]), and the work is the time of the workers at it, costs included but for those of steals. Time for which estimates held
//! workers up is taken off the run: each may have held up the longest chain.
//!
//! Where tasks are few or short, a bound may be one that no run breaks, however it goes; [`Bound::tells`] says so.
//!
//! What it does not do: judge runs for which theory promises nothing. These are thieves that leave a
//! victim its last tasks (a fixed amount) or, as to time, sleep beside work; sleepers of the hybrid;
//! workers that stood in line for a processor; workers that share a deque. Both bounds of work stealing suppose one task a steal:
//! their proofs count how often the oldest task of a deque is stolen, and of a batch the youngest
//! task runs first while the oldest waits to be stolen again.

use crate::costs::Costs;
use crate::extent::Extent;
use crate::outcome::{JobOutcome, Outcome};
use crate::settings::{Deques, Settings, Width};
use tidegate_policy::{IdlePolicy, MemoryPolicy, Nanos, StealAmount};

/// The most that `stealing-time` may be: more than twice what was seen in 10,000 random runs.
pub const STEALING_TIME: f64 = 2.0;
/// The most that `steals` may be: many times what was seen there, and twice what the program `nested` comes to, of which
/// nearly every task is stolen.
pub const STEALS: f64 = 4.0;

/// A bound, and what a run came to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// Which one.
    pub name: &'static str,
    /// What the run came to.
    pub value: f64,
    /// What it may be.
    pub limit: f64,
    /// What the worst of runs would come to: all work on one processor, every task stolen, all memory declared at a time.
    pub worst: f64,
}

impl Bound {
    /// Whether the run kept it.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.value <= self.limit
    }

    /// Whether there are runs of this dag that would not keep it.
    #[must_use]
    pub fn tells(&self) -> bool {
        self.worst > self.limit
    }
}

/// The bounds of the run of one job: its number in `outcome`, how many processors it had, and its dag's extent, with the `k` of its
/// [policy](Settings::memory), where that is known.
#[must_use]
pub fn bounds(
    settings: &Settings,
    outcome: &Outcome,
    (number, width): (usize, Width),
    extent: Option<&Extent>,
) -> Vec<Bound> {
    let job = &outcome.jobs[number];
    let mut bounds = Vec::new();
    let has_its_share = !job.stood_in_line;
    if has_its_share && is_greedy(settings) {
        bounds.push(greedy(job));
    }
    let processors = width.limit().unwrap_or(settings.processors);
    if has_its_share && is_work_stealing(settings) {
        if !naps(settings) {
            bounds.push(stealing_time(settings, job));
        }
        bounds.push(steals(job, processors, &settings.costs));
    }
    let memory = extent.and_then(|extent| memory(settings, processors, job, extent));
    bounds.extend(memory);
    if width.desire().is_some() && settings.allotments.is_none() {
        bounds.push(Bound {
            name: "allotments",
            value: f64::from(u8::from(outcome.broken.is_some())),
            limit: 0.0,
            worst: 1.0,
        });
    }
    bounds
}

/// What of the processors' time thieves spent on searching, against what Sen allows a good scheduler to waste: the less of P Tinf and T1 + P^2, in steps.
#[must_use]
pub fn waste(settings: &Settings, job: &JobOutcome) -> Bound {
    let step = step(settings);
    let processors = settings.processors as f64;
    let span = burdened_span(job, step);
    let work = job.counters.working as f64 + processors * processors * step;
    Bound {
        name: "waste",
        value: job.counters.searching as f64,
        limit: work.min(processors * span),
        worst: processors * job.time() as f64,
    }
}

/// Whether nothing but tasks takes time on such a machine, and nobody leaves work lying.
fn is_greedy(settings: &Settings) -> bool {
    let Settings { steal, costs, .. } = settings;
    let idle = settings.built_in_idle();
    let parks_at_once = matches!(idle, Some(IdlePolicy::Elastic(rules)) if rules.search == 0);
    let costs = Costs {
        slice: Costs::NONE.slice,
        ..*costs
    };
    parks_at_once
        && costs == Costs::NONE
        && settings.memory == MemoryPolicy::None
        && takes_last(*steal)
}

/// Whether a thief takes the last task that waits.
fn takes_last(steal: StealAmount) -> bool {
    !matches!(steal, StealAmount::Fixed(least) if least > 1)
}

/// Whether thieves may sleep while there is work, as under a user's backoff.
fn naps(settings: &Settings) -> bool {
    !matches!(
        settings.built_in_idle(),
        Some(IdlePolicy::Elastic(_) | IdlePolicy::None | IdlePolicy::Yield | IdlePolicy::AbpYield)
    )
}

/// Whether the bounds of work stealing hold for such thieves.
fn is_work_stealing(settings: &Settings) -> bool {
    settings.memory == MemoryPolicy::None
        && settings.steal == StealAmount::One
        && settings.deques == Deques::Worker
}

/// The bound of greedy schedules.
#[must_use]
pub fn greedy(job: &JobOutcome) -> Bound {
    let work = job.work as f64 / job.trimmed_allotment.max(1.0);
    Bound {
        name: "greedy",
        value: job.time() as f64,
        limit: work + job.span as f64,
        worst: job.work as f64,
    }
}

/// How long a step of the longest chain may be held up: by a fork, a thief that looks and
/// steals, a thief that has to look, if it parks to wake before, and a join.
fn step(settings: &Settings) -> f64 {
    let costs = &settings.costs;
    let found = costs.attempt + costs.steal + costs.look_again.max(1) + costs.yields;
    let woken = match settings.built_in_idle() {
        // A user's backoff may park, too.
        Some(IdlePolicy::Elastic(_)) | None => {
            costs.sleep + costs.wake + costs.wake_call + costs.handover
        }
        _ => 0,
    };
    let robbed = costs.look + costs.unwind;
    (costs.fork + costs.join + robbed + found + woken) as f64
}

fn burdened_span(job: &JobOutcome, step: f64) -> f64 {
    job.span as f64 + job.depth as f64 * step
}

/// What stands before the span in the bound of work stealing.
#[must_use]
pub fn stealing_time(settings: &Settings, job: &JobOutcome) -> Bound {
    let work = (job.counters.working - job.counters.stealing) as f64;
    let shared = work / job.trimmed_allotment.max(1.0);
    let span = burdened_span(job, step(settings)).max(1.0);
    let held_up = job.counters.held_up as f64;
    let of = |time: f64| (time - held_up - shared).max(0.0) / span;
    Bound {
        name: "stealing-time",
        value: of(job.time() as f64),
        limit: STEALING_TIME,
        worst: of(work),
    }
}

/// Steals by processors and steps of the longest chain. A step of work is as long as a steal.
#[must_use]
pub fn steals(job: &JobOutcome, processors: usize, costs: &Costs) -> Bound {
    let steal: Nanos = (costs.attempt + costs.steal).max(1);
    let steps = job.depth as f64 + job.span as f64 / steal as f64;
    let of = |steals: u64| steals as f64 / (processors as f64 * steps.max(1.0));
    Bound {
        name: "steals",
        value: of(job.counters.steals),
        limit: STEALS,
        worst: of(job.counters.tasks),
    }
}

/// What may be declared at a time under the settings' policy; none where no bound is known.
#[must_use]
pub fn memory(
    settings: &Settings,
    processors: usize,
    job: &JobOutcome,
    extent: &Extent,
) -> Option<Bound> {
    let s1 = extent.peak_bytes as f64;
    let processors = processors as f64;
    let premature = |k: usize| s1 + k as f64 * processors * extent.depth as f64;
    let limit = match settings.memory {
        MemoryPolicy::None if extent.rests || extent.drafts || !is_work_stealing(settings) => {
            return None;
        }
        MemoryPolicy::None => processors * s1,
        MemoryPolicy::Hybrid(_) => return None,
        MemoryPolicy::DepthFirst(policy) => premature(policy.k),
        MemoryPolicy::DfDeques(policy) => premature(policy.k),
        MemoryPolicy::Budget(policy) => policy.bytes as f64,
    };
    Some(Bound {
        name: "memory",
        value: job.peak_bytes as f64,
        limit,
        worst: extent.reserved_bytes as f64,
    })
}
