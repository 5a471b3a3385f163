//! Tasks of a scope that begin in the order of numbers.
//!
//! As in [`super::in_order`], a task is in a queue, and a stand-in is in the spawner's deque.
//! Whichever stand-in a worker runs, it then runs the first task of that queue. But here the queue
//! belongs to the scope and serves all workers: no task begins while a task with a smaller
//! number waits. The cost is one lock that all workers share.

use super::{Scope, ScopeCore};
use crate::job::Task;
use crate::worker::WorkerThread;
use crate::worker::carry;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use tidegate_sync::lock::Mutex;

impl<'scope> Scope<'scope> {
    /// Spawns a task that runs before the scope ends. Among the waiting tasks that were spawned by
    /// this method in the same scope, the task with the smallest `number` begins next. Of tasks
    /// with equal numbers, the oldest begins next.
    ///
    /// This is for searches in which the order determines the amount of work, such as shortest
    /// paths. All workers lock the same queue, so tasks should take at least a few microseconds.
    /// The order relative to tasks from [`spawn`](Self::spawn) or of other scopes is unspecified.
    /// To let a task overtake those that are queued in the whole pool, use
    /// `tidegate::TaskBuilder::priority`. In all other respects, including panics, this works like
    /// `spawn`.
    ///
    /// ```
    /// use std::sync::Mutex;
    ///
    /// let pool = tidegate::Pool::builder().workers(1).build().unwrap();
    /// let order = Mutex::new(vec![]);
    /// let note = |distance| order.lock().unwrap().push(distance);
    /// pool.install(|| {
    ///     tidegate::scope(|scope| {
    ///         for distance in [30, 10, 20] {
    ///             let note = &note;
    ///             scope.spawn_in_order(distance, move |_| note(distance));
    ///         }
    ///     })
    /// });
    /// assert_eq!(order.into_inner().unwrap(), [10, 20, 30]);
    /// ```
    pub fn spawn_in_order<F>(&self, number: u64, f: F)
    where
        F: FnOnce(&Scope<'scope>) + Send + 'scope,
    {
        let suspended = carry::carry_into(self.pool());
        let carried = suspended.carried;
        let caller = WorkerThread::get();
        let task = self.task(move |scope| carried.run(|| f(scope)), caller);
        self.core.waiting().push(number, task);
        self.spawn_stand_in(caller, |scope| scope.waiting().pop());
    }
}

impl ScopeCore {
    fn waiting(&self) -> &Waiting {
        self.waiting.get_or_init(Waiting::default)
    }
}

/// The tasks that have not begun.
#[derive(Default)]
pub(super) struct Waiting(Mutex<Line>);

#[derive(Default)]
struct Line {
    /// Each task behind its number and how many tasks were pushed earlier. The smallest comes first.
    tasks: BinaryHeap<Reverse<(u64, u64, Task)>>,
    /// The number of tasks pushed so far.
    spawned: u64,
}

impl Waiting {
    fn push(&self, number: u64, task: Task) {
        let mut line = self.0.lock();
        let age = line.spawned;
        line.spawned += 1;
        line.tasks.push(Reverse((number, age, task)));
    }

    fn pop(&self) -> Option<Task> {
        let Reverse((.., task)) = self.0.lock().tasks.pop()?;
        Some(task)
    }
}
