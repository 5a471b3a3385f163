//! Tasks of a scope that begin in the order in which a worker has spawned them.
//!
//! A worker runs its own tasks youngest first. Here it puts the task into a queue of its own and a stand-in into its deque; whoever
//! runs a stand-in, in whatever order, runs the oldest task of that queue. There are as many tasks as stand-ins, and only these are
//! counted.

use super::{Scope, ScopeCore};
use crate::queue::Queue;
use crate::worker::Current;

impl<'scope> Scope<'scope> {
    pub(crate) fn spawn_fifo<F>(&self, f: F)
    where
        F: FnOnce(&Self) + Send + 'scope,
    {
        let Some(current) = Current::of(self.pool()) else {
            // What comes from outside lies in a queue anyway.
            return self.spawn(f);
        };
        let spawner = current.index;
        self.core
            .in_order(spawner)
            .push(self.task(f, Some(current)));
        self.spawn(move |scope| {
            let oldest = scope.core.in_order(spawner).pop();
            oldest.expect("one for each stand-in").run(Current::here());
        });
    }
}

impl ScopeCore {
    /// The queue of one worker.
    fn in_order(&self, worker: usize) -> &Queue {
        let queues = || {
            let room = 0..self.pool().room();
            room.map(|_| Queue::default()).collect()
        };
        &self.in_order.get_or_init(queues)[worker]
    }
}
