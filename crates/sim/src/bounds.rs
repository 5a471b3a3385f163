//! Theoretical bounds on a run, and how close the run came to them.
//!
//! * `greedy`: T <= T1/P + Tinf, where P is the trimmed allotment. It applies to a machine on which
//!   only tasks take time and thieves leave no work behind. With a fixed number of processors, it
//!   is the bound of Graham and Brent. Otherwise it replaces theorem 3 of Sen, "Dynamic processor
//!   allocation for adaptively parallel work-stealing jobs", 2004, whose mean allotment is too
//!   large ([`JobOutcome::effective_allotment`]).
//! * `stealing-time`: the same bound for work stealing, with a constant before the span. The
//!   smallest constant that fits the run is compared with [`STEALING_TIME`].
//! * `steals`: the number of steals, divided by P and by the steps of the longest chain, compared
//!   with [`STEALS`]. Blumofe and Leiserson, "Scheduling multithreaded computations by work
//!   stealing", J. ACM 46(5), 1999, prove this bound and the previous one in expectation, without
//!   naming the constants (theorems 11 and 13).
//! * `memory`: the peak of the declared memory. The limit is P S1 for work stealing (theorem 3 of
//!   the same paper), S1 + k P D for depth-first order and DFDeques, and the budget itself for a
//!   budget.
//! * `allotments`: whether the rule that divides the processors broke a promise. This is not judged
//!   if allotments are imposed on the jobs.
//!
//! Theory counts steps of equal length. Here, a step on the longest chain takes as long as a fork,
//! a join, and a thief's search for the step together. The search includes the time to wake up if
//! thieves park. The span grows by this much for each action on the chain ([`JobOutcome::depth`]).
//! The work is the time that workers spend on it, including all costs except those of steals. The
//! time for which estimates held workers up is subtracted from the time of the run, because each
//! estimate may have held up the longest chain.
//!
//! If tasks are few or short, it may be impossible for a run to break a bound. Then
//! [`Bound::can_fail`] returns false.
//!
//! Theory promises nothing for some runs, so they are not judged:
//!
//! * runs in which thieves leave a victim its last tasks, because they steal a fixed number;
//! * for bounds on time, runs in which thieves sleep while there is work, or in which their calls
//!   hold tasks up;
//! * runs in which tasks sleep under the hybrid policy;
//! * runs in which workers had to wait for a processor;
//! * runs in which workers share a deque.
//!
//! Both bounds of work stealing assume that a steal takes one task. Their proofs count how often
//! the oldest task of a deque is stolen; in a stolen batch, the youngest task runs first and the
//! oldest waits to be stolen again.

use crate::costs::Costs;
use crate::outcome::{JobOutcome, Outcome};
use crate::settings::{Deques, Settings, Width};
use crate::work_span::WorkSpan;
use tidegate_policy::{IdlePolicy, MemoryPolicy, Nanos, StealAmount};

/// The limit of `stealing-time`: more than twice the largest value in 10,000 random runs.
pub const STEALING_TIME: f64 = 2.0;
/// The limit of `steals`: many times the largest value in 10,000 random runs, and twice the value
/// of the program `nested`, in which nearly every task is stolen.
pub const STEALS: f64 = 4.0;

/// A bound, and the value that a run reached.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// The bound's name, such as `greedy`.
    pub name: &'static str,
    /// The value that the run reached.
    pub value: f64,
    /// The largest value that does not break the bound.
    pub limit: f64,
    /// The value of the worst possible run: all work on one processor, every task stolen, or all
    /// memory declared at the same time.
    pub worst: f64,
}

impl Bound {
    /// Whether the run kept the bound.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.value <= self.limit
    }

    /// Whether a run of this dag could break the bound.
    #[must_use]
    pub fn can_fail(&self) -> bool {
        self.worst > self.limit
    }
}

/// Returns the bounds on the run of one job, given by its number in `outcome` and its width.
/// `work_span` is the work and span of the job's dag, if known, computed with the `k` of the
/// [policy](Settings::memory).
#[must_use]
pub fn bounds(
    settings: &Settings,
    outcome: &Outcome,
    (number, width): (usize, Width),
    work_span: Option<&WorkSpan>,
) -> Vec<Bound> {
    let job = &outcome.jobs[number];
    let mut bounds = Vec::new();
    let has_its_share = !job.stood_in_line;
    if has_its_share && is_greedy(settings) {
        bounds.push(greedy(job));
    }
    let processors = width.limit().unwrap_or(settings.processors);
    if has_its_share && is_work_stealing(settings) {
        if !naps(settings) && settings.costs.call == 0 {
            bounds.push(stealing_time(settings, job));
        }
        bounds.push(steals(job, processors, &settings.costs));
    }
    let memory = work_span.and_then(|work_span| memory(settings, processors, job, work_span));
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

/// Returns the processor time that thieves spent searching. Its limit is what Sen allows a good
/// scheduler to waste: the smaller of P Tinf and T1 + P^2, in steps.
#[must_use]
pub fn waste(settings: &Settings, job: &JobOutcome) -> Bound {
    let step = step(settings, job);
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

/// Whether only tasks take time on this machine, and thieves leave no work behind.
fn is_greedy(settings: &Settings) -> bool {
    let Settings { steal, costs, .. } = settings;
    let idle = settings.built_in_idle();
    let parks_at_once = matches!(idle, Some(IdlePolicy::Elastic(rules)) if rules.search == 0);
    let costs = Costs {
        slice: Costs::NONE.slice,
        forfeit: Costs::NONE.forfeit,
        ..*costs
    };
    parks_at_once
        && costs == Costs::NONE
        && settings.memory == MemoryPolicy::None
        && takes_last(*steal)
}

/// Whether a thief takes its victim's last waiting task.
fn takes_last(steal: StealAmount) -> bool {
    !matches!(steal, StealAmount::Fixed(least) if least > 1)
}

/// Whether thieves may sleep while there is work. With a custom backoff, they may.
fn naps(settings: &Settings) -> bool {
    !matches!(
        settings.built_in_idle(),
        Some(IdlePolicy::Elastic(_) | IdlePolicy::None | IdlePolicy::Yield | IdlePolicy::AbpYield)
    )
}

/// Whether the bounds of work stealing hold for these settings.
fn is_work_stealing(settings: &Settings) -> bool {
    settings.memory == MemoryPolicy::None
        && settings.steal == StealAmount::One
        && settings.deques == Deques::Worker
}

/// Returns the bound on the time of greedy schedules.
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

/// Returns how long scheduling may hold up one step of the longest chain: by a fork, a join, the
/// costs that a thief causes its victim, and the time until a thief finds the task. If thieves
/// park, that includes the time to wake up. No deque is taken to hold more tasks than that chain
/// has steps.
fn step(settings: &Settings, job: &JobOutcome) -> f64 {
    let costs = &settings.costs;
    let found = costs.attempt + costs.steal + costs.look_again.max(1) + costs.yields;
    let woken = match settings.built_in_idle() {
        // A custom backoff may park, too.
        Some(IdlePolicy::Elastic(_)) | None => {
            costs.sleep + costs.wake + costs.wake_call + costs.handover
        }
        _ => 0,
    };
    let fixed = costs.fork + costs.join + costs.look + found + woken;
    fixed as f64 + 2.0 * costs.unwind as f64 * job.depth as f64
}

fn burdened_span(job: &JobOutcome, step: f64) -> f64 {
    job.span as f64 + job.depth as f64 * step
}

/// Returns the bound on the time of work stealing. The value is the constant before the span.
#[must_use]
pub fn stealing_time(settings: &Settings, job: &JobOutcome) -> Bound {
    let work = (job.counters.working - job.counters.stealing) as f64;
    let shared = work / job.trimmed_allotment.max(1.0);
    let span = burdened_span(job, step(settings, job)).max(1.0);
    let held_up = job.counters.held_up as f64;
    let of = |time: f64| (time - held_up - shared).max(0.0) / span;
    Bound {
        name: "stealing-time",
        value: of(job.time() as f64),
        limit: STEALING_TIME,
        worst: of(work),
    }
}

/// Returns the bound on the number of steals, divided by the number of processors and the steps of
/// the longest chain. The work on that chain is divided into steps as long as a steal.
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

/// Returns the bound on the peak of the declared memory under the settings' policy, or `None` if no
/// bound is known.
#[must_use]
pub fn memory(
    settings: &Settings,
    processors: usize,
    job: &JobOutcome,
    work_span: &WorkSpan,
) -> Option<Bound> {
    let s1 = work_span.peak_bytes as f64;
    let processors = processors as f64;
    let premature = |k: usize| s1 + k as f64 * processors * work_span.depth as f64;
    let limit = match settings.memory {
        MemoryPolicy::None
            if work_span.rests || work_span.drafts || !is_work_stealing(settings) =>
        {
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
        worst: work_span.reserved_bytes as f64,
    })
}
