//! Puts workers to sleep for lack of work, wakes them, and gives them processors.
//!
//! No wake-ups can be lost here, because events happen one after the other. A push wakes a worker
//! if some worker is parked and none is searching. Each worker that finds work wakes the next.

use super::worker::State;
use super::{Machine, SLICE};
use tidegate_policy::Nanos;
use tidegate_policy::search::wakes_another;

impl Machine<'_> {
    /// Sleeps for `time`, then looks again. The worker still counts as a searcher, as in the
    /// runtime.
    pub(super) fn nap(&mut self, w: usize, time: Nanos) {
        self.call_to_sleep();
        self.enter(w, State::Napping);
        let job = &mut self.jobs[self.workers[w].job];
        job.counters.naps += 1;
        self.give_processor_back(w);
        let ends = time.saturating_add(self.settings.costs.slack);
        self.event_queue.set(w, self.now.saturating_add(ends));
    }

    pub(super) fn end_nap(&mut self, w: usize) {
        let delay = self.settings.costs.wake;
        let now = self.now + delay;
        self.thieves[w].idle.rested(|| now);
        self.event_queue.clear(w);
        self.enter(w, State::Searching);
        self.resume(w, delay);
    }

    /// Sleeps until another worker makes work visible.
    pub(super) fn park(&mut self, w: usize) {
        self.call_to_sleep();
        self.end_search(w);
        self.event_queue.clear(w);
        self.enter(w, State::Parked);
        let job = self.workers[w].job;
        self.jobs[job].parked.push(w as u32);
        self.give_processor_back(w);
    }

    /// Wakes the worker that parked last, unless a searcher will find the work. Called when work
    /// becomes visible to other workers. Returns the cost.
    #[inline]
    pub(super) fn work_is_visible(&mut self, job: usize) -> Nanos {
        let (searching, parked) = (self.jobs[job].searching, self.jobs[job].parked.len());
        if !wakes_another(searching, parked) {
            return 0;
        }
        let Some(last) = parked.checked_sub(1) else {
            return 0;
        };
        self.wake_parked(job, last)
    }

    /// Wakes the parked worker at position `nth`. Returns the cost.
    pub(super) fn wake_parked(&mut self, job: usize, nth: usize) -> Nanos {
        let w = self.jobs[job].parked.remove(nth);
        self.wake(w as usize);
        self.settings.costs.wake_call
    }

    pub(super) fn wake_if_parked(&mut self, w: usize) {
        if self.workers[w].state == State::Parked {
            let job = &mut self.jobs[self.workers[w].job];
            job.parked.retain(|&other| other as usize != w);
            self.wake(w);
        }
    }

    fn wake(&mut self, w: usize) {
        let asleep = self.workers[w].since + self.settings.costs.sleep;
        let delay = asleep.saturating_sub(self.now) + self.settings.costs.wake;
        self.enter(w, State::Woken);
        self.resume(w, delay);
    }

    /// Lets a worker that has slept continue, `delay` after it gets a processor. The worker gets a
    /// processor immediately if one is free, or if another worker has had more time on processors.
    pub(super) fn resume(&mut self, w: usize, delay: Nanos) {
        if self.take_processor(w, delay, true) {
            return;
        }
        // The worker that acts now cannot be displaced, because its action has not ended.
        let can = |other| other != self.acting && self.event_queue.awaits(other);
        if let Some(other) = self.processors.displaced_by(w, self.now, can) {
            self.displace(other);
        }
    }

    /// Lets the worker continue after `delay` if a processor is free; otherwise the worker joins
    /// the line. Returns whether it got a processor.
    fn take_processor(&mut self, w: usize, delay: Nanos, has_slept: bool) -> bool {
        let has = self.processors.take(w, self.now, has_slept);
        if has {
            self.count_calls(w);
            self.at(w, delay);
        } else {
            self.workers[w].late = delay;
            self.jobs[self.workers[w].job].stood_in_line = true;
            self.begin_slice();
        }
        has
    }

    /// Releases the worker's processor; the next worker in line gets it.
    pub(super) fn give_processor_back(&mut self, w: usize) {
        let next = self.processors.release(w, self.now);
        self.hand_over(next);
    }

    fn call_to_sleep(&mut self) {
        self.call(self.settings.costs.sleep + self.settings.costs.wake);
    }

    /// Charges all steps of work for a call of an idle worker that takes this time.
    fn call(&mut self, time: Nanos) {
        self.calls += time * self.settings.costs.call / 1_000;
    }

    /// Begins to charge the worker's step for calls, or no longer does, because the worker gets its
    /// processor or loses it in the middle of the step.
    pub(super) fn count_calls(&mut self, w: usize) {
        if let Some(calls) = &mut self.workers[w].calls {
            *calls = self.calls - *calls;
        }
    }

    fn hand_over(&mut self, next: Option<usize>) {
        if let Some(next) = next {
            self.count_calls(next);
            let late = self.workers[next].late + self.settings.costs.handover;
            self.at(next, late);
        }
    }

    /// Gives this worker's processor to the next worker in line. This worker continues later.
    fn displace(&mut self, w: usize) {
        if let Some(moment) = self.event_queue.clear(w) {
            self.count_calls(w);
            self.give_processor_back(w);
            self.take_processor(w, moment - self.now, false);
        }
    }

    /// Yields this worker's processor to the next worker in line. This worker looks for work again
    /// after `delay`.
    pub(super) fn yield_processor(&mut self, w: usize, delay: Nanos) {
        self.call(self.settings.costs.yields);
        if !self.processors.are_short_for(w) {
            return self.at(w, delay);
        }
        self.event_queue.clear(w);
        let next = self
            .processors
            .forfeit(w, self.now, self.settings.costs.forfeit);
        self.hand_over(next);
        self.take_processor(w, delay, false);
    }

    fn begin_slice(&mut self) {
        let actor = self.clockwork(SLICE);
        if !self.event_queue.awaits(actor) {
            self.event_queue
                .set(actor, self.now + self.settings.costs.slice);
        }
    }

    /// Takes the processor from each worker that has had it for a slice, and gives it to a worker
    /// in line.
    pub(super) fn end_slice(&mut self) {
        let actor = self.clockwork(SLICE);
        self.event_queue.clear(actor);
        let overdue = self.processors.overdue(self.now);
        for w in overdue {
            self.displace(w);
        }
        if self.processors.are_short() {
            self.begin_slice();
        }
    }
}
