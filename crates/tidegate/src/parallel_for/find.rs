//! Loops that end once an item has been found.

use super::items::ParallelItems;
use super::{enumerate, visit_blocks};
use tidegate_sync::atomic::{AtomicBool, Ordering};
use tidegate_sync::lock::Mutex;

/// Returns an item for which `predicate` returns true, or `None` if there is none. If there are
/// several, returns any of them.
///
/// Once an item has been found, the other workers stop before their next items.
///
/// [`ParallelItems`] lists what `items` may be. The call waits for the result. The free function
/// uses the pool of the calling task, or the global pool outside of any pool. It wakes no worker
/// for a loop that the caller finishes within a few microseconds.
///
/// ```
/// let is_square = |n: &u32| n.isqrt().pow(2) == *n;
/// assert_eq!(tidegate::find_any(50..80, is_square), Some(64));
/// assert_eq!(tidegate::find_any(50..60, is_square), None);
/// ```
///
/// # Panics
/// If `predicate` panics, resumes the first panic after all calls that had begun have ended, even
/// if an item has been found.
#[must_use = "to visit the items without a result, use `for_each`"]
pub fn find_any<I: ParallelItems<Item: Send>>(
    items: I,
    predicate: impl Fn(&I::Item) -> bool + Sync,
) -> Option<I::Item> {
    first_found("find_any", items, |item| predicate(&item).then_some(item))
}

/// Returns whether `f` returns true for at least one item. Ends early like [`find_any`].
///
/// ```
/// assert!(tidegate::any(&[3, 4, 5], |n| n % 2 == 0));
/// ```
///
/// # Panics
/// Like [`find_any`].
#[must_use = "to visit the items without a result, use `for_each`"]
pub fn any<I: ParallelItems>(items: I, f: impl Fn(I::Item) -> bool + Sync) -> bool {
    first_found("any", items, |item| f(item).then_some(())).is_some()
}

/// Returns whether `f` returns true for all items. Ends early like [`find_any`].
///
/// ```
/// assert!(tidegate::all(&[4, 6, 8], |n| n % 2 == 0));
/// ```
///
/// # Panics
/// Like [`find_any`].
#[must_use = "to visit the items without a result, use `for_each`"]
pub fn all<I: ParallelItems>(items: I, f: impl Fn(I::Item) -> bool + Sync) -> bool {
    first_found("all", items, |item| (!f(item)).then_some(())).is_none()
}

/// Returns the index of an item for which `f` returns true, or `None` if there is none. If there
/// are several, returns the index of any of them. Ends early like [`find_any`].
///
/// ```
/// assert_eq!(tidegate::position_any(&["ebb", "flow"], |word| word.len() == 4), Some(1));
/// ```
///
/// # Panics
/// Like [`find_any`].
#[must_use = "to visit the items without a result, use `for_each`"]
pub fn position_any<I: ParallelItems>(
    items: I,
    f: impl Fn(I::Item) -> bool + Sync,
) -> Option<usize> {
    let items = enumerate(items);
    first_found("position_any", items, |(i, item)| f(item).then_some(i))
}

/// Returns the first value that `look` returns. `caller` is the function that the user called.
fn first_found<I: ParallelItems, R: Send>(
    caller: &'static str,
    items: I,
    look: impl Fn(I::Item) -> Option<R> + Sync,
) -> Option<R> {
    let mut storage = I::Storage::default();
    let found = Mutex::new(None);
    let is_found = AtomicBool::new(false);
    let visit = |(): &mut (), block: I::Piece<'_>| {
        for item in block {
            // Relaxed: a hint.
            if is_found.load(Ordering::Relaxed) {
                return false;
            }
            if let Some(value) = look(item) {
                is_found.store(true, Ordering::Relaxed);
                keep_first(&found, value);
                return false;
            }
        }
        true
    };
    visit_blocks(caller, items.pieces(&mut storage), &visit);
    found.into_inner()
}

/// Stores the value in `first`, unless an earlier value is already there.
pub(crate) fn keep_first<T>(first: &Mutex<Option<T>>, value: T) {
    let mut first = first.lock();
    let later = match &*first {
        None => first.replace(value),
        Some(_) => Some(value),
    };
    drop(first);
    // The value's destructor is user code, so it runs without the lock.
    drop(later);
}
