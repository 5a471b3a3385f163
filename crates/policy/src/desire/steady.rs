//! What was used lately, and more while all of that is used and tasks wait.
//!
//! Ours. `docs/desire.md` compares it with the others. In a cycle in which nearly the whole allotment was used, the
//! desire
//!
//! * stays if the job was deprived: nothing says that it wanted more than it asked for, or less,
//! * stays if no more tasks run and wait at the end than there are processors: another one would find nothing,
//! * else doubles, or is as many as tasks run and wait if that is more.
//!
//! How many tasks wait says little about what is to come (a loop that spawns has one), but whether any does says that
//! one more processor has something to do. In any other cycle the desire becomes the most that lately could be used: by
//! the mean of a cycle, or by the tasks that ran and waited at its end, but not more than makes of what was really used
//! the target efficiency. So a short dip does not make it forget, and many tiny tasks do not blind it.
//!
//! Where the desire has come down, it has found its ceiling. From there it takes as many as tasks run and wait, and doubles at
//! most; once more than the ceiling is used, it climbs as before. Parallelism that stays thus ends the climb after one
//! overshoot, a stray task that waits costs one processor, and a job whose tasks are too short to be stolen does not
//! ask for all processors again and again.
//!
//! Attempts on victims that are busy, but have nothing to give away just now, do not count as idle:
//! Sen, "Dynamic processor allocation for adaptively parallel work-stealing jobs", 2004, section
//! 4.2. The doubling and the rule for deprived jobs are A-Steal's, the use of the deques is
//! A-Deque's (Haselsteiner, "Adaptive Work-Stealing Techniques", 2015, sections 2.3, 2.4).

use super::tunables::{STEADY_HIGH, STEADY_MEMORY, STEADY_TARGET};
use super::{Estimate, ONE, Seen, fixed, processors, scale};
use crate::error::ParseError;
use crate::parameters::{Policy, Visitor};
use alloc::collections::VecDeque;

/// Parameters of our estimate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steady {
    /// The share of the allotment from which all of it counts as used.
    pub high: f64,
    /// The least efficiency at which a desire is kept for work that comes and goes.
    pub target: f64,
    /// How many cycles are remembered.
    pub memory: usize,
}

impl Policy for Steady {
    const NAME: &'static str = "steady";
    const DEFAULT: Self = Self {
        high: STEADY_HIGH.default,
        target: STEADY_TARGET.default,
        memory: STEADY_MEMORY.default,
    };

    fn visit<V: Visitor>(&mut self, visitor: &mut V) -> Result<(), ParseError> {
        visitor.plain(&STEADY_HIGH, &mut self.high)?;
        visitor.plain(&STEADY_TARGET, &mut self.target)?;
        visitor.plain(&STEADY_MEMORY, &mut self.memory)
    }
}

impl Steady {
    pub(crate) const DEFAULT: Self = <Self as Policy>::DEFAULT;
}

impl Default for Steady {
    /// The defaults of its [`tunables`](crate::tunables).
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// What one cycle showed.
#[derive(Clone, Copy, Debug)]
struct Cycle {
    /// Processors used on the average, in [`ONE`]ths.
    used: u64,
    /// Processors for which there was something to do.
    wanted: usize,
}

impl Cycle {
    fn of(seen: &Seen<'_>) -> Self {
        let in_vain = scale(seen.searching, seen.failed_empty, seen.attempts.max(1));
        let idle = seen.parked().saturating_add(in_vain.min(seen.searching));
        let used = seen.capacity().saturating_sub(idle);
        let used = scale(used, ONE, seen.length.max(1));
        let wanted = processors(used, 1, ONE).max(seen.busy.saturating_add(seen.waiting()));
        Self { used, wanted }
    }
}

#[derive(Clone, Debug)]
pub(super) struct SteadyState {
    rules: Steady,
    desire: usize,
    /// More than this was not used when it was there; none is known where it is the largest number.
    ceiling: usize,
    /// The latest cycles.
    cycles: VecDeque<Cycle>,
}

impl SteadyState {
    pub(super) fn new(rules: Steady) -> Self {
        Self {
            rules,
            desire: 1,
            ceiling: usize::MAX,
            cycles: VecDeque::with_capacity(rules.memory),
        }
    }

    fn remember(&mut self, cycle: Cycle) {
        if self.cycles.len() == self.rules.memory {
            self.cycles.pop_front();
        }
        self.cycles.push_back(cycle);
    }

    /// The most that lately could be used.
    fn remembered(&self) -> usize {
        let wanted = self.cycles.iter().map(|cycle| cycle.wanted).max();
        let used = self.cycles.iter().map(|cycle| cycle.used).max();
        let bearable = processors(used.unwrap_or(0), 1, fixed(self.rules.target));
        wanted.unwrap_or(0).min(bearable).max(1)
    }
}

impl Estimate for SteadyState {
    fn next(&mut self, seen: &Seen<'_>) -> usize {
        let cycle = Cycle::of(seen);
        self.remember(cycle);
        let allotment = seen.entitled();
        if cycle.used < fixed(self.rules.high).saturating_mul(allotment as u64) {
            self.desire = self.remembered();
            self.ceiling = self.desire;
            return self.desire;
        }
        if allotment > self.ceiling {
            self.ceiling = usize::MAX;
        }
        if allotment >= self.desire && cycle.wanted > allotment {
            let doubled = allotment.saturating_mul(2);
            self.desire = if self.ceiling == usize::MAX {
                cycle.wanted.max(doubled)
            } else {
                cycle.wanted.min(doubled)
            };
        }
        self.desire
    }
}
