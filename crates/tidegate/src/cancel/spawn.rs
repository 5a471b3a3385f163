//! Tasks with a token of their own.

use super::CancelToken;
use crate::spawn::Handle;

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
    pub fn spawn<T, F>(&self, f: F) -> Handle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let child = self.child();
        child.run(|| crate::spawn(f)).with_token(child.clone())
    }
}
