//! The hybrid: a task that asks for much memory sleeps for some rounds of its processor's clock.
//!
//! Source: the slides "Narlikar and hybrid schedulers for Cilk". A processor's clock advances only
//! before its own attempts to steal, so only while its own deque is empty. Until then the processor
//! runs the youngest task of that deque, and no other processor touches its sleepers.
//!
//! A worker that its job has put to sleep makes no attempts, so the others pass its rounds. A worker
//! that has rounds to pass does not park. If every worker of the job would only wait for rounds,
//! they are skipped.

use super::Machine;
use super::worker::State;
use crate::frames::FrameId;
use tidegate_policy::memory::Hybrid;

impl Machine<'_> {
    /// Whether the task that asks for `bytes` must sleep first.
    pub(super) fn falls_asleep_for_memory(
        &mut self,
        w: usize,
        id: FrameId,
        bytes: u64,
        policy: Hybrid,
    ) -> bool {
        let worker = &mut self.workers[w];
        let job = &mut self.jobs[worker.job];
        let rounds = policy.sleep_rounds(bytes, worker.granted, job.allotment as u64);
        if rounds == 0 {
            worker.granted += bytes;
            return false;
        }
        worker.granted = 0;
        worker.sleepers.sleep(rounds, (id, bytes));
        job.memory.sleepers += 1;
        job.counters.sleeps += 1;
        true
    }

    /// Before an attempt to steal: the first sleeper of this worker, if it is due.
    pub(super) fn pass_round(&mut self, w: usize) -> Option<FrameId> {
        let due = self.workers[w].sleepers.pass();
        due.map(|sleeper| self.wake_sleeper(w, sleeper))
    }

    /// After a sweep in vain: a round passes for a worker that cannot pass it itself.
    pub(super) fn pass_round_elsewhere(&mut self, w: usize) -> Option<FrameId> {
        let other = self.clock_of(w).filter(|&other| other != w)?;
        let due = self.workers[other].sleepers.pass();
        due.map(|sleeper| self.wake_sleeper(w, sleeper))
    }

    /// Whether this worker has rounds to pass.
    pub(super) fn has_rounds(&self, w: usize) -> bool {
        self.clock_of(w).is_some()
    }

    /// The next sleeper, if the job has nothing to do but to let rounds pass.
    pub(super) fn skip_rounds(&mut self, w: usize) -> Option<FrameId> {
        let job = &self.jobs[self.workers[w].job];
        if job.working + job.in_hand + job.queued > 0 {
            return None;
        }
        let clock = self.clock_of(w)?;
        let next = self.workers[clock].sleepers.skip();
        next.map(|sleeper| self.wake_sleeper(w, sleeper))
    }

    /// The worker whose rounds `w` passes: itself, or the first that is asleep with sleepers.
    fn clock_of(&self, w: usize) -> Option<usize> {
        let job = self.workers[w].job;
        if !self.jobs[job].memory.has_sleepers() {
            return None;
        }
        if !self.workers[w].sleepers.is_empty() {
            return Some(w);
        }
        self.workers_of(job).find(|&other| {
            let other = &self.workers[other];
            other.state == State::Asleep && !other.sleepers.is_empty()
        })
    }

    /// The sleeper gets its memory and runs on worker `w`.
    fn wake_sleeper(&mut self, w: usize, (id, bytes): (FrameId, u64)) -> FrameId {
        let memory = &mut self.jobs[self.workers[w].job].memory;
        memory.sleepers -= 1;
        memory.declare(bytes);
        self.workers[w].granted = 0;
        self.frames
            .get(id)
            .memory()
            .reservations
            .push((bytes, None));
        id
    }
}
