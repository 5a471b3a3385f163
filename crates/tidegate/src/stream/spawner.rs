//! How a stream queues its runners.

use std::sync::Arc;
use tidegate_core::Scope;
use tidegate_core::door::{PoolInner, Task, WorkerThread, scope, spawn};
use tidegate_policy::Priority;

/// Queues runners, whose items, function and results outlive `'env`.
pub trait Spawner<'env>: Sync + 'env {
    /// Queues a task, which gets the spawner and its worker.
    fn queue<F>(&self, pool: &Arc<PoolInner>, class: Priority, task: F)
    where
        F: FnOnce(&Self, WorkerThread<'_>) + Send + 'env;
}

/// Queues detached tasks.
#[derive(Debug)]
pub struct Detached;

impl Spawner<'static> for Detached {
    fn queue<F>(&self, pool: &Arc<PoolInner>, class: Priority, task: F)
    where
        F: FnOnce(&Self, WorkerThread<'_>) + Send + 'static,
    {
        let task = Task::alone(pool, move |current| task(&Detached, current));
        spawn::submit(pool, Some(class), task);
    }
}

/// Queues tasks of the scope, which have no class.
impl<'scope> Spawner<'scope> for Scope<'scope> {
    fn queue<F>(&self, _: &Arc<PoolInner>, _: Priority, task: F)
    where
        F: FnOnce(&Self, WorkerThread<'_>) + Send + 'scope,
    {
        scope::queue(self, |scope| {
            let current = WorkerThread::get().expect("workers run the tasks of scopes");
            task(scope, current);
        });
    }
}
