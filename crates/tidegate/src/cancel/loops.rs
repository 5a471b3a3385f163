//! Loops that stop at the first error.

use super::{CancelToken, Cancelled, child_of_current, keep_first};
use crate::parallel_for::{self, Loop, ParallelItems};
use tidegate_core::door::carry;
use tidegate_sync::lock::Mutex;

/// Calls `f` with each item, in parallel while other workers are idle, and stops at the first
/// error.
///
/// The loop and `f` run under a child of the caller's token. The first error or panic cancels this
/// child. Calls of `f` that have begun continue, unless they check the token. The caller's own
/// token is checked between blocks of items, which usually take a few microseconds. Items that were
/// not visited are dropped. In all other respects, this works like [`for_each`](crate::for_each).
///
/// ```
/// use tidegate::{Cancelled, try_for_each};
///
/// #[derive(Debug, PartialEq)]
/// enum Error {
///     Odd(u32),
///     Cancelled,
/// }
///
/// impl From<Cancelled> for Error {
///     fn from(_: Cancelled) -> Self {
///         Error::Cancelled
///     }
/// }
///
/// let check = |n: u32| if n % 2 == 0 { Ok(()) } else { Err(Error::Odd(n)) };
/// assert_eq!(try_for_each([2, 4, 6], check), Ok(()));
/// assert_eq!(try_for_each([2, 5, 6], check), Err(Error::Odd(5)));
/// ```
///
/// # Errors
/// The first error of `f`. If `f` returned no error, but some items were not visited because the
/// caller's token was cancelled, the error is [`Cancelled`], converted to `E`.
///
/// # Panics
/// If `f` panics, resumes the first panic after all calls that had begun have ended.
pub fn try_for_each<I, E, F>(items: I, f: F) -> Result<(), E>
where
    I: ParallelItems,
    E: From<Cancelled> + Send,
    F: Fn(I::Item) -> Result<(), E> + Sync,
{
    let token = child_of_current();
    let result = token.run(|| visit_until_cancelled(items, &f, &token));
    result.map_err(|error| error.unwrap_or_else(|| Cancelled.into()))
}

/// Returns the first error of `f`. If `f` returned no error but some items were not visited,
/// returns `Err(None)`.
fn visit_until_cancelled<I, E, F>(items: I, f: &F, token: &CancelToken) -> Result<(), Option<E>>
where
    I: ParallelItems,
    E: Send,
    F: Fn(I::Item) -> Result<(), E> + Sync,
{
    let suspended = carry::carry();
    let all = Loop::stopped_by(&suspended.carried, token.clone());
    let first_error = Mutex::new(None);
    let visit = |item| {
        if token.was_cancelled_itself() {
            return all.cut_short();
        }
        if let Err(error) = token.cancel_if_unwinding(|| f(item)) {
            keep_first(&first_error, error);
            token.cancel();
        }
    };
    parallel_for::visit_all(items, &visit, &all);
    match first_error.into_inner() {
        Some(error) => Err(Some(error)),
        None if all.was_cut_short() => Err(None),
        None => Ok(()),
    }
}
