//! Allotments that are imposed on jobs, whatever their desires.
//!
//! The system gives each job a number of processors at each time
//! ([`Allotments`](crate::Allotments)), and the job never has more, not even to finish a step of a
//! task. If too many workers are awake, some must stop in the middle of a step; idle workers are
//! stopped first. A stopped worker continues its step when its job has a processor for it again, or
//! when a thief finds it asleep with work.

use super::worker::State;
use super::{GIVEN, Machine};

impl Machine<'_> {
    /// Applies the allotments that change now.
    pub(super) fn change_given(&mut self) {
        for job in self.jobs.iter_mut().filter(|job| job.is_here) {
            job.follow(self.now);
        }
        self.deal();
        self.find_stall();
        self.await_change();
    }

    /// Schedules the earliest change of an allotment among the jobs that have arrived.
    pub(super) fn await_change(&mut self) {
        let here = self.jobs.iter_mut().filter(|job| job.is_here);
        let next = here
            .filter_map(|job| job.course.peek())
            .map(|change| change.0);
        let next = next.min();
        let actor = self.clockwork(GIVEN);
        match next {
            Some(time) => self.event_queue.set(actor, time),
            None => {
                self.event_queue.clear(actor);
            }
        }
    }

    /// Immediately stops workers of the job, until no more of them are awake than the job has
    /// processors.
    pub(super) fn stop_excess(&mut self, job: usize) {
        for states in [
            [State::Napping, State::Parked],
            [State::Searching, State::Woken],
            [State::Working; 2],
        ] {
            for w in self.workers_of(job).rev() {
                if self.is_in_excess(job) && states.contains(&self.workers[w].state) {
                    self.stop(w);
                }
            }
        }
    }

    fn stop(&mut self, w: usize) {
        let moment = self.event_queue.clear(w);
        let worker = &mut self.workers[w];
        if worker.state == State::Working {
            worker.left = moment.map_or(worker.late, |moment| moment - self.now);
            if moment.is_some() {
                self.count_calls(w);
            }
        }
        if self.processors.are_short() {
            self.processors.leave_line(&(w..w + 1));
        }
        self.fall_asleep(w);
    }
}
