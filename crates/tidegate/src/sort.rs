//! Parallel sorts. The standard library sorts the pieces.

mod merge;
mod quick;

use crate::parallel_for::{enumerate, par_map};
use std::cmp::Ordering;
use tidegate_core::door::{self, Carried, WorkerThread, carry};

/// The longest slice that is never split. The standard library sorts 4096 integers in about 40 µs.
const PIECE: usize = if cfg!(miri) { 128 } else { 4096 };

/// How many items are compared without a branch: one for each bit of a mask.
const BLOCK: usize = u64::BITS as usize;

/// Sorts `slice` in parallel. Equal items keep their order.
///
/// The call allocates memory for as many items as the slice has. It uses the pool of the calling
/// task, or the global pool outside of any pool; call it in [`Pool::install`](crate::Pool::install)
/// to use another pool. Slices that are sorted, or strictly descending, take linear time. If equal
/// items need not keep their order, [`sort_unstable`] is faster and allocates nothing.
///
/// ```
/// let mut tides = [4, -1, 3, 0];
/// tidegate::sort(&mut tides);
/// assert_eq!(tides, [-1, 0, 3, 4]);
/// ```
///
/// # Panics
/// If a comparison panics, resumes the first panic. The slice then has the same items in an
/// unspecified order. May panic if the order of `T` is not total, like [`slice::sort`].
pub fn sort<T: Ord + Send>(slice: &mut [T]) {
    begin("sort", slice, &T::lt, &<[T]>::sort, merge::sort);
}

/// Like [`sort`], with a comparison function.
///
/// ```
/// let mut words = ["ebb", "a", "flood", "bay"];
/// tidegate::sort_by(&mut words, |a, b| a.len().cmp(&b.len()));
/// assert_eq!(words, ["a", "ebb", "bay", "flood"]);
/// ```
///
/// # Panics
/// Like [`sort`].
pub fn sort_by<T, F>(slice: &mut [T], compare: F)
where
    T: Send,
    F: Fn(&T, &T) -> Ordering + Sync,
{
    let is_less = |a: &T, b: &T| compare(a, b).is_lt();
    let serially = |slice: &mut [T]| slice.sort_by(&compare);
    begin("sort", slice, &is_less, &serially, merge::sort);
}

/// Like [`sort`], by a key. Calls `key` for each comparison; if that takes long, use
/// [`sort_by_cached_key`].
///
/// ```
/// let mut words = ["ebb", "a", "flood", "bay"];
/// tidegate::sort_by_key(&mut words, |word| word.len());
/// assert_eq!(words, ["a", "ebb", "bay", "flood"]);
/// ```
///
/// # Panics
/// Like [`sort`], also if `key` panics.
pub fn sort_by_key<T: Send, K: Ord>(slice: &mut [T], key: impl Fn(&T) -> K + Sync) {
    sort_by(slice, |a, b| key(a).cmp(&key(b)));
}

/// Like [`sort_by_key`], but calls `key` only once for each item, and keeps the results until the
/// slice is sorted.
///
/// ```
/// let mut numbers = [10, 9, 100];
/// tidegate::sort_by_cached_key(&mut numbers, |number| number.to_string());
/// assert_eq!(numbers, [10, 100, 9]);
/// ```
///
/// # Panics
/// Like [`sort`], also if `key` panics. The slice then keeps its order.
pub fn sort_by_cached_key<T: Send, K: Ord + Send>(slice: &mut [T], key: impl Fn(&T) -> K + Sync) {
    let mut keys = par_map(enumerate(&mut *slice), |(i, item)| (key(item), i));
    sort_unstable(&mut keys);
    for i in 0..keys.len() {
        // The item that belongs here may have been swapped away; follow it.
        let mut from = keys[i].1;
        while from < i {
            from = keys[from].1;
        }
        keys[i].1 = from;
        slice.swap(i, from);
    }
}

/// Sorts `slice` in parallel. Equal items may be reordered.
///
/// The call sorts in place and allocates nothing. It uses the pool of the calling task, or the
/// global pool outside of any pool; call it in [`Pool::install`](crate::Pool::install) to use
/// another pool. The result depends only on the items and their order, not on the number of
/// workers. Slices that are sorted, or strictly descending, take linear time.
///
/// ```
/// let mut tides = [4, -1, 3, 0];
/// tidegate::sort_unstable(&mut tides);
/// assert_eq!(tides, [-1, 0, 3, 4]);
/// ```
///
/// # Panics
/// If a comparison panics, resumes the first panic. The slice then has the same items in an
/// unspecified order. May panic if the order of `T` is not total, like
/// [`slice::sort_unstable`].
pub fn sort_unstable<T: Ord + Send>(slice: &mut [T]) {
    begin(
        "sort_unstable",
        slice,
        &T::lt,
        &<[T]>::sort_unstable,
        quick::sort,
    );
}

/// Like [`sort_unstable`], with a comparison function.
///
/// ```
/// let mut heights = [1.5, 0.2, 3.1];
/// tidegate::sort_unstable_by(&mut heights, |a, b| f64::total_cmp(b, a));
/// assert_eq!(heights, [3.1, 1.5, 0.2]);
/// ```
///
/// # Panics
/// Like [`sort_unstable`].
pub fn sort_unstable_by<T, F>(slice: &mut [T], compare: F)
where
    T: Send,
    F: Fn(&T, &T) -> Ordering + Sync,
{
    let is_less = |a: &T, b: &T| compare(a, b).is_lt();
    let serially = |slice: &mut [T]| slice.sort_unstable_by(&compare);
    begin("sort_unstable", slice, &is_less, &serially, quick::sort);
}

/// Like [`sort_unstable`], by a key. Calls `key` for each comparison; if that takes long, use
/// [`sort_by_cached_key`].
///
/// ```
/// let mut words = ["ebb", "a", "flood"];
/// tidegate::sort_unstable_by_key(&mut words, |word| word.len());
/// assert_eq!(words, ["a", "ebb", "flood"]);
/// ```
///
/// # Panics
/// Like [`sort_unstable`], also if `key` panics.
pub fn sort_unstable_by_key<T: Send, K: Ord>(slice: &mut [T], key: impl Fn(&T) -> K + Sync) {
    sort_unstable_by(slice, |a, b| key(a).cmp(&key(b)));
}

/// How a sort compares items.
struct Order<'a, L, S> {
    is_less: &'a L,
    /// Sorts a piece.
    serially: &'a S,
    /// The context in which the comparisons are called.
    carried: &'a Carried,
}

/// Sorts a slice that is short or has a simple order; otherwise calls `parallel` on a worker, with
/// the context of the caller.
fn begin<T, L, S>(
    call: &'static str,
    slice: &mut [T],
    is_less: &L,
    serially: &S,
    parallel: fn(WorkerThread<'_>, &mut [T], &Order<'_, L, S>),
) where
    T: Send,
    L: Fn(&T, &T) -> bool + Sync,
    S: Fn(&mut [T]) + Sync,
{
    if slice.len() > 1 && WorkerThread::get().is_none() {
        door::check_allowed(call);
    }
    if slice.len() <= PIECE || size_of::<T>() == 0 {
        // Items without a size have no order to be seen in.
        return serially(slice);
    }
    if is_chain(slice, |a, b| !is_less(b, a)) {
        return;
    }
    if is_chain(slice, |a, b| is_less(b, a)) {
        return slice.reverse();
    }
    let suspended = carry::carry_unless_visible();
    let order = Order {
        is_less,
        serially,
        carried: &suspended.carried,
    };
    match WorkerThread::get() {
        Some(current) => parallel(current, slice, &order),
        None => door::outside(call, |current| parallel(current, slice, &order)),
    }
}

/// Whether `holds` for each two neighbours. Polls after each piece, like a partition.
fn is_chain<T>(slice: &[T], holds: impl Fn(&T, &T) -> bool) -> bool {
    (0..slice.len()).step_by(PIECE).all(|begin| {
        // With the first item of the next piece.
        let end = slice.len().min(begin + PIECE + 1);
        // No branch within a block, so that comparisons of numbers are vectorized.
        let holds = (begin..end).step_by(BLOCK - 1).all(|at| {
            let block = slice[at..end.min(at + BLOCK)].windows(2);
            block.fold(true, |all, pair| all & holds(&pair[0], &pair[1]))
        });
        if let Some(current) = WorkerThread::get() {
            current.poll();
        }
        holds
    })
}
