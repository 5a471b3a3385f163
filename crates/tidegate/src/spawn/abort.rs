//! How a handle aborts its task.

use super::Handle;
use super::packet::Drive;
use super::packet::word::{RUNNING, UNSTARTED};
use std::sync::Arc;

impl<T> Handle<T> {
    /// Aborts the task. A task that has not begun never begins. A running task only stops if it
    /// checks a token of its own.
    ///
    /// | the task | `abort` | [`join_result`](Self::join_result) afterwards |
    /// |---|---|---|
    /// | has not begun | its closure never runs; a worker drops it instead | returns [`Cancelled`](crate::Cancelled) as the payload, immediately |
    /// | runs, and has a token of its own ([`TaskBuilder::token`](crate::TaskBuilder::token)) | cancels that token; the task, and what it has spawned, stop at their next check | waits for the task, and returns what the task returns |
    /// | runs, and has none | does nothing | like that |
    /// | has ended | does nothing; detached tasks that the task has spawned continue | returns the result |
    /// | is a future | a worker drops the future, after the poll if a thread polls it; its own token is cancelled | waits for that, and returns `Cancelled` as the payload, unless that poll has completed the future, or the future had lost its last waker |
    ///
    /// [`join`](Self::join) and awaiting the handle wait for as long, and panic where `join_result`
    /// returns `Cancelled`.
    ///
    /// A task that has not begun stays in its queue until its turn comes. So it counts for
    /// [`Builder::max_queued`](crate::Builder::max_queued), and keeps the values that it has
    /// captured. A caller in the pool that waits for the closure's destructor must do so in
    /// [`blocking`](crate::blocking()), as for any other task. If no thread of the pool could be
    /// started, the thread that aborts the task acts as that worker. In a child made by `fork`,
    /// aborting a task of the parent does nothing.
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
    /// handle.abort(); // e.g. because a client has closed its connection
    /// match handle.join_result() {
    ///     Ok(result) => assert_eq!(result, Err(Cancelled)), // The task had begun.
    ///     Err(payload) => assert!(payload.is::<Cancelled>()),
    /// }
    /// ```
    pub fn abort(&self) {
        let Some(packet) = &self.packet else {
            return;
        };
        if packet.pool.is_inherited() {
            return;
        }
        let phase = packet.abort();
        if phase == UNSTARTED {
            packet.wake();
        }
        self.stop(phase);
    }

    /// Makes dropping the handle [abort](Self::abort) the task, even if the caller unwinds, or if a
    /// future that holds the handle is dropped. A handle that has returned its result aborts
    /// nothing.
    ///
    /// ```
    /// fn both<T: Send + 'static>(a: fn() -> T, b: fn() -> T) -> (T, T) {
    ///     let a = tidegate::spawn(a).abort_on_drop(); // aborted if `b` panics
    ///     let b = b();
    ///     (a.join(), b)
    /// }
    ///
    /// assert_eq!(both(|| 6, || 7), (6, 7));
    /// ```
    #[must_use = "dropping the handle aborts the task"]
    pub fn abort_on_drop(mut self) -> Self
    where
        T: Send + 'static,
    {
        self.aborts = true;
        self
    }

    /// Returns the future. `None` if the task is a closure, or if the future has been dropped.
    pub(super) fn future(&self) -> Option<Arc<dyn Drive>> {
        self.future.as_ref()?.upgrade()
    }

    /// Stops what runs, if the packet was in this phase when its task was aborted.
    fn stop(&self, phase: u32) {
        if phase == RUNNING {
            if let Some(token) = &self.token {
                token.cancel();
            }
            if let Some(future) = self.future() {
                future.abort();
            }
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
        let aborted = self.aborts.then(|| packet.abort());
        // Now, so that the end of a future wakes no task that awaited the handle.
        packet.abandon();
        if let Some(phase) = aborted {
            self.stop(phase);
        }
    }
}
