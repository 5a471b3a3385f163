//! Tasks with a token of their own.

use super::CancelToken;
use crate::origin::Origin;
use crate::spawn::Handle;
use std::panic::Location;

impl CancelToken {
    /// Spawns a task under a [`child`](Self::child) of this token, which the handle keeps for
    /// [`Handle::abort_on_drop`]. Otherwise like [`spawn`](fn@crate::spawn).
    ///
    /// The task begins even if the token is cancelled before. It stops where it checks its token.
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
        let (child, origin) = (self.child(), Origin::at(Location::caller()));
        let handle = child.run(|| crate::spawn_from(origin, f));
        handle.with_token(child)
    }
}
