//! How many processors a job had, for how long, and how many of them it could use then.
//!
//! The average effective allotment of Sen, "Dynamic processor allocation for adaptively parallel work-stealing jobs", 2004, definition 1: the mean of the
//! allotments, of which in the Tinf steps with the largest ones no more counts than tasks were ready. A job that always has the same number of processors
//! has that many, as in the bounds for such jobs.

use std::collections::BTreeMap;
use tidegate_policy::Nanos;

/// All the time in which a job had one number of processors.
#[derive(Clone, Copy, Default)]
struct Spell {
    time: Nanos,
    /// The sum over that time of the processors that it could use.
    usable: u128,
}

/// The spells of a job, by its allotments.
pub(super) struct Spells {
    past: BTreeMap<usize, Spell>,
    allotment: usize,
    current: Spell,
    until: Nanos,
}

impl Spells {
    pub(super) fn new(arrives: Nanos) -> Self {
        Self {
            past: BTreeMap::new(),
            allotment: 0,
            current: Spell::default(),
            until: arrives,
        }
    }

    /// The time until now has gone by with so many tasks ready.
    #[inline]
    pub(super) fn pass(&mut self, now: Nanos, ready: usize) {
        let time = now.saturating_sub(self.until);
        if time > 0 {
            self.until = now;
            self.current.time += time;
            self.current.usable += u128::from(time) * self.allotment.min(ready) as u128;
        }
    }

    /// The job has so many processors from now on.
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

    /// The sum of the allotments over the time gone by.
    pub(super) fn allotted(&self) -> u128 {
        let sum = |(allotment, spell): (usize, Spell)| u128::from(spell.time) * allotment as u128;
        self.all().map(sum).sum()
    }

    /// The average effective allotment of a job with this span.
    pub(super) fn effective(&self, span: Nanos) -> f64 {
        let (mut sum, mut time, mut left) = (0.0, 0, span);
        let is_fixed = self.all().count() == 1;
        for (allotment, spell) in self.all().rev() {
            let in_span = if is_fixed { 0 } else { left.min(spell.time) };
            left -= in_span;
            time += spell.time;
            sum += spell.usable as f64 / spell.time as f64 * in_span as f64;
            sum += allotment as f64 * (spell.time - in_span) as f64;
        }
        sum / time.max(1) as f64
    }
}
