//! Scopes that stop at the first error.

use super::attempt::Attempt;
use super::{CancelToken, TryError};
use std::fmt;
use std::sync::Arc;
use tidegate_core::Scope;

/// Spawns tasks that may fail; created by [`try_scope`](fn@try_scope).
pub struct TryScope<'a, 'scope, E> {
    scope: &'a Scope<'scope>,
    attempt: Arc<Attempt<E>>,
}

impl<'scope, E: Send + 'scope> TryScope<'_, 'scope, E> {
    /// Spawns a task that runs before the scope ends, unless the scope is cancelled before the task
    /// begins. An error or a panic of the task cancels the scope.
    ///
    /// The task has the caller's token if that is a descendant of the scope's, such as a deadline,
    /// and otherwise the scope's.
    ///
    /// In all other respects, this works like [`Scope::spawn`].
    ///
    /// ```
    /// use tidegate::{TryError, try_scope};
    ///
    /// let mut squares = [1, 2, 3];
    /// let result = try_scope(|scope| {
    ///     for n in &mut squares {
    ///         scope.spawn(move |_| Ok(*n *= *n));
    ///     }
    ///     Ok(())
    /// });
    /// assert_eq!(result, Ok::<_, TryError<()>>(()));
    /// assert_eq!(squares, [1, 4, 9]);
    /// ```
    pub fn spawn<F>(&self, f: F)
    where
        F: FnOnce(&TryScope<'_, 'scope, E>) -> Result<(), E> + Send + 'scope,
    {
        let attempt = self.attempt.clone();
        self.scope.spawn(move |scope| {
            let task = TryScope { scope, attempt };
            task.attempt.run(|| f(&task));
        });
    }

    /// Cancels the scope: tasks that have not begun are dropped, and nested functions stop. Running
    /// tasks continue until they check.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    /// use tidegate::{TryError, try_scope};
    ///
    /// let ran = AtomicUsize::new(0);
    /// let result = try_scope(|scope| {
    ///     scope.cancel();
    ///     for _ in 0..1_000 {
    ///         scope.spawn(|_| Ok(_ = ran.fetch_add(1, Ordering::Relaxed)));
    ///     }
    ///     Ok(())
    /// });
    /// assert_eq!(result, Err(TryError::<()>::Cancelled));
    /// assert_eq!(ran.into_inner(), 0);
    /// ```
    pub fn cancel(&self) {
        self.attempt.token.cancel();
    }

    /// Returns the scope's token, for tasks outside the scope.
    ///
    /// ```
    /// use tidegate::{TryError, try_scope};
    ///
    /// let result = try_scope(|scope| {
    ///     let token = scope.token().clone();
    ///     std::thread::spawn(move || token.cancel()).join().unwrap();
    ///     scope.spawn(|_| unreachable!("the scope is cancelled"));
    ///     Ok(())
    /// });
    /// assert_eq!(result, Err(TryError::<()>::Cancelled));
    /// ```
    #[must_use]
    pub fn token(&self) -> &CancelToken {
        &self.attempt.token
    }
}

impl<E> fmt::Debug for TryScope<'_, '_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TryScope")
            .field("token", &self.attempt.token)
            .finish_non_exhaustive()
    }
}

/// Calls `f` with a [`TryScope`], waits for its tasks, and returns the first error of `f` or of a
/// task. That error cancels the rest: tasks that have not begun are dropped.
///
/// `f` and the tasks run under a child of the caller's token, so nested calls stop, too. The scope
/// waits for running tasks. In all other respects, this works like [`scope`](crate::scope()).
///
/// ```
/// use std::num::ParseIntError;
/// use std::sync::atomic::{AtomicU64, Ordering};
/// use tidegate::{TryError, try_scope};
///
/// fn sum(texts: &[&str]) -> Result<u64, TryError<ParseIntError>> {
///     let sum = AtomicU64::new(0);
///     try_scope(|scope| {
///         for text in texts {
///             scope.spawn(|_| {
///                 sum.fetch_add(text.parse()?, Ordering::Relaxed);
///                 Ok(())
///             });
///         }
///         Ok::<_, ParseIntError>(())
///     })?;
///     Ok(sum.into_inner())
/// }
///
/// assert_eq!(sum(&["6", "7"]), Ok(13));
/// assert!(matches!(sum(&["6", "seven"]), Err(TryError::Failed(_))));
/// ```
///
/// # Errors
/// The first error. If there is none but `f` or a task was dropped, because [`TryScope::cancel`]
/// was called or the caller's token was cancelled, [`TryError::Cancelled`].
///
/// # Panics
/// As in [`scope`](crate::scope()).
pub fn try_scope<'scope, F, T, E>(f: F) -> Result<T, TryError<E>>
where
    F: FnOnce(&TryScope<'_, 'scope, E>) -> Result<T, E> + Send,
    T: Send,
    E: Send + 'scope,
{
    let attempt = Arc::new(Attempt::new());
    let value = tidegate_core::scope(|scope| {
        let attempt = attempt.clone();
        let body = TryScope { scope, attempt };
        body.attempt.run(|| f(&body))
    });
    let value = attempt.end(value)?;
    Ok(value.expect("the body has neither failed nor been dropped"))
}
