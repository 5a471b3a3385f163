//! The scopes' own queues. A scope gets one when a task of it first has to go to a queue.

use super::Queue;
use crate::job::Task;
use std::sync::Arc;
use tidegate_policy::QueueKind;
use tidegate_sync::atomic::{AtomicUsize, Ordering};
use tidegate_sync::lock::Mutex;

/// The list of the queues in which workers look for tasks.
pub(crate) struct ScopeQueues {
    list: Mutex<Vec<ScopeQueue>>,
    count: AtomicUsize,
    kind: QueueKind,
}

/// The queue of the scope at this address.
struct ScopeQueue {
    scope: usize,
    queue: Arc<Queue>,
}

impl ScopeQueues {
    pub(crate) fn new(kind: QueueKind) -> Self {
        Self {
            list: Mutex::default(),
            count: AtomicUsize::new(0),
            kind,
        }
    }

    /// Creates the queue of the scope at this address, in which workers look for tasks until
    /// `forget` is called.
    pub(crate) fn create(&self, scope: usize) -> Arc<Queue> {
        let queue = Arc::new(Queue::beside(self.kind));
        let mut list = self.list.lock();
        list.push(ScopeQueue {
            scope,
            queue: queue.clone(),
        });
        // Release: as in `Queue::push`; pairs with the Acquire in `is_empty`.
        self.count.store(list.len(), Ordering::Release);
        queue
    }

    pub(crate) fn forget(&self, queue: &Arc<Queue>) {
        let mut list = self.list.lock();
        list.retain(|other| !Arc::ptr_eq(&other.queue, queue));
        // Release: as in `create`.
        self.count.store(list.len(), Ordering::Release);
    }

    /// Whether no scope has a queue.
    fn is_empty(&self) -> bool {
        // Acquire pairs with the Release in `create`.
        self.count.load(Ordering::Acquire) == 0
    }

    /// Takes a task from the first queue that has one, which becomes the last: a scope whose queue
    /// is never empty lets the others have their turn.
    pub(crate) fn pop(&self) -> Option<Task> {
        if self.is_empty() {
            return None;
        }
        let mut list = self.list.lock();
        let mut places = 0..list.len();
        let (place, task) = places.find_map(|place| Some((place, list[place].queue.pop()?)))?;
        list[place..].rotate_left(1);
        Some(task)
    }

    pub(crate) fn any(&self) -> bool {
        !self.is_empty() && self.list.lock().iter().any(|of| of.queue.len() > 0)
    }

    pub(crate) fn len(&self) -> usize {
        self.list.lock().iter().map(|of| of.queue.len()).sum()
    }

    /// Returns the addresses of the scopes that have tasks in their queues, in ascending order.
    pub(crate) fn with_tasks(&self) -> Vec<usize> {
        if self.is_empty() {
            return Vec::new();
        }
        let list = self.list.lock();
        let queued = list.iter().filter(|of| of.queue.len() > 0);
        let mut scopes: Vec<usize> = queued.map(|of| of.scope).collect();
        scopes.sort_unstable();
        scopes
    }
}
