//! Queues for tasks that are in no deque: injected from outside, spawned when a ring is full, found
//! above a join's half in the deque, or kept from a stolen batch.
//!
//! A queue is first in, first out (last in, first out in a pool whose workers share one queue), and
//! protected by a lock. The length is stored separately, so checking an empty queue costs one load.
//! A pool has one queue for all its workers (the injector), each scope may have its own (see
//! [`mod@crate::scope`]), and each worker has one for its inbox and one for stolen tasks that it
//! has not begun.

use crate::job::{HalfHeader, Task};
use crate::latch::Latch;
use std::collections::VecDeque;
use tidegate_policy::QueueKind;
use tidegate_sync::atomic::{AtomicUsize, Ordering};
use tidegate_sync::lock::Mutex;

#[derive(Default)]
pub(crate) struct Queue {
    tasks: Mutex<VecDeque<Task>>,
    len: AtomicUsize,
    youngest_first: bool,
}

impl Queue {
    /// Creates the queue of a pool, or of a scope in that pool. `kind` is the kind of queue in
    /// which the pool's workers keep their tasks.
    pub(crate) fn beside(kind: QueueKind) -> Self {
        Self {
            youngest_first: kind == QueueKind::Shared,
            ..Self::default()
        }
    }

    pub(crate) fn push(&self, task: Task) {
        let mut tasks = self.tasks.lock();
        tasks.push_back(task);
        // Release pairs with the Acquire in `len`; the tasks themselves are ordered by the lock.
        self.len.store(tasks.len(), Ordering::Release);
    }

    /// Pushes a task. If it is a half, `name` updates its latch before another thread can take the
    /// task. Returns the joiner if it sleeps.
    pub(crate) fn push_named(
        &self,
        task: Task,
        name: impl FnOnce(&Latch) -> Option<usize>,
    ) -> Option<usize> {
        let mut tasks = self.tasks.lock();
        tasks.push_back(task);
        // Release: as in `push`. The store precedes the call to `name`, so a joiner that reads the
        // latch's new state finds the task here.
        self.len.store(tasks.len(), Ordering::Release);
        let half = tasks.back().and_then(Task::half);
        half.and_then(|half| name(&half.latch))
    }

    /// Takes the oldest task, or the youngest if this queue is last in, first out.
    pub(crate) fn pop(&self) -> Option<Task> {
        if self.youngest_first {
            self.pop_last()
        } else {
            self.take_by(VecDeque::pop_front)
        }
    }

    /// Takes the youngest task.
    pub(crate) fn pop_last(&self) -> Option<Task> {
        self.take_by(VecDeque::pop_back)
    }

    /// Takes exactly this task, if it is in the queue. Searches from the young end: nested joins
    /// end innermost first, and the innermost half was pushed last.
    pub(crate) fn take(&self, wanted: &HalfHeader) -> Option<Task> {
        self.take_by(|tasks| {
            let is_it = |task: &Task| task.is_half(wanted);
            let at = tasks.iter().rposition(is_it)?;
            tasks.remove(at)
        })
    }

    /// Takes the first task for which `wanted` returns true. This may examine every task, so use it
    /// only in rare cases.
    pub(crate) fn take_first(&self, wanted: &dyn Fn(&Task) -> bool) -> Option<Task> {
        self.take_by(|tasks| {
            let at = tasks.iter().position(wanted)?;
            tasks.remove(at)
        })
    }

    /// Whether the queue contains a task for which `wanted` returns true.
    pub(crate) fn holds(&self, wanted: &dyn Fn(&Task) -> bool) -> bool {
        self.len() > 0 && self.tasks.lock().iter().any(wanted)
    }

    fn take_by(&self, take: impl FnOnce(&mut VecDeque<Task>) -> Option<Task>) -> Option<Task> {
        if self.len() == 0 {
            return None;
        }
        let mut tasks = self.tasks.lock();
        let task = take(&mut tasks);
        // Release: as in `push`.
        self.len.store(tasks.len(), Ordering::Release);
        task
    }

    pub(crate) fn len(&self) -> usize {
        // Acquire pairs with the Release in `push`. The barriers of docs/sleep.md ensure that no
        // worker goes to sleep on a stale 0.
        self.len.load(Ordering::Acquire)
    }
}
