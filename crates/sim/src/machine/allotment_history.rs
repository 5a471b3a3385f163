//! How many processors a job had, for how long, and how many of them it could use.
//!
//! Two means of the allotments leave out processors that a job cannot use, no matter how many there
//! are. Both differ from the plain mean in the periods with the largest allotments, which together
//! last Tinf:
//!
//! * The average effective allotment of Sen, "Dynamic processor allocation for adaptively parallel
//!   work-stealing jobs", 2004, definition 1, counts at most as many processors as there were ready
//!   tasks.
//! * The trimmed mean of Agrawal, He, Hsu and Leiserson, "Adaptive work stealing with parallelism
//!   feedback", PPoPP 2007, leaves these periods out.
//!
//! A greedy schedule has T <= T1/P + Tinf for the trimmed mean P. While there are fewer ready tasks
//! than processors, all ready tasks run, which shortens the longest chain, so this state lasts at
//! most Tinf. In the remaining time all processors work, and the mean allotment over that time is
//! at least P, because P is the mean of the smallest allotments over a period of that length. For
//! Sen's mean, the bound is his theorem 3. His proof assumes that there are enough tasks in all
//! steps outside the periods with the largest allotments, and does not hold otherwise; a test below
//! has such a schedule.

use std::collections::BTreeMap;
use tidegate_policy::Nanos;

/// The total time during which a job had a certain number of processors.
#[derive(Clone, Copy, Default)]
struct Spell {
    time: Nanos,
    /// The number of processors that the job could use, summed over that time.
    usable: u128,
}

/// The history of a job, keyed by allotment.
pub(super) struct AllotmentHistory {
    past: BTreeMap<usize, Spell>,
    allotment: usize,
    current: Spell,
    until: Nanos,
}

impl AllotmentHistory {
    pub(super) fn new(arrives: Nanos) -> Self {
        Self {
            past: BTreeMap::new(),
            allotment: 0,
            current: Spell::default(),
            until: arrives,
        }
    }

    /// Returns the time up to which the history is complete.
    pub(super) const fn until(&self) -> Nanos {
        self.until
    }

    /// Accounts for the time from `until` to `now`, during which `ready` tasks were ready.
    #[inline]
    pub(super) fn pass(&mut self, now: Nanos, ready: usize) {
        let time = now.saturating_sub(self.until);
        if time > 0 {
            self.until = now;
            self.current.time += time;
            self.current.usable += u128::from(time) * self.allotment.min(ready) as u128;
        }
    }

    /// Begins a period with this allotment.
    pub(super) fn begin(&mut self, allotment: usize) {
        let Spell { time, usable } = std::mem::take(&mut self.current);
        if time > 0 {
            let spell = self.past.entry(self.allotment).or_default();
            spell.time += time;
            spell.usable += usable;
        }
        self.allotment = allotment;
    }

    fn all(&self) -> impl DoubleEndedIterator<Item = (usize, Spell)> {
        let mut all = self.past.clone();
        let current = all.entry(self.allotment).or_default();
        current.time += self.current.time;
        current.usable += self.current.usable;
        all.into_iter().filter(|(_, spell)| spell.time > 0)
    }

    /// Returns the sum of the allotments over the time that has been accounted for.
    pub(super) fn allotted(&self) -> u128 {
        let sum = |(allotment, spell): (usize, Spell)| u128::from(spell.time) * allotment as u128;
        self.all().map(sum).sum()
    }

    /// Returns the average effective allotment of a job with this span.
    pub(super) fn effective(&self, span: Nanos) -> f64 {
        let (mut sum, mut time, mut left) = (0.0, 0, span);
        for (allotment, spell) in self.all().rev() {
            let in_span = left.min(spell.time);
            left -= in_span;
            time += spell.time;
            sum += spell.usable as f64 / spell.time as f64 * in_span as f64;
            sum += allotment as f64 * (spell.time - in_span) as f64;
        }
        sum / time.max(1) as f64
    }

    /// Returns the trimmed mean of a job with this span. If the job took no longer than its span,
    /// returns its smallest allotment.
    pub(super) fn trimmed(&self, span: Nanos) -> f64 {
        let (mut sum, mut time, mut trim) = (0.0, 0, span);
        for (allotment, spell) in self.all().rev() {
            let trimmed = trim.min(spell.time);
            trim -= trimmed;
            time += spell.time - trimmed;
            sum += allotment as f64 * (spell.time - trimmed) as f64;
        }
        let least = self.all().next().map_or(0, |(allotment, _)| allotment);
        match time {
            0 => least as f64,
            _ => sum / time as f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates a history from consecutive periods, each given as its length, allotment and number
    /// of ready tasks.
    fn history(of: &[(Nanos, usize, usize)]) -> AllotmentHistory {
        let (mut history, mut now) = (AllotmentHistory::new(0), 0);
        for &(time, allotment, ready) in of {
            history.begin(allotment);
            now += time;
            history.pass(now, ready);
        }
        history
    }

    #[test]
    fn constant_allotment_equals_its_means() {
        let constant = history(&[(100, 4, 9)]);
        assert_eq!(constant.effective(10), 4.0);
        assert_eq!(constant.trimmed(10), 4.0);
        assert_eq!(constant.trimmed(100), 4.0);
    }

    /// In the burst, the effective mean counts only the processors that had a task, and the trimmed
    /// mean counts none.
    #[test]
    fn means_discount_unused_allotment() {
        let burst = history(&[(10, 1_000, 3), (90, 2, 5)]);
        assert_eq!(burst.effective(10), (10.0 * 3.0 + 90.0 * 2.0) / 100.0);
        assert_eq!(burst.trimmed(10), 2.0);
        assert_eq!(burst.trimmed(5), (5.0 * 1_000.0 + 90.0 * 2.0) / 95.0);
    }

    #[test]
    fn only_trimmed_mean_bounds_greedy_time() {
        // The job first has enough tasks for eight processors. A chain of tasks on six processors
        // follows, and then enough tasks again, but on one processor.
        let (span, alone) = (1_000, 10_000);
        let schedule = history(&[(span, 8, 8), (span, 6, 1), (alone, 1, 1)]);
        let (work, time) = (8 * span + span + alone, 2 * span + alone);
        let bound = |processors: f64| work as f64 / processors + span as f64;
        assert!(time as f64 > bound(schedule.effective(span)));
        assert!(time as f64 <= bound(schedule.trimmed(span)));
    }
}
