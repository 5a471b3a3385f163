//! Queues of tasks that lie in no deque: injected from outside, spawned beyond a full ring, or left above a join.
//!
//! First in, first out, under a lock; the length is kept beside it so that an empty queue costs one load. A pool has one
//! for everybody (the injector) and each scope may have one of its own, see [`mod@crate::scope`].

use crate::job::Task;
use std::collections::VecDeque;
use tidegate_sync::atomic::{AtomicUsize, Ordering};
use tidegate_sync::lock::Mutex;

#[derive(Default)]
pub(crate) struct Queue {
    tasks: Mutex<VecDeque<Task>>,
    len: AtomicUsize,
}

impl Queue {
    pub(crate) fn push(&self, task: Task) {
        let mut tasks = self.tasks.lock();
        tasks.push_back(task);
        // Release pairs with the Acquire in `len`; the tasks themselves are ordered by the lock.
        self.len.store(tasks.len(), Ordering::Release);
    }

    pub(crate) fn pop(&self) -> Option<Task> {
        if self.len() == 0 {
            return None;
        }
        let mut tasks = self.tasks.lock();
        let task = tasks.pop_front();
        // Release: as in `push`.
        self.len.store(tasks.len(), Ordering::Release);
        task
    }

    pub(crate) fn len(&self) -> usize {
        // Acquire: one who goes to sleep on 0 has looked after the pusher's store, see docs/sleep.md.
        self.len.load(Ordering::Acquire)
    }
}
