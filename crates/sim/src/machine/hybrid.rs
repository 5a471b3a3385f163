//! The hybrid policy: a task that requests much memory sleeps for some rounds of its processor's
//! clock.
//!
//! Source: the slides "Narlikar and hybrid schedulers for Cilk". A processor's clock advances only
//! before the processor's own attempts to steal, so only while its own deque is empty. Until a
//! sleeper is due, the processor runs the youngest task of that deque, and no other processor
//! touches its sleepers.
//!
//! A worker that its job has put to sleep makes no attempts, so other workers pass its rounds for
//! it. A worker does not park while it has rounds to pass. If the workers of a job have nothing to
//! do but wait for rounds to pass, the rounds are skipped.

use super::Machine;
use super::worker::State;
use crate::frames::FrameId;
use tidegate_policy::memory::Hybrid;

impl Machine<'_> {
    /// Puts the task that requests `bytes` to sleep if the policy requires it. Returns whether it
    /// sleeps.
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

    /// Passes a round before an attempt to steal. Returns this worker's first sleeper if that
    /// sleeper is due.
    pub(super) fn pass_round(&mut self, w: usize) -> Option<FrameId> {
        let due = self.workers[w].sleepers.pass();
        due.map(|sleeper| self.wake_sleeper(w, sleeper))
    }

    /// After a failed sweep, passes a round on behalf of a worker that its job has put to sleep.
    pub(super) fn pass_round_elsewhere(&mut self, w: usize) -> Option<FrameId> {
        let other = self.clock_of(w).filter(|&other| other != w)?;
        let due = self.workers[other].sleepers.pass();
        due.map(|sleeper| self.wake_sleeper(w, sleeper))
    }

    /// Whether this worker must pass rounds, its own or those of a sleeping worker.
    pub(super) fn has_rounds(&self, w: usize) -> bool {
        self.clock_of(w).is_some()
    }

    /// If the job has nothing to do but wait for rounds to pass, skips the rounds until the next
    /// sleeper is due, and returns that sleeper.
    pub(super) fn skip_rounds(&mut self, w: usize) -> Option<FrameId> {
        let job = &self.jobs[self.workers[w].job];
        if job.working + job.in_hand + job.queued > 0 {
            return None;
        }
        let clock = self.clock_of(w)?;
        let next = self.workers[clock].sleepers.skip();
        next.map(|sleeper| self.wake_sleeper(w, sleeper))
    }

    /// Returns the worker whose rounds `w` passes: itself, or the first worker that is asleep and
    /// has sleepers.
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

    /// Grants the sleeper its memory. The sleeper will run on worker `w`.
    fn wake_sleeper(&mut self, w: usize, (id, bytes): (FrameId, u64)) -> FrameId {
        let memory = &mut self.jobs[self.workers[w].job].memory;
        memory.sleepers -= 1;
        memory.declare(bytes);
        self.workers[w].granted = 0;
        let frame = self.frames.get(id).memory();
        frame.reservations.push((bytes, None));
        id
    }
}
