//! Tasks with a token of their own.

use super::Pool;
use crate::cancel::token::CancelToken;
use crate::spawn::{self, Handle};
use std::panic::Location;
use tidegate_core::door::origin;

impl CancelToken {
    /// Spawns a task under a [`child`](Self::child) of this token, which the handle keeps for
    /// [`Handle::abort_on_drop`]. Otherwise like [`spawn`](fn@crate::spawn).
    ///
    /// The task begins even if the token is cancelled before. It stops where it checks its token.
    /// What the task spawns sees the child, too. So aborting the task while it runs also cancels
    /// its detached tasks, unless it spawned them under [`shield`](crate::shield). If the task has
    /// ended, they continue.
    ///
    /// Each check walks to the root of the tree of tokens. So if each task spawns its successor,
    /// use a token from outside instead of the task's own ([`current`](Self::current)).
    ///
    /// ```
    /// use tidegate::{CancelToken, Cancelled, check_cancelled};
    ///
    /// let requests = CancelToken::new();
    /// let request = requests.spawn(|| -> Result<(), Cancelled> {
    ///     loop {
    ///         check_cancelled()?;
    ///     }
    /// });
    /// requests.cancel();
    /// assert_eq!(request.join(), Err(Cancelled));
    /// ```
    #[track_caller]
    pub fn spawn<T, F>(&self, f: F) -> Handle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let (child, origin) = (self.child(), origin::at(Location::caller()));
        let handle = child.run(|| spawn::from_here("CancelToken::spawn", origin, f));
        handle.with_token(child)
    }

    /// Like [`spawn`](Self::spawn), in this pool. Called from outside the pool, it waits while more
    /// tasks are queued than [`Builder::max_queued`](crate::Builder::max_queued) allows.
    ///
    /// ```
    /// use tidegate::{CancelToken, Pool, check_cancelled};
    ///
    /// let pool = Pool::builder().workers(2).build()?;
    /// let request = CancelToken::new().spawn_in(&pool, check_cancelled);
    /// assert_eq!(request.join(), Ok(()));
    /// # Ok::<(), tidegate::BuildError>(())
    /// ```
    #[track_caller]
    pub fn spawn_in<T, F>(&self, pool: &Pool, f: F) -> Handle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let (child, origin) = (self.child(), origin::at(Location::caller()));
        let handle = child.run(|| pool.spawn_from(origin, f));
        handle.with_token(child)
    }
}
