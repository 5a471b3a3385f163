//! Allotments that are imposed on jobs, whatever they desire.
//!
//! The system gives each job a number of processors for each moment
//! ([`Allotments`](crate::Allotments)), and the job has no more, not even for the rest of a step of
//! a task: a worker that is one too many stops amid its step and goes on with it when its job has a
//! processor for it again, or a thief finds it asleep with work. Idle workers are stopped first.

use super::worker::State;
use super::{GIVEN, Machine};

impl Machine<'_> {
    /// It is time for another number of processors for at least one job.
    pub(super) fn change_given(&mut self) {
        for job in self.jobs.iter_mut().filter(|job| job.is_here) {
            job.follow(self.now);
        }
        self.deal();
        self.find_stall();
        self.await_change();
    }

    /// The next change of a job that is here, if there is one.
    pub(super) fn await_change(&mut self) {
        let here = self.jobs.iter_mut().filter(|job| job.is_here);
        let next = here
            .filter_map(|job| job.course.peek())
            .map(|change| change.0);
        let next = next.min();
        let actor = self.clockwork(GIVEN);
        match next {
            Some(time) => self.agenda.set(actor, time),
            None => {
                self.agenda.clear(actor);
            }
        }
    }

    /// Stops workers of the job at once, until it has no more of them awake than processors.
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
        let moment = self.agenda.clear(w);
        let worker = &mut self.workers[w];
        if worker.state == State::Working {
            worker.left = moment.map_or(worker.late, |moment| moment - self.now);
        }
        if self.processors.are_short() {
            self.processors.leave_line(&(w..w + 1));
        }
        self.fall_asleep(w);
    }
}
