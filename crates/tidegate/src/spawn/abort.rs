//! What dropping a handle does to its task.

use super::Handle;
use super::packet::{Aborted, Packet};
use crate::unwind::{self, UnhandledPanic};

impl<T: Send + 'static> Handle<T> {
    /// Makes dropping the handle abort the task, for a result that is of no use to any other code.
    /// A handle that has returned its result aborts nothing.
    ///
    /// | the task | when the handle is dropped |
    /// |---|---|
    /// | has not begun | its closure is dropped, on the calling thread, and never runs |
    /// | runs, and was spawned with [`CancelToken::spawn`](crate::CancelToken::spawn) | its token is cancelled, and the task stops at its next check |
    /// | runs, and was spawned without a token | it continues; its result is dropped |
    /// | is a future | the future is dropped, on the calling thread, or after the poll if a thread polls it |
    ///
    /// An aborted task still counts for [`Builder::max_queued`](crate::Builder::max_queued) until a
    /// worker removes it from its queue. In a child made by `fork`, dropping the handle aborts
    /// nothing.
    ///
    /// ```
    /// use tidegate::{CancelToken, Cancelled, check_cancelled};
    ///
    /// let handle = CancelToken::new().spawn(|| -> Result<(), Cancelled> {
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
    fn abort(&self, packet: &Packet<T>) {
        match packet.abort(&self.pool) {
            Aborted::Unstarted(unstarted) => {
                if let Err(payload) = unwind::catch(|| drop(unstarted)) {
                    packet.report(payload, UnhandledPanic::Task, &self.pool);
                }
                self.pool.let_go();
            }
            Aborted::Running => {
                if let Some(token) = &self.token {
                    token.cancel();
                }
                if let Some(future) = packet.future() {
                    future.abort();
                }
            }
            Aborted::Over => {}
        }
    }
}

impl<T> Drop for Handle<T> {
    fn drop(&mut self) {
        let Some(packet) = self.packet.take() else {
            return;
        };
        if self.aborts && !self.pool.is_inherited() {
            self.abort(&packet);
        }
        if let Some(payload) = packet.abandon() {
            packet.report(payload, UnhandledPanic::Task, &self.pool);
        }
    }
}
