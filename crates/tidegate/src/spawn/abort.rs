//! What dropping a handle does to its task.

use super::Handle;
use super::packet::Cell;
use tidegate_sync::simulation;

impl<T: Send + 'static> Handle<T> {
    /// Makes dropping the handle abort the task, for a result that no other code needs. A handle
    /// that has returned its result aborts nothing.
    ///
    /// | the task | when the handle is dropped |
    /// |---|---|
    /// | has not begun | its closure never runs; a worker drops it instead |
    /// | runs, and has a token of its own ([`TaskBuilder::token`](crate::TaskBuilder::token)) | its token is cancelled; the task, and what it has spawned, stop at their next check |
    /// | runs, and has none | it continues; its result is dropped |
    /// | has ended | its result is dropped; its token is not cancelled, and detached tasks that it has spawned continue |
    /// | is a future | a worker drops the future, after the poll if a thread polls it; its own token is cancelled |
    ///
    /// A task that has not begun stays in its queue until its turn comes. So it counts for
    /// [`Builder::max_queued`](crate::Builder::max_queued), and keeps the values that it has
    /// captured. A caller in the pool that waits for the closure's destructor must do so in
    /// [`blocking`](crate::blocking()), as for any other task. If no thread of the pool could be
    /// started, the thread that drops the handle acts as that worker. In a child made by `fork`,
    /// dropping a handle of its parent aborts nothing.
    ///
    /// ```
    /// use tidegate::{CancelToken, Cancelled, check_cancelled};
    ///
    /// let request = tidegate::task().token(&CancelToken::new());
    /// let handle = request.spawn(|| -> Result<(), Cancelled> {
    ///     loop {
    ///         check_cancelled()?; // and do some of the work
    ///     }
    /// });
    /// drop(handle.abort_on_drop()); // e.g. because a client has closed its connection
    /// ```
    #[must_use = "dropping the handle aborts the task"]
    pub fn abort_on_drop(mut self) -> Self {
        self.aborts = true;
        self
    }
}

impl<T> Handle<T> {
    fn abort(&self, packet: &Cell<T>) {
        if !packet.abort() {
            return;
        }
        if let Some(token) = &self.token {
            token.cancel();
        }
        if let Some(future) = packet.future() {
            future.abort();
        }
    }
}

impl<T> Drop for Handle<T> {
    fn drop(&mut self) {
        let Some(packet) = self.packet.take() else {
            return;
        };
        if packet.pool.is_inherited() {
            return;
        }
        if self.aborts {
            self.abort(&packet);
            simulation::access("has aborted a task");
        }
        packet.abandon(self.aborts);
    }
}
