//! How a worker runs tasks.
//!
//! When a step of work ends, the worker requests the next step of its task. It runs step after step
//! until one takes time. The costs of forks and joins are added to the work that follows, so they
//! need no events.

use super::worker::State;
use super::{Machine, RESTS};
use crate::chain::Chain;
use crate::dag::{Draft, Step};
use crate::drafts::Ready;
use crate::frames::{Ended, FrameId, NONE};
use crate::settings::Deques;
use crate::unfold::TaskId;
use std::cmp::Reverse;
use tidegate_policy::Nanos;

impl Machine<'_> {
    /// Runs the task in hand, and then further tasks, until a step takes time, the worker must
    /// leave, or no task is left.
    #[inline]
    pub(super) fn work(&mut self, w: usize) {
        if let Some(calls) = self.workers[w]
            .calls
            .take()
            .filter(|&calls| calls < self.calls)
        {
            return self.at(w, self.calls - calls);
        }
        let mut id = self.workers[w].frame;
        let mut debt = std::mem::take(&mut self.workers[w].debt);
        loop {
            let next = match self.step(w, id, &mut debt) {
                After::Work(time) => {
                    self.workers[w].frame = id;
                    self.workers[w].calls = Some(self.calls);
                    return self.at(w, time.saturating_add(debt));
                }
                After::Over(chain) => {
                    self.workers[w].frame = NONE;
                    return self.finish(self.workers[w].job, chain);
                }
                After::Next(next) => Some(next),
                After::Waits => {
                    debt += self.fetch_deque(w);
                    self.pop(w)
                }
            };
            let Some(next) = next else {
                self.workers[w].frame = NONE;
                return self.search(w, debt);
            };
            id = next;
            if self.workers[w].leaving {
                self.workers[w].frame = id;
                self.workers[w].debt = debt;
                if self.leave_at_boundary(w) {
                    return;
                }
            }
        }
    }

    /// Runs one step of the task in frame `id`.
    #[inline]
    fn step(&mut self, w: usize, id: FrameId, debt: &mut Nanos) -> After {
        let job = self.workers[w].job;
        let frame = self.frames.get(id);
        frame.chain.actions += 1;
        let chain = frame.chain;
        let step = self.jobs[job].dag.next(frame.task);
        if self.jobs[job].memory.is_ordered() {
            return self.ordered_step(w, (id, step), debt);
        }
        match step {
            Step::Work(time) => {
                frame.chain.lengthen(time);
                let work = &mut self.jobs[job].work;
                *work = work.saturating_add(time);
                After::Work(time)
            }
            Step::Rest(time) => {
                frame.chain.lengthen(time);
                self.rest(w, id, time);
                After::Waits
            }
            Step::Fork(first, second) => self.fork(w, id, [first, second], debt),
            Step::Spawn(child) => {
                frame.pending += 1;
                *debt += self.settings.costs.fork + self.push(w, id);
                self.start(job, child, id, chain)
            }
            Step::Call(child) => {
                frame.pending += 1;
                frame.waits = true;
                self.start(job, child, id, chain)
            }
            Step::Join => {
                *debt += self.settings.costs.join;
                frame.join().then_some(id).map_or(After::Waits, After::Next)
            }
            Step::Draft(draft) => self.draft(w, id, draft, debt),
            Step::Release(name) => self.release(w, id, name, debt),
            Step::Touch(touch) => self.touch(w, id, touch),
            Step::Reservation(bytes) => self.reserve(w, id, bytes, debt),
            Step::Free => {
                let reservation = frame.memory().reservations.pop();
                self.give_back(w, reservation);
                After::Next(id)
            }
            Step::End if !frame.join() => After::Waits,
            Step::End => match self.end_frame(w, id) {
                Ended::Root { chain } => After::Over(chain),
                Ended::Last { parent } => {
                    *debt += self.settings.costs.join;
                    After::Next(parent)
                }
                Ended::NotLast => After::Waits,
            },
        }
    }

    /// Begins both tasks. The worker continues with the first.
    #[inline]
    fn fork(
        &mut self,
        w: usize,
        id: FrameId,
        [first, second]: [TaskId; 2],
        debt: &mut Nanos,
    ) -> After {
        let job = self.workers[w].job;
        let frame = self.frames.get(id);
        frame.pending += 2;
        frame.waits = true;
        let chain = frame.chain;
        self.jobs[job].counters.tasks += 1;
        let second = self.frames.add(second, id, chain);
        *debt += self.settings.costs.fork + self.push(w, second);
        self.start(job, first, id, chain)
    }

    /// Adds a task that waits for releases. Some of these may already have happened.
    fn draft(&mut self, w: usize, id: FrameId, draft: Draft<TaskId>, debt: &mut Nanos) -> After {
        *debt += self.settings.costs.fork;
        let job = &mut self.jobs[self.workers[w].job];
        job.counters.tasks += 1;
        let frame = self.frames.draft(draft.task, id, draft.place);
        let (name, releases, put) = (draft.name, draft.releases, draft.put);
        if let Some(ready) = job.drafts.draft(name, releases, frame, put) {
            *debt += self.begin(w, ready, false);
        }
        After::Next(id)
    }

    /// Lets the task in frame `id` release the draft of this name.
    fn release(&mut self, w: usize, id: FrameId, name: u64, debt: &mut Nanos) -> After {
        *debt += self.settings.costs.join;
        let chain = self.frames.get(id).chain;
        let job = &mut self.jobs[self.workers[w].job];
        if let Some(ready) = job.drafts.release(name, chain) {
            *debt += self.begin(w, ready, true);
        }
        After::Next(id)
    }

    /// Queues a draft that has received all its releases, in a place or in the worker's deque.
    /// Returns the cost.
    fn begin(&mut self, w: usize, ready: Ready, goes_on: bool) -> Nanos {
        let frame = self.frames.get(ready.draft);
        frame.chain = frame.chain.max(ready.chain);
        let put = ready.put.map(|put| put.of(self.places.count()));
        match put.filter(|&place| !goes_on || !self.is_in_group(w, place)) {
            Some(place) => self.put(w, ready.draft, place),
            None => self.push(w, ready.draft),
        }
    }

    /// Begins a task. The worker continues with this task.
    #[inline]
    pub(super) fn start(
        &mut self,
        job: usize,
        task: TaskId,
        parent: FrameId,
        chain: Chain,
    ) -> After {
        self.jobs[job].counters.tasks += 1;
        After::Next(self.frames.add(task, parent, chain))
    }

    /// Pushes a task at the young end of the worker's deque, where other workers can see the task.
    /// Returns the cost beyond that of the fork.
    #[inline]
    pub(super) fn push(&mut self, w: usize, id: FrameId) -> Nanos {
        let job = self.workers[w].job;
        let deque = self.deque_of(w);
        self.workers[deque].deque.push_back(id);
        self.jobs[job].queued += 1;
        self.fetch_deque(w) + self.work_is_visible(job)
    }

    /// Returns the cost of using the worker's deque, which is 0 unless another worker has looked at
    /// the deque or used it since this worker last did.
    #[inline]
    pub(super) fn fetch_deque(&mut self, w: usize) -> Nanos {
        let deque = self.deque_of(w);
        if std::mem::replace(&mut self.workers[deque].line, w) == w {
            0
        } else {
            self.settings.costs.look
        }
    }

    #[inline]
    pub(super) fn pop(&mut self, w: usize) -> Option<FrameId> {
        let deque = self.deque_of(w);
        let worker = &mut self.workers[deque];
        let id = worker.deque.pop_back()?;
        self.jobs[worker.job].queued -= 1;
        Some(id)
    }

    /// Lets the task in frame `id` rest for `time`. The task then continues on the worker that
    /// finds it.
    pub(super) fn rest(&mut self, w: usize, id: FrameId, time: Nanos) {
        let until = self.now.saturating_add(time);
        self.rested += 1;
        self.rests.push(Reverse((until, self.rested, id, w)));
        self.set_rests();
    }

    fn set_rests(&mut self) {
        if let Some(&Reverse((until, ..))) = self.rests.peek() {
            let actor = self.clockwork(RESTS);
            self.event_queue.set(actor, until);
        }
    }

    /// Ends a rest: pushes the task onto the deque of the worker on which it rested.
    pub(super) fn end_rest(&mut self) {
        let actor = self.clockwork(RESTS);
        self.event_queue.clear(actor);
        if let Some(Reverse((_, _, id, w))) = self.rests.pop() {
            let has_deque = self.settings.deques == Deques::Worker;
            if has_deque && self.workers[w].state == State::Asleep && !self.holds_work(w) {
                let job = &mut self.jobs[self.workers[w].job];
                job.without_work.retain(|&other| other as usize != w);
                job.with_work.push(w as u32);
                job.candidates.set(&self.order, w - job.first, true);
            }
            if self.end_planned_rest(w, id) {
                return self.set_rests();
            }
            // Thieves that steal only several tasks at a time would leave this single task to its
            // owner, so a parked owner must be woken.
            self.wake_if_parked(w);
            // The cost of the wake-up is dropped, because no running worker could pay for it.
            let _ = self.push(w, id);
        }
        self.set_rests();
    }
}

/// What a worker does after a step.
pub(super) enum After {
    /// Spends this much time on the task.
    Work(Nanos),
    /// Runs the next step of this task.
    Next(FrameId),
    /// Leaves this task, which waits, rests or has ended.
    Waits,
    /// Ends the job, which had this longest chain.
    Over(Chain),
}
