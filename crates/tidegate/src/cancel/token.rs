//! The tokens themselves: how they are made, inherited, cancelled and checked.

use super::error::Cancelled;
use crate::task_local::TaskLocal;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tidegate_core::door::{Carried, nanos};
use tidegate_policy::Nanos;
use tidegate_sync::atomic::{AtomicBool, Ordering};
use tidegate_sync::clock;
use tidegate_sync::simulation;

/// The token of the running task; `None` inside [`shield`].
static TOKEN: TaskLocal<Option<CancelToken>> = TaskLocal::new();

/// A signal that requests tasks to stop. Cancellation is cooperative: a running task notices it
/// only when it checks its token.
///
/// A token applies to everything that is forked, spawned or awaited inside [`run`](Self::run).
/// There, the `try` functions, such as [`try_join`](crate::try_join) and
/// [`try_for_each`](crate::try_for_each), and intervals stop when the token is cancelled: closures
/// that have not begun are dropped. Other functions, such as [`join`](crate::join()), ignore the
/// token, because they must return results. A long task calls [`check_cancelled`] from time to
/// time.
///
/// Clones are the same token. A cancelled token stays cancelled. A task without a token makes no
/// checks and has no extra cost.
///
/// ```
/// use tidegate::{CancelToken, Cancelled, try_join};
///
/// let token = CancelToken::new();
/// let result = token.run(|| {
///     token.cancel();
///     try_join(|| 1, || 2)
/// });
/// assert_eq!(result, Err(Cancelled));
/// ```
#[derive(Clone)]
pub struct CancelToken(Arc<Node>);

struct Node {
    is_cancelled: AtomicBool,
    deadline: Option<Nanos>,
    parent: Option<CancelToken>,
}

impl CancelToken {
    /// Creates a token that depends on no other token.
    #[must_use]
    pub fn new() -> Self {
        Self::of(None, None)
    }

    fn of(parent: Option<Self>, deadline: Option<Nanos>) -> Self {
        Self(Arc::new(Node {
            is_cancelled: AtomicBool::new(false),
            deadline,
            parent,
        }))
    }

    /// Creates a token that is also cancelled when this one is. Cancelling the child does not
    /// cancel this token.
    ///
    /// ```
    /// use tidegate::CancelToken;
    ///
    /// let parent = CancelToken::new();
    /// let [first, second] = [parent.child(), parent.child()];
    /// first.cancel();
    /// assert!(!second.is_cancelled());
    /// parent.cancel();
    /// assert!(second.is_cancelled());
    /// ```
    #[must_use]
    pub fn child(&self) -> Self {
        Self::of(Some(self.clone()), None)
    }

    /// Creates a child that is also cancelled when `limit` has passed from now on.
    ///
    /// No timer runs; each check of the token reads the clock.
    ///
    /// ```
    /// use std::time::Duration;
    /// use tidegate::CancelToken;
    ///
    /// let token = CancelToken::new().child_with_deadline(Duration::from_millis(1));
    /// std::thread::sleep(Duration::from_millis(2));
    /// assert!(token.is_cancelled());
    /// ```
    #[must_use]
    pub fn child_with_deadline(&self, limit: Duration) -> Self {
        Self::of(Some(self.clone()), Some(deadline(limit)))
    }

    /// Returns the token of the running task, or `None` if it has none.
    ///
    /// ```
    /// use tidegate::CancelToken;
    ///
    /// assert!(CancelToken::current().is_none());
    /// let token = CancelToken::new();
    /// let is_cancelled = token.run(|| {
    ///     token.cancel();
    ///     CancelToken::current().map(|current| current.is_cancelled())
    /// });
    /// assert_eq!(is_cancelled, Some(true));
    /// ```
    #[must_use]
    pub fn current() -> Option<Self> {
        TOKEN.peek(Clone::clone)?
    }

    /// Cancels this token and its descendants.
    #[track_caller]
    pub fn cancel(&self) {
        simulation::access("cancels a token");
        // Release pairs with the Acquire in `is_cancelled`: a task that stops sees everything that
        // the cancelling thread wrote before.
        self.0.is_cancelled.store(true, Ordering::Release);
    }

    /// Returns whether this token or one of its ancestors was cancelled, or has reached its
    /// deadline.
    #[must_use]
    #[track_caller]
    pub fn is_cancelled(&self) -> bool {
        let is_cancelled = self.is_set();
        simulation::access("has looked at a token");
        is_cancelled
    }

    fn is_set(&self) -> bool {
        let is_past = |deadline| clock::now() >= deadline;
        self.is_or_descends(|it| it.was_cancelled_itself() || it.0.deadline.is_some_and(is_past))
    }

    /// Whether `is_it` holds for this token, or for its parent, and so on.
    fn is_or_descends(&self, is_it: impl Fn(&Self) -> bool) -> bool {
        let mut token = self;
        while !is_it(token) {
            match &token.0.parent {
                Some(parent) => token = parent,
                None => return false,
            }
        }
        true
    }

    /// Returns an error if the token [is cancelled](Self::is_cancelled).
    ///
    /// # Errors
    /// [`Cancelled`], if the token is cancelled.
    ///
    /// ```
    /// use tidegate::{CancelToken, Cancelled};
    ///
    /// let token = CancelToken::new();
    /// assert_eq!(token.check(), Ok(()));
    /// token.cancel();
    /// assert_eq!(token.check(), Err(Cancelled));
    /// ```
    #[track_caller]
    pub fn check(&self) -> Result<(), Cancelled> {
        if self.is_cancelled() {
            Err(Cancelled)
        } else {
            Ok(())
        }
    }

    /// Runs `f` under this token instead of the caller's. Returns the result of `f`, even if the
    /// token is cancelled.
    ///
    /// Cancelling the caller's token no longer stops `f`, unless this token is a
    /// [`child`](Self::child) of it.
    pub fn run<R>(&self, f: impl FnOnce() -> R) -> R {
        TOKEN.scope(Some(self.clone()), f)
    }

    /// Returns the context of a task that has this token.
    pub(crate) fn added_to(&self, carried: Carried) -> Carried {
        TOKEN.added_to(carried, Some(self.clone()))
    }

    /// Whether this token itself was cancelled. Unlike `is_cancelled`, this ignores its ancestors
    /// and deadlines.
    pub(super) fn was_cancelled_itself(&self) -> bool {
        // Acquire pairs with the Release in `cancel`.
        self.0.is_cancelled.load(Ordering::Acquire)
    }

    /// Whether the running task's token is this token or a descendant of it.
    pub(super) fn covers_task(&self) -> bool {
        let is_this = |token: &Self| Arc::ptr_eq(&token.0, &self.0);
        let descends = |it: &Option<Self>| it.as_ref().is_some_and(|it| it.is_or_descends(is_this));
        TOKEN.peek(descends).unwrap_or(false)
    }

    /// Runs `f` unless the token is cancelled. A panic of `f` cancels the token.
    pub(super) fn run_unless_cancelled<R>(&self, f: impl FnOnce() -> R) -> Result<R, Cancelled> {
        self.check()?;
        Ok(self.cancel_if_unwinding(f))
    }

    pub(super) fn cancel_if_unwinding<R>(&self, f: impl FnOnce() -> R) -> R {
        let guard = CancelOnDrop(self);
        let result = f();
        std::mem::forget(guard);
        result
    }
}

impl Default for CancelToken {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for CancelToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CancelToken")
            .field("is_cancelled", &self.is_set())
            .finish_non_exhaustive()
    }
}

struct CancelOnDrop<'a>(&'a CancelToken);

impl Drop for CancelOnDrop<'_> {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// Frees ancestors in a loop: recursion could overflow the stack, because their number is
/// unlimited.
impl Drop for Node {
    fn drop(&mut self) {
        let mut next = self.parent.take();
        while let Some(CancelToken(node)) = next {
            next = Arc::into_inner(node).and_then(|mut node| node.parent.take());
        }
    }
}

fn deadline(limit: Duration) -> Nanos {
    clock::now().saturating_add(nanos(limit))
}

/// Returns a child of the caller's token, or a token without a parent.
pub(super) fn child_of_current() -> CancelToken {
    CancelToken::of(CancelToken::current(), None)
}

/// Returns an error if the caller's token is cancelled. Without a token, returns `Ok`.
///
/// # Errors
/// [`Cancelled`], if the token is cancelled.
///
/// ```
/// use tidegate::{CancelToken, Cancelled, check_cancelled};
///
/// fn count() -> Result<u64, Cancelled> {
///     let mut sum = 0;
///     for n in 0_u64.. {
///         check_cancelled()?;
///         sum += n;
/// #       CancelToken::current().unwrap().cancel();
///     }
///     Ok(sum)
/// }
/// assert_eq!(CancelToken::new().run(count), Err(Cancelled));
/// assert_eq!(check_cancelled(), Ok(()));
/// ```
#[track_caller]
pub fn check_cancelled() -> Result<(), Cancelled> {
    let check = |token: &Option<CancelToken>| token.as_ref().map(CancelToken::check);
    TOKEN.peek(check).flatten().unwrap_or(Ok(()))
}

/// Runs `f` under a child of the caller's token that is cancelled after `limit`, which stops the
/// `try` functions, intervals, and tasks that call [`check_cancelled`], but nothing else.
///
/// [`join`](crate::join()) and loops such as [`for_each`](crate::for_each) and
/// [`any`](crate::any) run to their end, because they must return their results. To stop a loop,
/// use [`try_for_each`](crate::try_for_each) or [`try_par_map`](crate::try_par_map).
///
/// ```
/// use std::time::Duration;
/// use tidegate::{Cancelled, check_cancelled, with_deadline};
///
/// let wait = || -> Result<(), Cancelled> {
///     loop {
///         check_cancelled()?;
///     }
/// };
/// assert_eq!(with_deadline(Duration::from_millis(1), wait), Err(Cancelled));
/// ```
pub fn with_deadline<R>(limit: Duration, f: impl FnOnce() -> R) -> R {
    CancelToken::of(CancelToken::current(), Some(deadline(limit))).run(f)
}

/// Runs `f` without the caller's token: for a library whose work must be completed even if the
/// program no longer wants the result.
///
/// ```
/// use tidegate::{CancelToken, Cancelled, check_cancelled, shield};
///
/// let token = CancelToken::new();
/// token.cancel();
/// token.run(|| {
///     assert_eq!(check_cancelled(), Err(Cancelled));
///     assert_eq!(shield(check_cancelled), Ok(()));
/// });
/// ```
pub fn shield<R>(f: impl FnOnce() -> R) -> R {
    match CancelToken::current() {
        Some(_) => TOKEN.scope(None, f),
        None => f(),
    }
}
