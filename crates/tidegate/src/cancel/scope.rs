//! Scopes that stop at the first error.

use super::{CancelToken, Cancelled, child_of_current, keep_first};
use std::fmt;
use std::sync::Arc;
use tidegate_core::Scope;
use tidegate_sync::atomic::{AtomicBool, Ordering};
use tidegate_sync::lock::Mutex;

/// Spawns tasks that may fail; created by [`try_scope`](fn@try_scope).
pub struct TryScope<'a, 'scope, E> {
    scope: &'a Scope<'scope>,
    shared: Arc<Shared<E>>,
}

struct Shared<E> {
    token: CancelToken,
    first_error: Mutex<Option<E>>,
    /// Whether the body or a task was dropped because the scope was cancelled.
    was_cut_short: AtomicBool,
}

impl<E> Shared<E> {
    /// Runs the body or a task, unless the scope is cancelled. Returns `None` if it was dropped or
    /// has failed.
    fn run<T>(&self, f: impl FnOnce() -> Result<T, E>) -> Option<T> {
        // The task may have been spawned under a descendant of the scope's token, such as a
        // deadline.
        let run = || {
            if self.token.covers_task() {
                f()
            } else {
                self.token.run(f)
            }
        };
        match self.token.run_unless_cancelled(run) {
            Ok(Ok(value)) => return Some(value),
            Ok(Err(error)) => self.fail(error),
            // Relaxed: read after the scope has ended.
            Err(Cancelled) => self.was_cut_short.store(true, Ordering::Relaxed),
        }
        None
    }

    /// Keeps the error if it is the first one, and cancels the scope.
    fn fail(&self, error: E) {
        keep_first(&self.first_error, error);
        self.token.cancel();
    }
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
    /// use tidegate::{Cancelled, try_scope};
    ///
    /// let mut squares = [1, 2, 3];
    /// let result = try_scope(|scope| {
    ///     for n in &mut squares {
    ///         scope.spawn(move |_| Ok(*n *= *n));
    ///     }
    ///     Ok(())
    /// });
    /// assert_eq!(result, Ok::<_, Cancelled>(()));
    /// assert_eq!(squares, [1, 4, 9]);
    /// ```
    pub fn spawn<F>(&self, f: F)
    where
        F: FnOnce(&TryScope<'_, 'scope, E>) -> Result<(), E> + Send + 'scope,
    {
        let shared = self.shared.clone();
        self.scope.spawn(move |scope| {
            let task = TryScope { scope, shared };
            task.shared.run(|| f(&task));
        });
    }

    /// Cancels the scope: tasks that have not begun are dropped, and nested functions stop. Running
    /// tasks continue until they check.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    /// use tidegate::{Cancelled, try_scope};
    ///
    /// let ran = AtomicUsize::new(0);
    /// let result = try_scope(|scope| {
    ///     scope.cancel();
    ///     for _ in 0..1_000 {
    ///         scope.spawn(|_| Ok(_ = ran.fetch_add(1, Ordering::Relaxed)));
    ///     }
    ///     Ok(())
    /// });
    /// assert_eq!(result, Err(Cancelled));
    /// assert_eq!(ran.into_inner(), 0);
    /// ```
    pub fn cancel(&self) {
        self.shared.token.cancel();
    }

    /// Returns the scope's token, for tasks outside the scope.
    ///
    /// ```
    /// use tidegate::{Cancelled, try_scope};
    ///
    /// let result = try_scope(|scope| {
    ///     let token = scope.token().clone();
    ///     std::thread::spawn(move || token.cancel()).join().unwrap();
    ///     scope.spawn(|_| unreachable!("the scope is cancelled"));
    ///     Ok(())
    /// });
    /// assert_eq!(result, Err(Cancelled));
    /// ```
    #[must_use]
    pub fn token(&self) -> &CancelToken {
        &self.shared.token
    }
}

impl<E> fmt::Debug for TryScope<'_, '_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TryScope")
            .field("token", &self.shared.token)
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
/// use tidegate::{Cancelled, try_scope};
///
/// #[derive(Debug)]
/// enum Error {
///     Number(ParseIntError),
///     Cancelled,
/// }
///
/// impl From<Cancelled> for Error {
///     fn from(_: Cancelled) -> Self {
///         Error::Cancelled
///     }
/// }
///
/// fn sum(texts: &[&str]) -> Result<u64, Error> {
///     let sum = AtomicU64::new(0);
///     try_scope(|scope| {
///         for text in texts {
///             scope.spawn(|_| {
///                 let number: u64 = text.parse().map_err(Error::Number)?;
///                 sum.fetch_add(number, Ordering::Relaxed);
///                 Ok(())
///             });
///         }
///         Ok::<_, Error>(())
///     })?;
///     Ok(sum.into_inner())
/// }
///
/// assert!(matches!(sum(&["6", "7"]), Ok(13)));
/// assert!(matches!(sum(&["6", "seven"]), Err(Error::Number(_))));
/// ```
///
/// # Errors
/// The first error. If there is none but `f` or a task was dropped, because [`TryScope::cancel`]
/// was called or the caller's token was cancelled, `E` made from [`Cancelled`].
///
/// # Panics
/// As in [`scope`](crate::scope()).
pub fn try_scope<'scope, F, T, E>(f: F) -> Result<T, E>
where
    F: FnOnce(&TryScope<'_, 'scope, E>) -> Result<T, E> + Send,
    T: Send,
    E: From<Cancelled> + Send + 'scope,
{
    let shared = Arc::new(Shared {
        token: child_of_current(),
        first_error: Mutex::new(None),
        was_cut_short: AtomicBool::new(false),
    });
    let value = tidegate_core::scope(|scope| {
        let shared = shared.clone();
        let body = TryScope { scope, shared };
        body.shared.run(|| f(&body))
    });
    let first_error = shared.first_error.lock().take();
    // Relaxed: the scope has ended, so all stores come before this load.
    let was_cut_short = shared.was_cut_short.load(Ordering::Relaxed);
    match (first_error, value) {
        (Some(error), _) => Err(error),
        (None, Some(value)) if !was_cut_short => Ok(value),
        (None, _) => Err(Cancelled.into()),
    }
}
