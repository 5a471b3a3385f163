//! The options for queued tasks: which begins next, and how many there may be.

use super::Builder;
use tidegate_policy::Priority;

setters! {
    /// Sets the class of the tasks that threads outside all pools spawn into this pool
    /// (`TIDEGATE_PRIORITY`), and of what these tasks spawn in turn. The default is
    /// [`Priority::Normal`]. A task of another pool passes its own class on, and
    /// `tidegate::TaskBuilder::priority` chooses one.
    ///
    /// The class orders the tasks of this pool among themselves. How pools and programs divide the
    /// processors depends on their [weights](Self::weight).
    ///
    /// ```
    /// use tidegate::policy::Priority;
    ///
    /// let pool = tidegate::Pool::builder().workers(1).priority(Priority::Background).build()?;
    /// let cleanup = pool.spawn(|| "cleaned up");
    /// // If the worker has not begun the cleanup, this task overtakes it.
    /// let answer = pool.task().priority(Priority::Normal).spawn(|| 6 * 7);
    /// assert_eq!((answer.join(), cleanup.join()), (42, "cleaned up"));
    /// # Ok::<(), tidegate::BuildError>(())
    /// ```
    priority(priority: Priority) sets priority;

    /// Sets within how many dispatches the pool begins a task of each class that has tasks: 3 to
    /// 1000000, by default 64 (`TIDEGATE_PRIORITY_AGING`). A dispatch is the begin of a task by a
    /// worker that has no other task in progress.
    ///
    /// A small number gives less urgent tasks more of the pool while it is busy. With 3, each of
    /// three classes with endless tasks gets a third.
    ///
    /// ```
    /// let error = tidegate::Pool::builder().priority_aging(2).build().unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "invalid value 2 for Builder::priority_aging: expected an integer from 3 to 1000000"
    /// );
    /// ```
    priority_aging(dispatches: usize) sets priority_aging;

    /// Sets how many tasks spawned by callers outside the pool may wait in the queue until a worker
    /// begins them: at least 1. By default there is no bound.
    ///
    /// If a call to `tidegate::Pool::spawn` exceeds the bound, it queues its task and blocks;
    /// `try_spawn` returns the closure instead. Each time a worker begins a task, the caller that
    /// has waited longest continues. So the queue has at most this many tasks, plus one for each
    /// waiting caller. A task of the pool itself never waits, because the queue might not drain
    /// meanwhile. For the same reason, no task of the pool should wait for a thread that spawns into
    /// it. The bound is for the tasks of all classes together, and the callers continue in the order
    /// in which they came, whatever the class of their tasks.
    ///
    /// ```
    /// let pool = tidegate::Pool::builder().workers(2).max_queued(16).build()?;
    /// let parts: Vec<_> = (0..100).map(|i| pool.spawn(move || i)).collect();
    /// assert_eq!(parts.into_iter().map(|part| part.join()).sum::<u32>(), 4950);
    /// # Ok::<(), tidegate::BuildError>(())
    /// ```
    max_queued(tasks: usize) sets max_queued;
}
