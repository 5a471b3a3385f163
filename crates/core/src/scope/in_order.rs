//! Tasks of a scope that begin in the order in which a worker has spawned them.
//!
//! A worker runs its own tasks youngest first. To keep the order, it puts each such task into a
//! separate queue, and a stand-in into its deque. Whichever stand-in a worker runs, it then runs
//! the oldest task of that queue. There are as many tasks as stand-ins, and the scope counts only
//! the stand-ins.

use super::{Scope, ScopeCore};
use crate::job::Task;
use crate::worker::WorkerThread;
use std::collections::VecDeque;
use tidegate_sync::lock::Mutex;

/// The ordered tasks that one worker has spawned and that have not begun.
pub(super) type InOrder = Mutex<VecDeque<Task>>;

impl<'scope> Scope<'scope> {
    pub(crate) fn spawn_fifo<F>(&self, f: F)
    where
        F: FnOnce(&Self) + Send + 'scope,
    {
        let Some(current) = WorkerThread::of(self.pool()) else {
            // A caller outside the pool has no deque, so its tasks go to a queue, which keeps their
            // order.
            return self.spawn(f);
        };
        let (spawner, caller) = (current.index, Some(current));
        let task = self.task(f, caller);
        self.core.in_order(spawner).lock().push_back(task);
        self.spawn_stand_in(caller, move |scope| {
            scope.in_order(spawner).lock().pop_front()
        });
    }
}

impl ScopeCore {
    /// Returns the queue of one worker's ordered tasks.
    pub(super) fn in_order(&self, worker: usize) -> &InOrder {
        let queues = || {
            let room = 0..self.pool().room();
            room.map(|_| InOrder::default()).collect()
        };
        &self.in_order.get_or_init(queues)[worker]
    }
}
