//! Processors that the same workers may use, and the line of workers that wait for one.
//!
//! If there are more workers than processors, workers wait in line, as under Linux. The worker that
//! has had a processor the longest gives it up after a time slice. The next in line is the worker
//! with the least time on processors. A worker that wakes immediately displaces a worker that has
//! had more time.
//!
//! Time on processors is counted from when the line was last empty: until then, no worker had to
//! wait. A worker that has slept may be at most half a slice behind all others, so it cannot save
//! up time by sleeping.

use std::collections::BTreeSet;

use tidegate_policy::Nanos;

/// Processors and the workers that may use them. Workers are numbered within the group.
pub(super) struct Group {
    free: usize,
    slice: Nanos,
    /// Waiting workers, ordered by the time that each has had and then by when it joined the line.
    line: BTreeSet<(Nanos, u64, u32)>,
    came: u64,
    turns: Vec<Turn>,
    /// How often a worker has joined an empty line.
    want: u64,
    /// When a worker last joined an empty line.
    began: Nanos,
}

/// A worker's use of the processors.
#[derive(Clone, Default)]
struct Turn {
    /// When the worker got its current processor, if it has one.
    since: Option<Nanos>,
    /// The value of `Group::want` when the worker last joined the line or released a processor.
    want: u64,
    /// The worker's time on processors when `want` was last set, counted as in [`Group::had`]. It
    /// is valid only while `Group::want` has the same value.
    had: Nanos,
}

impl Group {
    pub(super) fn new(count: usize, workers: usize, slice: Nanos) -> Self {
        Self {
            free: count,
            slice,
            line: BTreeSet::new(),
            came: 0,
            turns: vec![Turn::default(); workers],
            want: 0,
            began: 0,
        }
    }

    pub(super) const fn free(&self) -> usize {
        self.free
    }

    pub(super) fn waiting(&self) -> usize {
        self.line.len()
    }

    /// Gives this worker a processor if one is free; otherwise the worker joins the line.
    /// `has_slept` means that the worker has slept until now.
    pub(super) fn take(&mut self, worker: usize, now: Nanos, has_slept: bool) -> bool {
        if self.free > 0 {
            self.free -= 1;
            self.turns[worker].since = Some(now);
            return true;
        }
        if self.line.is_empty() {
            self.want += 1;
            self.began = now;
        }
        let had = if has_slept {
            self.had_asleep(worker, now)
        } else {
            self.had(worker, now)
        };
        let turn = &mut self.turns[worker];
        (turn.want, turn.had) = (self.want, had);
        self.came += 1;
        self.line.insert((had, self.came, worker as u32));
        false
    }

    /// Returns the processor time with which a waking worker is credited: its time when it fell
    /// asleep, or half a slice less than the least time of all other workers, whichever is more.
    fn had_asleep(&self, worker: usize, now: Nanos) -> Nanos {
        let turn = &self.turns[worker];
        let before = if turn.want == self.want { turn.had } else { 0 };
        let holders = (0..self.turns.len()).filter(|&other| self.turns[other].since.is_some());
        let first = self.line.first().map(|&(had, ..)| had);
        let least = holders.map(|other| self.had(other, now)).chain(first).min();
        let least = least.expect("somebody has what is not free");
        before.max(least.saturating_sub(self.slice / 2))
    }

    /// Returns the worker that should give up its processor to this worker, which has woken and
    /// waits in line. Of the workers that `can` accepts, the worker with the most time on
    /// processors gives it up, provided that it has had more time than the woken worker.
    pub(super) fn displaced_by(
        &self,
        worker: usize,
        now: Nanos,
        can: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let holders =
            (0..self.turns.len()).filter(|&other| self.turns[other].since.is_some() && can(other));
        let most = holders.max_by_key(|&other| self.had(other, now))?;
        (self.had(most, now) > self.had(worker, now)).then_some(most)
    }

    /// Releases the worker's processor, if it has one. Returns the worker that gets it.
    pub(super) fn release(&mut self, worker: usize, now: Nanos) -> Option<usize> {
        let had = self.had(worker, now);
        let turn = &mut self.turns[worker];
        turn.since.take()?;
        (turn.want, turn.had) = (self.want, had);
        let Some((_, _, next)) = self.line.pop_first() else {
            self.free += 1;
            return None;
        };
        let next = next as usize;
        self.turns[next].since = Some(now);
        Some(next)
    }

    /// Releases the worker's processor, and charges the worker for additional time, so that it
    /// waits behind workers that have had less.
    pub(super) fn forfeit(&mut self, worker: usize, now: Nanos, time: Nanos) -> Option<usize> {
        let next = self.release(worker, now);
        self.turns[worker].had += time;
        next
    }

    /// Returns the workers that have had a processor for a slice or longer without a break, longest
    /// first. Their number is at most the number of workers that wait for a processor.
    pub(super) fn overdue(&self, now: Nanos) -> Vec<usize> {
        let turns = self.turns.iter().enumerate();
        let mut overdue: Vec<(Nanos, usize)> = turns
            .filter_map(|(worker, turn)| Some((turn.since?, worker)))
            .filter(|(since, _)| since + self.slice <= now)
            .collect();
        overdue.sort_unstable();
        overdue.truncate(self.waiting());
        overdue.into_iter().map(|(_, worker)| worker).collect()
    }

    /// Removes from the line the workers for which `leaves` is true.
    pub(super) fn leave_line(&mut self, leaves: impl Fn(usize) -> bool) {
        self.line.retain(|&(_, _, other)| !leaves(other as usize));
    }

    /// Returns the worker's time on processors since the line was last empty. A worker that was
    /// awake when the line was empty starts with half a slice.
    fn had(&self, worker: usize, now: Nanos) -> Nanos {
        let turn = &self.turns[worker];
        let before = if turn.want == self.want {
            turn.had
        } else {
            self.slice / 2
        };
        let now_has = turn.since.map_or(0, |since| now - since.max(self.began));
        before + now_has
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLICE: Nanos = 1_000;

    /// Returns a group of one processor and `workers` workers, the first of which has had the
    /// processor since time 0.
    fn crowd(workers: usize) -> Group {
        let mut processors = Group::new(1, workers, SLICE);
        assert!(processors.take(0, 0, true));
        processors
    }

    /// A waking worker preempts another immediately, but gets no more than its share.
    #[test]
    fn waking_worker_preempts_within_share() {
        let mut processors = crowd(3);
        // A third worker always waits.
        assert!(!processors.take(2, 0, false));
        let (mut now, mut had) = (50, 0);
        for round in 0..1_000 {
            assert!(!processors.take(1, now, true));
            let displaced = processors.displaced_by(1, now, |_| true);
            let next = displaced.and_then(|other| {
                let next = processors.release(other, now);
                assert!(!processors.take(other, now, false));
                next
            });
            let works = next == Some(1);
            assert!(works || round > 0, "it has slept");
            now += 90;
            if works {
                // If the waking worker could preempt in every round, it would get nine tenths of
                // the time.
                had += 90;
                assert!(processors.release(1, now).is_some());
            }
            processors.leave_line(|worker| worker == 1);
            now += 10;
        }
        let share = f64::from(had) / 100_000.0;
        assert!((0.3..0.4).contains(&share), "{share}");
    }

    /// The first worker yields, and is charged for a slice.
    #[test]
    fn least_served_worker_runs_next() {
        let mut processors = crowd(3);
        assert!(!processors.take(1, 10, false));
        assert!(!processors.take(2, 10, false));
        assert_eq!(processors.forfeit(0, 20, SLICE), Some(1));
        assert!(!processors.take(0, 20, false));
        assert_eq!(processors.release(1, 30), Some(2));
        assert!(!processors.take(1, 30, false));
        assert_eq!(processors.overdue(29 + SLICE), []);
        assert_eq!(processors.overdue(30 + SLICE), [2]);
        assert_eq!(processors.release(2, 30 + SLICE), Some(1));
        assert_eq!(processors.release(1, 60 + SLICE), Some(0));
        assert_eq!(processors.release(0, 70 + SLICE), None);
        assert_eq!((processors.free(), processors.waiting()), (1, 0));
    }
}
