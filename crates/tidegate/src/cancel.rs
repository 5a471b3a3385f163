//! Cancellation: tokens, and functions that stop when their token is cancelled.
//!
//! A token is a task-local value ([`crate::task_local`]), so the tree of tokens is the tree of
//! scopes: [`try_scope`](fn@try_scope) and the `try` loops make a child of the caller's token, and
//! everything below sees it. Cancelling sets one flag. A check reads the flags of the token and of
//! all its ancestors.

mod attempt;
mod error;
mod loops;
mod scope;
pub(crate) mod token;

pub use error::{Cancelled, TryError};
pub use loops::{try_for_each, try_map_reduce, try_par_map};
pub use scope::{TryScope, try_scope};
pub use token::{CancelToken, check_cancelled, shield, with_deadline};

/// Runs `a` and `b` like [`join`](crate::join()), unless the caller's token is cancelled before
/// they begin.
///
/// A closure that has not begun when the token is cancelled is dropped. A panic of one closure does
/// not cancel the other.
///
/// ```
/// use tidegate::{CancelToken, Cancelled, try_join};
///
/// assert_eq!(try_join(|| 1, || 2), Ok((1, 2)));
///
/// let token = CancelToken::new();
/// token.cancel();
/// assert_eq!(token.run(|| try_join(|| 1, || 2)), Err(Cancelled));
/// ```
///
/// # Errors
/// [`Cancelled`], if at least one of the closures was dropped.
///
/// # Panics
/// As in [`join`](crate::join()).
pub fn try_join<A, B, RA, RB>(a: A, b: B) -> Result<(RA, RB), Cancelled>
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    let Some(token) = CancelToken::current() else {
        return Ok(tidegate_core::join(a, b));
    };
    token.check()?;
    let (a, b) = tidegate_core::join(
        || token.check().map(|()| a()),
        || token.check().map(|()| b()),
    );
    Ok((a?, b?))
}
