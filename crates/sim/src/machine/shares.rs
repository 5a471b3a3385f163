//! Level two: how many workers of a job are awake, and which.
//!
//! Algorithm WSAP of Sen, "Dynamic processor allocation for adaptively parallel work-stealing jobs", 2004, sections 4.1 and
//! 6.1. A worker is awake, asleep with work, or asleep without. Every cycle each job says what it desires, the processors are
//! dealt out, and each job brings the number of its workers awake to its allotment:
//!
//! * too few: a worker that was told to leave and has not left stays; then those with work are woken, then the others;
//! * too many: workers that rest or park leave at once and those that search before their next attempt. As many of those
//!   that work as are left over are told to leave, and do so at the end of a step of their task;
//! * a thief that picks a victim asleep with work wakes it and sleeps in its place.
//!
//! An estimate takes `sim.estimate` of a processor: of one that is free, at no cost to the job, or else of the job's first
//! worker that has one. A job whose workers all stand in line is not charged; otherwise more estimates than the processors
//! have time for would leave none for work.
//!
//! Differs from the source: a worker that was told to leave asks at the end of its step whether it is still one too many,
//! because others may have left meanwhile. A job that comes or goes is heard by the others at once and not at the end
//! of their cycle. Every job that is here may use one processor, also where its desire is none.

#[cfg(test)]
use super::Fault;
use super::worker::{State, Worker};
use super::{CYCLE, Machine, Width};
use crate::chain::Chain;
use crate::frames::NONE;
use crate::outcome::Counters;
use tidegate_policy::Nanos;
use tidegate_policy::allot::{Share, broken};
use tidegate_policy::desire::Seen;

impl Machine<'_> {
    /// The job, which has just come, gets its processors.
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

    /// The job is entitled to its number of processors or its share, as far as it is given that.
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

    /// A cycle is over: every job says what it desires.
    pub(super) fn end_cycle(&mut self) {
        let mut free = self.processors.free();
        for job in 0..self.jobs.len() {
            let running = &self.jobs[job];
            if running.is_here && running.arrives < self.now && running.desire.is_some() {
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

    /// The job's estimate takes the processor of its first worker that has one, and so this worker's moment comes later.
    fn hold_up(&mut self, job: usize) {
        let runs = |w: &usize| {
            let state = self.workers[*w].state;
            let has_processor = matches!(state, State::Working | State::Searching | State::Woken);
            has_processor && self.agenda.awaits(*w)
        };
        let cost = self.settings.costs.estimate;
        let Some(w) = self.workers_of(job).find(runs) else {
            return;
        };
        if let Some(moment) = self.agenda.clear(w) {
            self.agenda.set(w, moment.saturating_add(cost));
            self.jobs[job].counters.held_up += cost;
        }
    }

    /// The job's counters, with the time that its workers have been in their states.
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

    /// Every job gets what it is entitled to; those first that give something back.
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

    /// How many workers of a job are awake and stay so; of those that search as many as the job has processors for.
    fn keeps(&self, job: usize) -> usize {
        let workers = &self.workers[self.workers_of(job)];
        let searches = |worker: &&Worker| matches!(worker.state, State::Searching | State::Woken);
        let searching = workers.iter().filter(searches).count();
        let staying = self.jobs[job].staying();
        let kept = staying - searching.min(staying);
        kept.max(staying.min(self.jobs[job].allotment))
    }

    /// Whether what the jobs have now is what the rule promises, unless they are given less.
    fn judge(&mut self) {
        if self.settings.allotments.is_some() {
            return;
        }
        let given = self.shares.shares().iter().map(|share| {
            let kept = self.keeps(share.job as usize);
            // Every job may use one processor, also where its share is none.
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

    /// Whether the job has more workers awake than processors.
    #[inline]
    pub(super) fn is_in_excess(&self, job: usize) -> bool {
        self.jobs[job].awake > self.jobs[job].allotment
    }

    /// Brings the number of workers awake to the allotment, as far as that can be done now. Who is woken runs after `delay`.
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
                self.rouse(w as usize, delay);
            } else {
                break;
            }
        }
    }

    /// One worker that was told to leave stays.
    fn call_back(&mut self, job: usize) {
        for w in self.workers_of(job) {
            if std::mem::take(&mut self.workers[w].leaving) {
                self.jobs[job].leaving -= 1;
                return;
            }
        }
    }

    /// Who rests leaves at once. Who searches will see for himself; if these are too few, some who work are told.
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

    /// A worker that was told to leave, and has a task in hand, has come to the end of a step. Whether it leaves.
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

    /// The worker sleeps until its job has more processors, or a thief finds its work.
    pub(super) fn fall_asleep(&mut self, w: usize) {
        self.end_search(w);
        self.agenda.clear(w);
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
                // Another worker must run the tasks of the place, or pass the rounds.
                self.work_is_visible(number);
            }
        }
        self.give_processor_back(w);
    }

    /// The thief `w` wakes `victim`, which is asleep with work, and sleeps in its place.
    pub(super) fn swap(&mut self, w: usize, victim: usize) {
        let job = &mut self.jobs[self.workers[w].job];
        job.with_work.retain(|&other| other as usize != victim);
        self.fall_asleep(w);
        self.rouse(victim, self.settings.costs.wake);
    }

    /// A worker that was asleep goes on, after `delay`, with what it has.
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

    /// The root of the job is over, and with it the job.
    pub(super) fn finish(&mut self, job: usize, chain: Chain) {
        self.jobs[job].pass(self.now);
        let workers = self.workers_of(job);
        if self.processors.are_short() {
            self.processors.leave_line(&workers);
        }
        for w in workers {
            if self.workers[w].state != State::Asleep {
                self.end_search(w);
                self.agenda.clear(w);
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
