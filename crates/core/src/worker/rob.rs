//! Finds tasks that a waiting worker may run: descendants of what it waits for. It follows the
//! waits of other workers to find them (leapfrogging).
//!
//! docs/waiting.md describes the rules and why they are correct.

use super::alt;
use super::find::{Taker, find};
use super::flags::Flags;
use super::memory::{self, Look};
use super::placed;
use super::run;
use super::steal::{steal_beside_deque, steal_one};
use super::wait::{Awaited, next_task};
use super::watch;
use super::{Worker, WorkerThread};
use crate::job::Task;
use crate::latch::{State, Thief};
use crate::scope::ScopeCore;
use tidegate_deque::Steal;

/// The maximum number of waits that a robber follows from worker to worker.
pub(crate) const HOPS: usize = 8;

/// A worker that waits, and meanwhile looks for a task that it may run.
pub(super) struct Robber<'a> {
    pub(super) worker: WorkerThread<'a>,
    pub(super) awaited: Awaited<'a>,
    flags: Flags,
}

impl<'a> Robber<'a> {
    pub(super) fn new(worker: WorkerThread<'a>, awaited: Awaited<'a>) -> Self {
        let flags = Flags::default();
        Self {
            worker,
            awaited,
            flags,
        }
    }

    /// Finds a task that descends from `awaited`.
    pub(super) fn descendant(&mut self) -> Option<Task> {
        let worker = self.worker;
        if worker.pool().memory.is_ordered() {
            // Tasks that were forked inside `awaited` are in the plan.
            let scope = self.awaited.scope()?;
            let planned = memory::take(worker, Look::Of(scope));
            let queued = planned.or_else(|| scope.pop_queued());
            return queued.or_else(|| placed::take_of(worker, scope));
        }
        match self.awaited {
            Awaited::Half(half) => {
                if let State::Taken(thief) = half.latch.state() {
                    worker.waiting.set_thief(Some(thief));
                    return self.rob(thief, None);
                }
                self.unbegun()
            }
            Awaited::Scope(scope) => self.unbegun().or_else(|| self.rob_scope(scope)),
            Awaited::HalfUnwinding(_) | Awaited::Outside(_) | Awaited::Memory(_) => None,
        }
    }

    /// Takes the awaited half, or a task of the awaited scope, out of a queue if no thread has
    /// begun it.
    pub(super) fn unbegun(&self) -> Option<Task> {
        let worker = self.worker;
        match self.awaited {
            Awaited::Half(half) => worker.take_unbegun_half(half),
            Awaited::Scope(scope) => {
                let batched = || {
                    let mut workers = worker.pool().workers();
                    workers.find_map(|w| w.stolen_batch.take_first(&|task| task.is_of(scope)))
                };
                let own = || alt::take_if(worker, |task| task.is_of(scope));
                let queued = own().or_else(|| scope.pop_queued()).or_else(batched);
                queued.or_else(|| placed::take_of(worker, scope))
            }
            Awaited::HalfUnwinding(_) | Awaited::Outside(_) | Awaited::Memory(_) => None,
        }
    }

    /// Takes any task, because the user's wait policy allows it.
    pub(super) fn any_task(&mut self) -> Option<Task> {
        let worker = self.worker;
        // Steals one task at a time, even from the worker's own deque: the older tasks of a batch
        // would be above this frame.
        let mut of = |victim: &Worker| {
            let robbed = self.rob_one(victim, Thief::unnamed(victim.index));
            robbed.or_else(|| steal_beside_deque(victim, &mut self.flags.beside).ok())
        };
        let in_reverse = worker.searches_in_reverse();
        let mut others = || find(worker, Taker::OnTop(&mut of), in_reverse);
        let own = || alt::take(worker);
        next_task(worker, || {
            if in_reverse {
                own().or_else(others)
            } else {
                others().or_else(own)
            }
        })
    }

    /// Robs the workers that run a task of the scope, one after another, until a task is found.
    fn rob_scope(&mut self, scope: &ScopeCore) -> Option<Task> {
        for victim in self.worker.pool().workers() {
            let generation = victim.deque.generation();
            // Checked after the generation is read: see `run::enter_base`.
            if victim.runs_task_of(scope) {
                let thief = Thief {
                    worker: victim.index,
                    generation: Some(generation),
                    on_top: false,
                };
                let robbed = self.rob(thief, Some(scope));
                let beside = &mut self.flags.beside;
                let task = robbed.or_else(|| alt::rob(self.worker, victim, scope, beside));
                if task.is_some() {
                    return task;
                }
            }
        }
        None
    }

    /// Robs the worker that has the awaited task, or a worker further along the chain of waits.
    fn rob(&mut self, first: Thief, scope: Option<&ScopeCore>) -> Option<Task> {
        let worker = self.worker;
        let mut thief = first;
        for hop in 0..HOPS {
            let (victim, generation) = thief.robbable(hop)?;
            let victim = worker.pool().worker(victim);
            if victim.index != worker.index {
                if let Some(task) = self.rob_one(victim, thief) {
                    return self.keep_or_pass_on(task, scope);
                }
            }
            let next = victim.waiting.thief()?;
            // Checked after the link to the next thief was loaded: while the generation lasts, what
            // the victim waits for descends from the victim's base.
            if victim.deque.generation() != generation || next == thief {
                return None;
            }
            thief = next;
        }
        None
    }

    fn rob_one(&mut self, victim: &Worker, thief: Thief) -> Option<Task> {
        let worker = self.worker;
        worker.tally.attempts.add(1);
        let (got, robbed) = steal_one(victim, thief.generation);
        match got {
            Steal::Success(_) => watch::stole(worker, victim, 1),
            Steal::Lost => worker.tally.failed_busy.add(1),
            Steal::Empty => {
                worker.tally.failed_busy.add(1);
                let current = victim.deque.generation();
                if victim.deque.has_private() && thief.generation.is_none_or(|g| g == current) {
                    let _ = self.flags.press(worker.pool(), victim);
                }
            }
        }
        robbed
    }

    /// Returns the task if it is a half, or a task of the scope that the robber waits for. Passes
    /// any other task on to its queue.
    fn keep_or_pass_on(&self, task: Task, scope: Option<&ScopeCore>) -> Option<Task> {
        let wanted = match (task.scope(), scope) {
            (Some(_), Some(scope)) => task.is_of(scope),
            (None, _) => task.half().is_some(),
            (Some(_), None) => false,
        };
        if wanted {
            return Some(task);
        }
        run::pass_on(self.worker, task);
        None
    }

    /// Records in the task's latch that this worker runs the task on top of its wait.
    pub(super) fn record_thief_on_top(&self, task: &Task) {
        let deque = self.worker.deque();
        let generation = deque.is_empty().then(|| deque.generation());
        run::record_thief(self.worker, task, generation, true);
    }
}
