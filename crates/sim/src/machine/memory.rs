//! Memory that tasks have declared, and the tasks that wait for memory.
//!
//! If the policy keeps no order, a request is granted immediately, unless the hybrid policy puts
//! the task to sleep in a queue of its worker. A job that keeps the depth-first order uses the same
//! plan as the runtime ([`Plan`]). Instead of deques, its workers have threads, which are stacks of
//! tasks, and a worker leaves its thread when a task waits. The worker that finishes last continues
//! with the joiner.

use super::Machine;
use super::work::After;
use crate::dag::Step;
use crate::frames::{Ended, FrameId, NONE, Role};
use crate::settings::Width;
use crate::unfold::TaskId;
use std::collections::VecDeque;
use tidegate_policy::memory::book::{Answer, Reservation, Until};
use tidegate_policy::memory::plan::{Next, Plan};
use tidegate_policy::{MemoryPolicy, Nanos};

/// The declared memory of a job, and the tasks that wait for memory.
#[derive(Default)]
pub(super) struct Memory {
    declared: u64,
    pub(super) peak: u64,
    /// How many tasks sleep in the queues of workers.
    pub(super) sleepers: usize,
    planned: Option<Planned>,
}

/// The plan of a job that keeps the depth-first order, and the state of the plan's threads.
struct Planned {
    plan: Plan<FrameId>,
    /// For each thread without a worker, the task with which the thread will continue.
    tops: Vec<FrameId>,
    /// Threads that could continue but have no processor.
    owed: VecDeque<usize>,
    /// Threads without a worker: some were left behind with their deque, others may be used again.
    loose: Vec<usize>,
    /// When the thread that schedules can begin its next operation.
    scheduler: Nanos,
}

impl Memory {
    pub(super) fn begin(&mut self, memory: MemoryPolicy, width: Width) {
        let workers = match width {
            Width::Fixed(processors) => processors,
            Width::Desired(_) | Width::Limited(..) => 1,
        };
        self.planned = Plan::new(memory, workers).map(|plan| Planned {
            plan,
            tops: Vec::new(),
            owed: VecDeque::new(),
            loose: Vec::new(),
            scheduler: 0,
        });
    }

    pub(super) fn is_ordered(&self) -> bool {
        self.planned.is_some()
    }

    pub(super) const fn has_sleepers(&self) -> bool {
        self.sleepers > 0
    }

    /// Whether the plan has work for a worker.
    pub(super) fn has_planned(&self) -> bool {
        let planned = self.planned.as_ref();
        planned.is_some_and(|planned| planned.plan.has_work() || !planned.owed.is_empty())
    }

    pub(super) fn declare(&mut self, bytes: u64) {
        self.declared += bytes;
        self.peak = self.peak.max(self.declared);
    }
}

impl Planned {
    /// Returns a thread that is not in use.
    fn new_thread(&mut self) -> usize {
        let free = self.loose.iter().position(|t| self.plan.is_free(*t));
        free.map_or_else(
            || {
                self.tops.push(NONE);
                self.tops.len() - 1
            },
            |at| self.loose.swap_remove(at),
        )
    }
}

/// Methods for jobs that steal work; [`super::hybrid`] decides which tasks sleep.
impl Machine<'_> {
    /// Declares `bytes` for the task, unless the hybrid policy puts the task to sleep first.
    pub(super) fn reserve(&mut self, w: usize, id: FrameId, bytes: u64, debt: &mut Nanos) -> After {
        *debt += self.settings.costs.allocate;
        let job = self.workers[w].job;
        if let MemoryPolicy::Hybrid(policy) = self.settings.memory {
            if self.falls_asleep_for_memory(w, id, bytes, policy) {
                return After::Waits;
            }
        }
        self.jobs[job].memory.declare(bytes);
        let frame = self.frames.get(id).memory();
        frame.reservations.push((bytes, None));
        After::Next(id)
    }

    pub(super) fn give_back(&mut self, w: usize, reservation: Option<(u64, Option<Reservation>)>) {
        let job = self.workers[w].job;
        if let Some((bytes, name)) = reservation {
            self.jobs[job].memory.declared -= bytes;
            if let Some(name) = name {
                let thread = self.workers[w].thread;
                self.plan(job).plan.give_back(thread, name, bytes);
            }
        }
    }

    /// Ends the task and gives back its reservations.
    pub(super) fn end_frame(&mut self, w: usize, id: FrameId) -> Ended {
        let frame = self.frames.get(id);
        self.jobs[self.workers[w].job].dag.end(frame.task);
        let reservations = frame.take_reservations();
        for reservation in reservations {
            self.give_back(w, Some(reservation));
        }
        self.frames.end(id)
    }
}

/// Methods for jobs that keep the depth-first order.
impl Machine<'_> {
    fn plan(&mut self, job: usize) -> &mut Planned {
        let planned = self.jobs[job].memory.planned.as_mut();
        planned.expect("a job that keeps the order")
    }

    /// Returns how long a worker waits for an operation of the job's single scheduling thread, if
    /// it asks for it after `delay`.
    fn await_scheduler(&mut self, job: usize, delay: Nanos) -> Nanos {
        let (now, operation) = (self.now + delay, self.settings.costs.scheduler);
        if operation == 0 {
            return 0;
        }
        let free = &mut self.plan(job).scheduler;
        *free = now.max(*free) + operation;
        *free - now
    }

    /// Begins the memory plan of the job. If the job keeps the depth-first order, places the root
    /// task on the worker's thread.
    pub(super) fn begin_memory(&mut self, w: usize, root: FrameId) {
        let job = self.workers[w].job;
        self.jobs[job]
            .memory
            .begin(self.settings.memory, self.widths[job]);
        if self.jobs[job].memory.is_ordered() {
            let thread = self.thread(w);
            self.plan(job).plan.here(thread);
            self.frames.get(root).memory().thread = thread;
        }
    }

    /// Returns the worker's thread. Creates a thread if the worker has none.
    fn thread(&mut self, w: usize) -> usize {
        let job = self.workers[w].job;
        self.workers[w].thread.unwrap_or_else(|| {
            let thread = self.plan(job).new_thread();
            self.workers[w].thread = Some(thread);
            thread
        })
    }

    /// Leaves the worker's thread to other workers, which will continue with the task `top`.
    fn leave_thread(&mut self, w: usize, top: FrameId) {
        let job = self.workers[w].job;
        if let Some(thread) = self.workers[w].thread.take() {
            let planned = self.plan(job);
            planned.tops[thread] = top;
            planned.loose.push(thread);
        }
    }

    /// Lets the worker continue on this thread.
    fn take_thread(&mut self, w: usize, thread: usize) {
        if self.workers[w].thread != Some(thread) {
            self.leave_thread(w, NONE);
            let job = self.workers[w].job;
            self.plan(job).loose.retain(|other| *other != thread);
            self.workers[w].thread = Some(thread);
        }
    }

    /// Collects the threads that can continue because their requests were answered meanwhile.
    fn settle(&mut self, job: usize) {
        while let Some(thread) = self.plan(job).plan.settle() {
            self.plan(job).owed.push_back(thread);
        }
        let waiting = usize::from(self.jobs[job].memory.has_planned());
        self.jobs[job].queued = waiting;
        if waiting > 0 {
            self.work_is_visible(job);
        }
    }

    /// Runs one step of a task in a job that keeps the depth-first order.
    pub(super) fn ordered_step(
        &mut self,
        w: usize,
        (id, step): (FrameId, Step<TaskId>),
        debt: &mut Nanos,
    ) -> After {
        let job = self.workers[w].job;
        if matches!(step, Step::Fork(..) | Step::Spawn(_) | Step::End) {
            *debt += self.await_scheduler(job, *debt);
        }
        let frame = self.frames.get(id);
        let (chain, thread) = (frame.chain, frame.memory().thread);
        let after = match step {
            Step::Work(time) => {
                frame.chain.lengthen(time);
                self.jobs[job].work = self.jobs[job].work.saturating_add(time);
                return After::Work(time);
            }
            Step::Rest(time) => {
                frame.chain.lengthen(time);
                self.plan(job).plan.waits(thread, Until::Else);
                self.rest(w, id, time);
                self.leave_thread(w, id);
                After::Waits
            }
            Step::Fork(first, second) => {
                frame.pending += 2;
                frame.waits = true;
                *debt += self.settings.costs.fork;
                self.jobs[job].counters.tasks += 1;
                let second = self.frames.add(second, id, chain);
                let half = self.plan(job).plan.half(thread, second);
                self.frames.get(id).memory().half = Some(half);
                self.inside(w, first, id, Role::First, true)
            }
            Step::Call(child) => {
                frame.pending += 1;
                frame.waits = true;
                self.inside(w, child, id, Role::Inner, false)
            }
            Step::Spawn(child) => {
                *debt += self.settings.costs.fork;
                self.spawn_planned(job, id, child);
                self.after_fork(w, id)
            }
            Step::Join => {
                *debt += self.settings.costs.join;
                if frame.join() {
                    After::Next(id)
                } else {
                    self.await_scope(w, id)
                }
            }
            Step::Touch(touch) => return self.touch(w, id, touch),
            Step::Draft(_) | Step::Release(_) => self.refuse_draft(job),
            Step::Reservation(bytes) => self.ask(w, id, bytes, debt),
            Step::Free => {
                let reservation = frame.memory().reservations.pop();
                self.give_back(w, reservation);
                After::Next(id)
            }
            Step::End if frame.join() => self.end_planned(w, id, debt),
            Step::End => self.await_scope(w, id),
        };
        self.settle(job);
        after
    }

    /// Ends the run with an error, because a draft has no position in the order of the serial run
    /// until it is released.
    fn refuse_draft(&mut self, job: usize) -> After {
        let memory = self.settings.memory;
        self.refuse(format!(
            "the memory policy {memory} does not support job {job}, whose tasks wait for tasks that they did not start: expected none or hybrid"
        ));
        After::Waits
    }

    /// Adds the task `child` to the plan. The task `id` waits for `child` at its next join.
    fn spawn_planned(&mut self, job: usize, id: FrameId, child: TaskId) {
        self.jobs[job].counters.tasks += 1;
        let frame = self.frames.get(id);
        frame.pending += 1;
        let (chain, thread, scope) = (frame.chain, frame.memory().thread, frame.memory().scope);
        let child = self.frames.add(child, id, chain);
        self.frames.get(child).memory().is_spawned = true;
        let plan = &mut self.plan(job).plan;
        let scope = scope.unwrap_or_else(|| plan.open());
        plan.spawn(thread, scope, child);
        self.frames.get(id).memory().scope = Some(scope);
    }

    /// Begins a task whose work the plan attributes to its parent.
    fn inside(
        &mut self,
        w: usize,
        task: TaskId,
        parent: FrameId,
        role: Role,
        forked: bool,
    ) -> After {
        let job = self.workers[w].job;
        let above = self.frames.get(parent);
        let (chain, thread) = (above.chain, above.memory().thread);
        let After::Next(id) = self.start(job, task, parent, chain) else {
            unreachable!("a task that starts is next");
        };
        let memory = self.frames.get(id).memory();
        (memory.thread, memory.role) = (thread, role);
        if forked {
            self.after_fork(w, id)
        } else {
            After::Next(id)
        }
    }

    /// Continues with the task, unless it must give way because too many tasks come before it in
    /// the depth-first order.
    fn after_fork(&mut self, w: usize, id: FrameId) -> After {
        let (job, thread) = (self.workers[w].job, self.frames.get(id).memory().thread);
        if !self.plan(job).plan.gives_way(thread) {
            return After::Next(id);
        }
        self.jobs[job].counters.sleeps += 1;
        self.leave_thread(w, id);
        After::Waits
    }

    fn ask(&mut self, w: usize, id: FrameId, bytes: u64, debt: &mut Nanos) -> After {
        *debt += self.settings.costs.allocate;
        let (job, thread) = (self.workers[w].job, self.frames.get(id).memory().thread);
        let frame = self.frames.get(id).memory();
        frame.reservations.push((bytes, None));
        let mut rng = self.thieves[w].rng.clone();
        let draw = |many: usize| rng.below(many as u64) as usize;
        let answer = self.plan(job).plan.ask(thread, bytes, draw);
        self.thieves[w].rng = rng;
        match answer {
            Answer::Later => {
                self.jobs[job].counters.sleeps += 1;
                self.leave_thread(w, id);
                After::Waits
            }
            answer => {
                self.answered(job, id, answer);
                After::Next(id)
            }
        }
    }

    /// Records the answer to the task's latest request.
    fn answered(&mut self, job: usize, id: FrameId, answer: Answer) {
        let reservation = self.frames.get(id).memory().reservations.last_mut();
        let reservation = reservation.expect("it was noted");
        match answer {
            Answer::Granted(name) => {
                reservation.1 = Some(name);
                let bytes = reservation.0;
                self.jobs[job].memory.declare(bytes);
            }
            Answer::Refused | Answer::Later => {
                reservation.0 = 0;
                self.jobs[job].counters.refusals += 1;
            }
        }
    }

    /// Lets the task wait for the tasks that it has spawned. Continues with one of these if one
    /// comes next in the depth-first order.
    fn await_scope(&mut self, w: usize, id: FrameId) -> After {
        let (job, memory) = (self.workers[w].job, self.frames.get(id).memory());
        let (thread, scope) = (memory.thread, memory.scope.expect("it has spawned"));
        let plan = &mut self.plan(job).plan;
        plan.waits(thread, Until::Scope(scope));
        self.next_of(w, id)
    }

    fn next_of(&mut self, w: usize, id: FrameId) -> After {
        let (job, memory) = (self.workers[w].job, self.frames.get(id).memory());
        let (thread, scope) = (memory.thread, memory.scope);
        let next = scope.and_then(|scope| self.plan(job).plan.next_of(thread, scope));
        let Some(next) = next else {
            self.leave_thread(w, NONE);
            return After::Waits;
        };
        self.frames.get(next).memory().thread = thread;
        After::Next(next)
    }

    /// Ends a task whose spawned tasks have all ended.
    fn end_planned(&mut self, w: usize, id: FrameId, debt: &mut Nanos) -> After {
        let job = self.workers[w].job;
        let frame = self.frames.get(id);
        let (parent, memory) = (frame.parent, frame.memory());
        let (thread, role, scope) = (memory.thread, memory.role, memory.scope);
        if let Some(scope) = scope {
            self.plan(job).plan.close(scope);
        }
        let is_half = role == Role::Own && self.is_half_of(parent, id);
        let second = match role {
            Role::Own => {
                self.plan(job).plan.end(thread);
                None
            }
            Role::First => self.take_half_back(job, thread, parent),
            Role::Inner => None,
        };
        match self.end_frame(w, id) {
            Ended::Root { chain } => After::Over(chain),
            Ended::Last { parent } => {
                *debt += self.settings.costs.join;
                self.join_half(job, parent);
                let thread = self.frames.get(parent).memory().thread;
                self.plan(job).plan.goes_on(thread);
                self.take_thread(w, thread);
                After::Next(parent)
            }
            Ended::NotLast => {
                if let Some(second) = second {
                    return After::Next(second);
                }
                self.not_last(w, parent, role, is_half)
            }
        }
    }

    fn is_half_of(&mut self, parent: FrameId, id: FrameId) -> bool {
        let spawned = self.frames.get(id).memory().is_spawned;
        parent != NONE && !spawned && self.frames.get(parent).memory().half.is_some()
    }

    /// Takes back the second half of a fork if no worker has begun it. Called when the first half
    /// has ended.
    fn take_half_back(&mut self, job: usize, thread: usize, parent: FrameId) -> Option<FrameId> {
        let half = self.frames.get(parent).memory().half?;
        let second = self.plan(job).plan.take_back(half)?;
        self.frames.get(parent).memory().half = None;
        let memory = self.frames.get(second).memory();
        (memory.thread, memory.role) = (thread, Role::Inner);
        Some(second)
    }

    /// Joins a fork whose halves have both ended.
    fn join_half(&mut self, job: usize, id: FrameId) {
        let memory = self.frames.get(id).memory();
        (memory.first_is_over, memory.half_is_over) = (false, false);
        if let Some(half) = memory.half.take() {
            self.plan(job).plan.joined(half);
        }
    }

    /// Decides what the worker does next if a task has ended but its parent cannot continue yet,
    /// because the parent is doing something else or waits for other tasks.
    fn not_last(&mut self, w: usize, parent: FrameId, role: Role, is_half: bool) -> After {
        let job = self.workers[w].job;
        let above = self.frames.get(parent);
        match role {
            Role::First | Role::Inner => match above.memory().unfinished_half() {
                Some(half) => {
                    let thread = above.memory().thread;
                    above.memory().first_is_over = true;
                    self.plan(job).plan.waits(thread, Until::Half(half));
                    self.leave_thread(w, NONE);
                    After::Waits
                }
                _ => {
                    self.join_half(job, parent);
                    self.await_scope(w, parent)
                }
            },
            Role::Own if is_half => {
                above.memory().half_is_over = true;
                if above.memory().first_is_over {
                    let thread = above.memory().thread;
                    let scope = above.memory().scope.expect("what else it waits for");
                    self.join_half(job, parent);
                    self.plan(job).plan.waits(thread, Until::Scope(scope));
                }
                After::Waits
            }
            // The task ran on top of its waiting parent.
            Role::Own if self.workers[w].thread == Some(above.memory().thread) => {
                self.next_of(w, parent)
            }
            Role::Own => After::Waits,
        }
    }

    /// Ends a task's rest if its job has a plan. Returns whether the job has one.
    pub(super) fn end_planned_rest(&mut self, w: usize, id: FrameId) -> bool {
        let job = self.workers[w].job;
        let ordered = self.jobs[job].memory.is_ordered();
        if ordered {
            let thread = self.frames.get(id).memory().thread;
            let planned = self.plan(job);
            planned.plan.goes_on(thread);
            planned.owed.push_back(thread);
            self.settle(job);
        }
        ordered
    }

    /// Makes one attempt to find work in the plan.
    pub(super) fn attempt_planned(&mut self, w: usize) {
        let job = self.workers[w].job;
        let cost = self.settings.costs.attempt;
        self.jobs[job].counters.attempts += 1;
        if let Some(thread) = self.plan(job).owed.pop_front() {
            return self.go_on(w, thread, cost);
        }
        let thread = self.thread(w);
        let draw = self.thieves[w].rng.draw();
        let next = self
            .plan(job)
            .plan
            .next(thread, |many| (draw % many as u64) as usize);
        match next {
            Some(Next::Start(id, from)) => {
                let stolen = from.is_some_and(|victim| victim != thread);
                self.jobs[job].counters.steals += u64::from(stolen);
                self.jobs[job].counters.stolen_tasks += u64::from(stolen);
                self.frames.get(id).memory().thread = thread;
                self.settle(job);
                let steal = if stolen { self.settings.costs.steal } else { 0 };
                let turn = self.await_scheduler(job, 0);
                self.found(w, id, cost + steal + turn);
            }
            Some(Next::Resume(thread)) => self.go_on(w, thread, cost),
            Some(Next::Again) => self.at(w, cost),
            None => {
                self.jobs[job].counters.failed_empty += 1;
                self.end_sweep(w);
            }
        }
    }

    /// Continues a thread that was parked or whose request has been answered.
    fn go_on(&mut self, w: usize, thread: usize, cost: Nanos) {
        let job = self.workers[w].job;
        self.take_thread(w, thread);
        let planned = self.plan(job);
        let (id, answer) = (planned.tops[thread], planned.plan.answer(thread));
        if let Some(answer) = answer {
            self.answered(job, id, answer);
        }
        self.settle(job);
        self.found(w, id, cost + self.settings.costs.handover);
    }
}
