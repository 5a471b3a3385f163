//! Loops that stop at the first error.

use super::TryError;
use super::attempt::Attempt;
use crate::parallel_for::items::private::Piece;
use crate::parallel_for::{ParallelItems, Values, in_one, map_blocks, reduce_blocks, visit_blocks};

/// Calls `f` with each item, in parallel while other workers are idle, and stops at the first
/// error.
///
/// The loop and `f` run under a child of the caller's token. The first error or panic cancels this
/// child. Calls of `f` that have begun continue, unless they check the token. The caller's own
/// token is checked between blocks of items, which usually take a few microseconds. Items that were
/// not visited are dropped. In all other respects, this works like [`for_each`](crate::for_each).
///
/// ```
/// use tidegate::{TryError, try_for_each};
///
/// let check = |n: u32| if n % 2 == 0 { Ok(()) } else { Err(format!("{n} is odd")) };
/// assert_eq!(try_for_each([2, 4, 6], check), Ok(()));
/// assert_eq!(try_for_each([2, 5, 6], check), Err(TryError::Failed("5 is odd".into())));
/// ```
///
/// # Errors
/// The first error of `f`: if several calls fail, the one that was first in time, which may differ
/// between runs. If `f` returned no error, but some items were not visited because the
/// caller's token was cancelled, [`TryError::Cancelled`].
///
/// # Panics
/// If `f` panics, resumes the first panic after all calls that had begun have ended.
pub fn try_for_each<I: ParallelItems, E: Send>(
    items: I,
    f: impl Fn(I::Item) -> Result<(), E> + Sync,
) -> Result<(), TryError<E>> {
    let mut storage = I::Storage::default();
    let attempt = Attempt::new();
    let visit = |(): &mut (), block: I::Piece<'_>| attempt.run_each(block, &f).is_some();
    let items = items.pieces(&mut storage);
    attempt
        .token
        .run(|| visit_blocks("try_for_each", items, &visit));
    attempt.end(())
}

/// Maps each item to a value, in parallel, and returns the values in the order of the items, or the
/// first error. Stops like [`try_for_each`].
///
/// ```
/// let lengths = tidegate::try_par_map(&["6", "7"], |text| text.parse::<u32>());
/// assert_eq!(lengths, Ok(vec![6, 7]));
/// assert!(tidegate::try_par_map(&["6", "seven"], |text| text.parse::<u32>()).is_err());
/// ```
///
/// # Errors
/// Like [`try_for_each`].
///
/// # Panics
/// Like [`try_for_each`].
pub fn try_par_map<I: ParallelItems, R: Send, E: Send>(
    items: I,
    f: impl Fn(I::Item) -> Result<R, E> + Sync,
) -> Result<Vec<R>, TryError<E>> {
    let mut storage = I::Storage::default();
    let attempt = Attempt::new();
    let visit = |out: &mut Values<R>, block: I::Piece<'_>| {
        let push = |item| {
            out.0.push(f(item)?);
            Ok(())
        };
        attempt.run_each(block, push).is_some()
    };
    let items = items.pieces(&mut storage);
    let results = attempt
        .token
        .run(|| visit_blocks("try_par_map", items, &visit));
    attempt.end(in_one(results))
}

/// Maps each item to a value and reduces the values to one, or returns the first error. Returns
/// `None` if there are no items. Stops like [`try_for_each`].
///
/// The values are combined in the order of [`map_reduce`](crate::map_reduce).
///
/// ```
/// let number = |text: &&str| text.parse::<u32>();
/// let sum = |texts: &[&str]| tidegate::try_map_reduce(texts, number, |a, b| a + b);
/// assert_eq!(sum(&["6", "7"]), Ok(Some(13)));
/// assert!(sum(&["6", "seven"]).is_err());
/// ```
///
/// # Errors
/// Like [`try_for_each`].
///
/// # Panics
/// Like [`try_for_each`], also for `reduce`.
pub fn try_map_reduce<I: ParallelItems, T: Send, E: Send>(
    items: I,
    map: impl Fn(I::Item) -> Result<T, E> + Sync,
    reduce: impl Fn(T, T) -> T + Sync,
) -> Result<Option<T>, TryError<E>> {
    let mut storage = I::Storage::default();
    let attempt = Attempt::new();
    let block = |items: I::Piece<'_>| {
        let mut value: Option<T> = None;
        attempt.run_each(items, |item| {
            let next = map(item)?;
            value = Some(match value.take() {
                Some(value) => reduce(value, next),
                None => next,
            });
            Ok(())
        })?;
        value
    };
    let merge = |a: Option<T>, b: Option<T>| {
        let (a, b) = (a?, b?);
        attempt.run(|| Ok(reduce(a, b)))
    };
    let items = items.pieces(&mut storage);
    let blocks = map_blocks(items.length());
    let reduced = || reduce_blocks("try_map_reduce", blocks, items, &block, &merge);
    let value = attempt.token.run(reduced).flatten();
    attempt.end(value)
}
