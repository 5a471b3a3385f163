//! Level two: how many workers of a job are awake, and which.
//!
//! This is algorithm WSAP of Sen, "Dynamic processor allocation for adaptively parallel
//! work-stealing jobs", 2004, sections 4.1 and 6.1. A worker is awake, asleep with work, or asleep
//! without work. In every cycle, each job states its desire, the processors are divided, and each
//! job adjusts the number of its awake workers to its allotment:
//!
//! * If too few are awake, workers that were told to leave and have not left yet stay. Then the job
//!   wakes workers that are asleep with work, and after these the other sleeping workers.
//! * If too many are awake, workers that rest or park leave immediately, and workers that search
//!   leave before their next attempt. If these are too few, the job tells as many working workers
//!   to leave as are still in excess. Each of them leaves at the end of a step of its task.
//! * A thief that picks a victim asleep with work wakes it and sleeps in its place.
//!
//! An estimate takes `sim.estimate` of a processor's time. It uses a free processor, at no cost to
//! the job, or else the processor of the job's first worker that has one. A job whose workers all
//! wait in line is not charged. Otherwise, if there were more estimates than the processors have
//! time for, no time would be left for work.
//!
//! Where wake-ups happen in series (`sim.wake-series`), a job states no new desire before it has
//! made all of them, because one thread does both in the source.
//!
//! There are some differences from the source. At the end of its step, a worker that was told to
//! leave checks whether it is still in excess, because other workers may have left meanwhile. Jobs
//! learn immediately, and not only at the end of their cycle, that another job has arrived or
//! ended. Every job that has arrived may use one processor, even if its desire is 0.

#[cfg(test)]
use super::Fault;
use super::worker::{State, Worker};
use super::{CYCLE, Machine, Width};
use crate::allot::{Share, broken};
use crate::chain::Chain;
use crate::frames::NONE;
use crate::outcome::Counters;
use tidegate_policy::Nanos;
use tidegate_policy::desire::Seen;

impl Machine<'_> {
    /// Gives processors to a job that has just arrived.
    pub(super) fn take_share(&mut self, job: usize) {
        match self.widths[job] {
            Width::Fixed(_) => {
                self.take_allotment(job);
                self.adjust(job, 0);
            }
            Width::Desired(_) | Width::Limited(..) => {
                self.shares.arrive(job as u64, 1);
                self.take_allotment(job);
                self.adjust(job, 0);
                self.deal();
            }
        }
    }

    /// Sets the job's allotment to its fixed number of processors or to its share, but to no more
    /// than the imposed limit.
    fn take_allotment(&mut self, job: usize) {
        let allotment = match self.widths[job] {
            Width::Fixed(processors) => processors,
            Width::Desired(_) | Width::Limited(..) => self.shares.allotment(job as u64).max(1),
        };
        let allotment = allotment.min(self.jobs[job].given);
        #[cfg(test)]
        let allotment = match self.fault {
            Some(Fault::GivesAll) => self.settings.processors,
            _ => allotment,
        };
        if allotment != self.jobs[job].allotment {
            self.jobs[job].allot(self.now, allotment);
        }
    }

    /// Ends a cycle: every job states its desire.
    pub(super) fn end_cycle(&mut self) {
        let mut free = self.processors.free();
        for job in 0..self.jobs.len() {
            let running = &self.jobs[job];
            let is_waking = running.next_wake > self.now;
            let is_new = running.arrives == self.now;
            if running.is_here && !is_new && !is_waking && running.desire.is_some() {
                self.estimate(job);
                match free.checked_sub(1) {
                    Some(left) => free = left,
                    None => self.hold_up(job),
                }
            }
        }
        self.deal();
        self.find_stall();
        self.cycle_began = self.now;
        let actor = self.clockwork(CYCLE);
        self.at(actor, self.settings.cycle);
    }

    fn estimate(&mut self, job: usize) {
        let counted = self.counted(job);
        let here = self.jobs.iter().filter(|job| job.is_here).count();
        let workers = &self.workers[self.workers_of(job)];
        let deques: Vec<usize> = workers.iter().map(|worker| worker.deque.len()).collect();
        let in_state = |states: &[State]| {
            let are = |worker: &&Worker| states.contains(&worker.state);
            workers.iter().filter(are).count()
        };
        let in_hand = |worker: &&Worker| worker.state == State::Asleep && worker.frame != NONE;
        let queued = workers.iter().filter(in_hand).count();
        let usage = in_state(&[State::Working, State::Searching, State::Woken]);
        let busy = in_state(&[State::Working]);
        let free = self.processors.free();
        let running = &mut self.jobs[job];
        let before = std::mem::replace(&mut running.before, counted);
        let length = self.now - self.cycle_began.max(running.arrives);
        let home = self.settings.processors / here;
        let seen = Seen {
            length,
            allotment: running.mean_allotment(self.now, length),
            usage,
            attempts: counted.attempts - before.attempts,
            failed_empty: counted.failed_empty - before.failed_empty,
            lengths_seen: counted.lengths_seen - before.lengths_seen,
            working: counted.working - before.working,
            searching: counted.searching - before.searching,
            deques: &deques,
            queued,
            busy,
            free,
            lent: home.saturating_sub(running.allotment + free),
        };
        if let Some(desire) = &mut running.desire {
            let limit = self.widths[job].limit().unwrap_or(self.settings.processors);
            let desired = desire.next(&seen).min(limit);
            self.shares.desire(job as u64, desired);
        }
    }

    /// Charges the job's estimate to its first worker that has a processor, by delaying that
    /// worker's next event.
    fn hold_up(&mut self, job: usize) {
        let runs = |w: &usize| {
            let state = self.workers[*w].state;
            let has_processor = matches!(state, State::Working | State::Searching | State::Woken);
            has_processor && self.event_queue.awaits(*w)
        };
        let cost = self.settings.costs.estimate;
        let Some(w) = self.workers_of(job).find(runs) else {
            return;
        };
        if let Some(moment) = self.event_queue.clear(w) {
            self.event_queue.set(w, moment.saturating_add(cost));
            self.jobs[job].counters.held_up += cost;
        }
    }

    /// Returns the job's counters, including the time that its workers have spent in their current
    /// states.
    fn counted(&self, job: usize) -> Counters {
        let mut counters = self.jobs[job].counters;
        for worker in &self.workers[self.workers_of(job)] {
            let time = self.now - worker.since;
            match worker.state {
                State::Working => counters.working += time,
                State::Searching => counters.searching += time,
                _ => {}
            }
        }
        counters
    }

    /// Gives every job its share, starting with jobs that give processors back.
    pub(super) fn deal(&mut self) {
        for job in 0..self.jobs.len() {
            if self.jobs[job].is_here {
                self.take_allotment(job);
            }
        }
        for gives in [true, false] {
            for job in 0..self.jobs.len() {
                if self.jobs[job].is_here && gives == self.is_in_excess(job) {
                    self.adjust(job, self.settings.costs.wake);
                }
            }
        }
        self.judge();
    }

    /// Returns how many workers of a job are awake and will stay awake. Searching workers are
    /// included only until the total reaches the job's allotment.
    fn keeps(&self, job: usize) -> usize {
        let workers = &self.workers[self.workers_of(job)];
        let searches = |worker: &&Worker| matches!(worker.state, State::Searching | State::Woken);
        let searching = workers.iter().filter(searches).count();
        let staying = self.jobs[job].staying();
        let kept = staying - searching.min(staying);
        kept.max(staying.min(self.jobs[job].allotment))
    }

    /// Checks that the jobs have the processors that the allotment rule promises, unless allotments
    /// are imposed.
    fn judge(&mut self) {
        if self.settings.allotments.is_some() {
            return;
        }
        let given = self.shares.shares().iter().map(|share| {
            let kept = self.keeps(share.job as usize);
            // Every job may use one processor, even if its share is 0.
            let is_free = share.allotment == 0 && kept == 1;
            Share {
                allotment: if is_free { 0 } else { kept },
                ..*share
            }
        });
        let given: Vec<Share> = given.collect();
        let fresh = || broken(self.settings.allot, self.shares.processors(), &given);
        self.broken = self.broken.or_else(fresh);
    }

    /// Whether more workers of the job are awake than it has processors.
    #[inline]
    pub(super) fn is_in_excess(&self, job: usize) -> bool {
        self.jobs[job].awake > self.jobs[job].allotment
    }

    /// Adjusts the number of awake workers to the allotment, as far as is possible now. Workers
    /// that are woken run after `delay`, one after the other if wake-ups happen in series.
    fn adjust(&mut self, job: usize, delay: Nanos) {
        if self.settings.allotments.is_some() {
            self.stop_excess(job);
        } else if self.jobs[job].staying() > self.jobs[job].allotment {
            self.dismiss(job);
        }
        while self.jobs[job].staying() < self.jobs[job].allotment {
            let asleep = &mut self.jobs[job];
            if asleep.leaving > 0 {
                self.call_back(job);
            } else if let Some(w) = asleep.with_work.pop().or_else(|| asleep.without_work.pop()) {
                let begins = asleep.next_wake.max(self.now);
                asleep.next_wake = begins + self.settings.costs.wake_series;
                self.rouse(w as usize, delay + (begins - self.now));
            } else {
                break;
            }
        }
    }

    /// Lets one worker that was told to leave stay.
    fn call_back(&mut self, job: usize) {
        for w in self.workers_of(job) {
            if std::mem::take(&mut self.workers[w].leaving) {
                self.jobs[job].leaving -= 1;
                return;
            }
        }
    }

    /// Makes resting workers leave immediately. Searching workers will leave without being told. If
    /// these are too few, tells some working workers to leave.
    fn dismiss(&mut self, job: usize) {
        let mut searching = 0;
        for w in self.workers_of(job).rev() {
            match self.workers[w].state {
                State::Napping | State::Parked if self.is_in_excess(job) => self.fall_asleep(w),
                State::Searching | State::Woken => searching += 1,
                _ => {}
            }
        }
        let running = &self.jobs[job];
        let excess = running
            .staying()
            .saturating_sub(running.allotment + searching);
        let mut told = 0;
        for w in self.workers_of(job).rev() {
            if told == excess {
                break;
            }
            let worker = &mut self.workers[w];
            if worker.state == State::Working && !worker.leaving {
                worker.leaving = true;
                told += 1;
            }
        }
        self.jobs[job].leaving += told;
    }

    /// Puts a worker to sleep at the end of a step if it was told to leave, if it has a task in
    /// hand, and if its job still has too many workers awake. Returns whether the worker leaves.
    pub(super) fn leave_at_boundary(&mut self, w: usize) -> bool {
        let job = self.workers[w].job;
        self.workers[w].leaving = false;
        self.jobs[job].leaving -= 1;
        let leaves = self.is_in_excess(job);
        if leaves {
            self.fall_asleep(w);
        }
        leaves
    }

    /// Puts the worker to sleep until its job has more processors or a thief finds its work.
    pub(super) fn fall_asleep(&mut self, w: usize) {
        self.end_search(w);
        self.event_queue.clear(w);
        self.enter(w, State::Asleep);
        let holds_work = self.holds_work(w);
        let shares_work = !self.workers[self.deque_of(w)].deque.is_empty();
        let worker = &self.workers[w];
        let job = &mut self.jobs[worker.job];
        job.in_hand += usize::from(worker.frame != NONE);
        job.awake -= 1;
        job.parked.retain(|&other| other as usize != w);
        let number = worker.job;
        if holds_work {
            job.with_work.push(w as u32);
            self.work_is_visible(number);
        } else {
            job.without_work.push(w as u32);
            job.candidates.set(&self.order, w - job.first, false);
            if shares_work || !worker.sleepers.is_empty() {
                // Another worker must run the tasks in the place's deque, or pass the rounds.
                self.work_is_visible(number);
            }
        }
        self.give_processor_back(w);
    }

    /// Lets the thief `w` wake `victim`, which is asleep with work, and sleep in its place.
    pub(super) fn swap(&mut self, w: usize, victim: usize) {
        let job = &mut self.jobs[self.workers[w].job];
        job.with_work.retain(|&other| other as usize != victim);
        self.fall_asleep(w);
        self.rouse(victim, self.settings.costs.wake);
    }

    /// Wakes a sleeping worker. After `delay`, the worker continues with the task it has, if any.
    fn rouse(&mut self, w: usize, delay: Nanos) {
        if self.workers[w].frame == NONE {
            self.workers[w].frame = self.pop(w).unwrap_or(NONE);
        } else {
            self.jobs[self.workers[w].job].in_hand -= 1;
        }
        let worker = &mut self.workers[w];
        let delay = delay + std::mem::take(&mut worker.left);
        let job = &mut self.jobs[worker.job];
        job.awake += 1;
        job.candidates.set(&self.order, w - job.first, true);
        if worker.frame == NONE {
            self.enter(w, State::Woken);
        } else {
            self.has_work(w);
            self.enter(w, State::Working);
        }
        self.resume(w, delay);
    }

    /// Ends the job after its root has ended.
    pub(super) fn finish(&mut self, job: usize, chain: Chain) {
        self.jobs[job].pass(self.now);
        let workers = self.workers_of(job);
        if self.processors.are_short() {
            self.processors.leave_line(&workers);
        }
        for w in workers {
            if self.workers[w].state != State::Asleep {
                self.end_search(w);
                self.event_queue.clear(w);
                self.enter(w, State::Asleep);
                self.give_processor_back(w);
            }
        }
        let running = &mut self.jobs[job];
        running.is_here = false;
        running.end = Some((self.now, chain));
        self.left -= 1;
        self.shares.leave(job as u64);
        self.deal();
    }
}
