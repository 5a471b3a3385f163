//! A worker without work: which victims it tries, what it takes, and how it rests.
//!
//! A worker looks for work in the same order as in the runtime. Under the elastic policy, only as
//! many workers search as [`max_searchers`] allows; each other worker looks for work once and
//! parks. A thief tries the victims of a sweep one after the other, rests as the idle policy
//! requires, and looks everywhere once more before it parks. If the last searcher finds work, it
//! wakes another worker.

use super::Machine;
use super::worker::{Others, State};
use crate::distance_index::DistanceIndex;
use crate::frames::FrameId;
use crate::settings::Deques;
use tidegate_policy::search::max_searchers;
use tidegate_policy::{IdlePolicy, Nanos, Rest};

impl Machine<'_> {
    /// Makes the worker look for work after `delay`.
    pub(super) fn search(&mut self, w: usize, delay: Nanos) {
        let worker = &mut self.workers[w];
        let job = &mut self.jobs[worker.job];
        if std::mem::take(&mut worker.leaving) {
            job.leaving -= 1;
        }
        let limited = matches!(self.settings.built_in_idle(), Some(IdlePolicy::Elastic(_)));
        worker.admitted = !limited || job.searching < max_searchers(job.awake);
        job.searching += usize::from(worker.admitted);
        self.enter(w, State::Searching);
        self.at(w, delay);
    }

    /// Ends the worker's search. Returns whether it counted as a searcher.
    pub(super) fn end_search(&mut self, w: usize) -> bool {
        let worker = &mut self.workers[w];
        let counted = std::mem::take(&mut worker.admitted);
        self.jobs[worker.job].searching -= usize::from(counted);
        counted
    }

    /// Makes one attempt to steal, or ends the sweep.
    pub(super) fn attempt(&mut self, w: usize) {
        self.end_yield(w);
        let job = self.workers[w].job;
        if self.is_in_excess(job) {
            return self.fall_asleep(w);
        }
        if let Some(id) = self.pop(w) {
            // This is a task that rested here and can continue, or a task that another worker of
            // the place has pushed.
            let fetch = self.fetch_deque(w);
            return self.found(w, id, fetch);
        }
        if self.jobs[job].memory.is_ordered() {
            return self.attempt_planned(w);
        }
        if let Some(id) = self.pass_round(w) {
            return self.found(w, id, 0);
        }
        if let Some(id) = self.take_near(w) {
            return self.found_placed(w, id);
        }
        let workers = self.workers_of(job);
        let first = workers.start;
        let own = self.settings.deques == Deques::Worker;
        let thief = &mut self.thieves[w];
        let others = Others {
            workers: &self.workers[workers],
            places: &self.settings.places,
            all: own && self.jobs[job].without_work.is_empty(),
            census: own.then_some(DistanceIndex {
                order: &self.order,
                candidates: &self.jobs[job].candidates,
            }),
            shared: (!own).then(|| (&self.places, self.places.first_with(w - first))),
        };
        let Some(victim) = thief.victims.next(&others, || thief.rng.draw()) else {
            return self.end_sweep(w);
        };
        let cost = self.cost_of_attempt(w - first, victim);
        if !self.try_to_steal(w, first + victim, cost) {
            let now = self.now + cost;
            let rest = self.thieves[w].idle.attempt_failed(|| now);
            self.take_rest(w, rest, cost);
        }
    }

    fn cost_of_attempt(&self, thief: usize, victim: usize) -> Nanos {
        let costs = &self.settings.costs;
        if costs.distance == 0 {
            return costs.attempt;
        }
        let further = self.settings.places.distance(thief, victim).max(1) - 1;
        costs.attempt + costs.distance * Nanos::from(further)
    }

    /// Steals from `victim`. If `victim` is asleep with work, wakes it instead and puts the thief
    /// to sleep in its place.
    fn try_to_steal(&mut self, w: usize, victim: usize, cost: Nanos) -> bool {
        let job = self.workers[w].job;
        let deque = self.deque_of(victim);
        let waiting = self.workers[deque].deque.len();
        let swaps = self.workers[victim].state == State::Asleep && self.holds_work(victim);
        let counters = &mut self.jobs[job].counters;
        counters.attempts += 1;
        counters.lengths_seen += waiting as u64;
        self.workers[deque].line = w;
        if swaps {
            counters.steals += 1;
            counters.swaps += 1;
            self.remember_victim(w, victim);
            self.swap(w, victim);
            return true;
        }
        let take = self.settings.steal.take(waiting);
        #[cfg(test)]
        let take = match self.fault {
            Some(super::Fault::TakesNothing) => 0,
            _ => take,
        };
        if take == 0 {
            let partly = waiting > 0 || self.works_at(victim);
            let counters = &mut self.jobs[job].counters;
            if partly {
                counters.failed_busy += 1;
            } else {
                counters.failed_empty += 1;
            }
            return false;
        }
        counters.steals += 1;
        counters.stolen_tasks += take as u64;
        self.remember_victim(w, victim);
        let unwind = self.settings.costs.unwind * waiting as Nanos;
        self.workers[victim].debt += unwind;
        for _ in 0..take {
            let Some(id) = self.rob(deque) else { break };
            let own = self.deque_of(w);
            self.workers[own].deque.push_back(id);
        }
        self.workers[w].granted = 0;
        match self.pop(w) {
            Some(id) => self.found(w, id, cost + self.settings.costs.steal + unwind),
            None => return false,
        }
        true
    }

    /// Whether any worker that uses the victim's deque is working.
    fn works_at(&self, victim: usize) -> bool {
        let works = |w: usize| self.workers[w].state == State::Working;
        match self.settings.deques {
            Deques::Worker => works(victim),
            Deques::Place => {
                let mut all = self.workers_of(self.workers[victim].job);
                all.any(|w| works(w) && self.deque_of(w) == victim)
            }
        }
    }

    /// Takes the oldest task of the victim's deque.
    fn rob(&mut self, victim: usize) -> Option<FrameId> {
        #[cfg(test)]
        if self.fault == Some(super::Fault::RobsYoungEnd) {
            return self.workers[victim].deque.pop_back();
        }
        self.workers[victim].deque.pop_front()
    }

    fn remember_victim(&mut self, w: usize, victim: usize) {
        let victim = victim - self.jobs[self.workers[w].job].first;
        self.thieves[w].victims.stolen_from(victim);
        self.workers[w].last_victim = Some(victim);
        let now = self.now;
        self.thieves[w].idle.steal_succeeded(|| now);
    }

    /// Gives the worker a task, which it begins after `delay`.
    pub(super) fn found(&mut self, w: usize, id: FrameId, delay: Nanos) {
        let call = if self.end_search(w) {
            let job = self.workers[w].job;
            match self.jobs[job].queued {
                0 => 0,
                _ => self.work_is_visible(job),
            }
        } else {
            0
        };
        let worker = &mut self.workers[w];
        worker.frame = id;
        self.jobs[worker.job].counters.stealing += delay;
        self.has_work(w);
        self.enter(w, State::Working);
        self.at(w, delay + call);
    }

    /// Gives the worker a task from the queue of a place. The cost of an attempt counts twice, once
    /// for the queue and once for the task, because another worker has written both.
    fn found_placed(&mut self, w: usize, id: FrameId) {
        self.found(w, id, 2 * self.settings.costs.attempt);
    }

    pub(super) fn end_sweep(&mut self, w: usize) {
        if self.jobs[self.workers[w].job].drafts.waiting() > 0 {
            self.find_stall();
        }
        if !self.workers[w].admitted {
            return self.look_once_more(w);
        }
        if let Some(id) = self.pass_round_elsewhere(w) {
            return self.found(w, id, 0);
        }
        if let Some(id) = self.take_far(w) {
            return self.found_placed(w, id);
        }
        let now = self.now;
        let thief = &mut self.thieves[w];
        let rest = thief.idle.sweep_failed(|| now, || thief.rng.draw());
        let pause = self.settings.costs.look_again.max(1);
        if rest == Rest::Yield {
            self.begin_yield(w);
        }
        self.take_rest(w, rest, pause);
    }

    /// Rests as the idle policy requires. The worker looks again after at least `pause`.
    pub(super) fn take_rest(&mut self, w: usize, rest: Rest, pause: Nanos) {
        match rest {
            Rest::Retry => self.at(w, pause),
            Rest::Yield => self.yield_processor(w, pause + self.settings.costs.yields),
            Rest::Sleep(time) => match self.skip_rounds(w) {
                Some(id) => self.found(w, id, pause),
                None => self.nap(w, pause + time),
            },
            Rest::Park => self.look_once_more(w),
        }
    }

    /// A pinned worker whose processor is shared does not count as a searcher while it yields.
    fn begin_yield(&mut self, w: usize) {
        let worker = &mut self.workers[w];
        if self.settings.pinned && worker.admitted {
            worker.yields_since = Some(self.now);
            if worker.shared.holds_at(self.now) {
                self.end_search(w);
            }
        }
    }

    fn end_yield(&mut self, w: usize) {
        let worker = &mut self.workers[w];
        if let Some(began) = worker.yields_since.take() {
            worker.shared.yielded(began, self.now);
            self.jobs[worker.job].searching += usize::from(!worker.admitted);
            worker.admitted = true;
        }
    }

    /// Looks everywhere once more before the worker parks.
    fn look_once_more(&mut self, w: usize) {
        let job = self.workers[w].job;
        if let Some(id) = self.skip_rounds(w) {
            return self.found(w, id, 0);
        }
        if let Some(id) = self.take_near(w).or_else(|| self.take_far(w)) {
            return self.found_placed(w, id);
        }
        let memory = &self.jobs[job].memory;
        let takes_time = memory.has_planned() || self.has_rounds(w);
        if takes_time {
            // The plan has work, or rounds remain to be passed; a later attempt will find the task.
            return self.at(w, self.settings.costs.look_again.max(1));
        }
        let asleep = self.jobs[job].with_work.last().copied();
        let victim = match asleep {
            Some(victim) => Some(victim as usize),
            None if self.jobs[job].queued == 0 => None,
            None => self.workers_of(job).find(|&other| {
                let waiting = self.workers[other].deque.len();
                self.settings.steal.take(waiting) > 0
            }),
        };
        let found = victim.is_some_and(|victim| {
            let first = self.jobs[job].first;
            let cost = self.cost_of_attempt(w - first, victim - first);
            self.try_to_steal(w, victim, cost)
        });
        if !found {
            self.park(w);
        }
    }
}
