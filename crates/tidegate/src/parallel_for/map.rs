//! Maps that collect their results in order. Each call writes its result to its final place.

use super::items::ParallelItems;
use super::items::private::Piece;
use super::{BLOCK_TIME, Loop};
use crate::global;
use crate::owned::Storage;
use crate::results::{Made, Out, collect};
use crate::task_context;
use crate::worker::WorkerThread;
use tidegate_sync::clock;

/// Maps each item to a value, in parallel, and returns the values in the order of the items.
///
/// [`ParallelItems`] lists what `items` may be. The call waits for the result. The free function
/// uses the pool of the calling task, or the global pool outside of any pool. It wakes no worker
/// for a map that the caller finishes within a few microseconds.
///
/// The call allocates the vector once, and each value is written directly to its place in it.
///
/// ```
/// let words = ["ebb", "and", "flow"];
/// assert_eq!(tidegate::par_map(&words, |word| word.len()), [3, 3, 4]);
/// assert_eq!(tidegate::par_map(1..=4, |n| n * n), [1, 4, 9, 16]);
///
/// let names = vec![String::from("high"), String::from("low")];
/// assert_eq!(tidegate::par_map(names, |name| name + " tide"), ["high tide", "low tide"]);
/// ```
///
/// # Panics
/// If `f` panics, resumes the first panic after all calls that had begun have ended. The values
/// made by then and the remaining items are dropped. Panics if the vector would be larger than
/// `isize::MAX` bytes.
pub fn par_map<I, R, F>(items: I, f: F) -> Vec<R>
where
    I: ParallelItems,
    R: Send,
    F: Fn(I::Item) -> R + Sync,
{
    let suspended = task_context::carry_unless_visible();
    let mut storage = Storage::new();
    let items = items.pieces(&mut storage);
    let (f, all) = (&f, &Loop::new(&suspended.carried));
    collect(items.length(), |out| match WorkerThread::get() {
        Some(current) => split(current, items, out, f, all),
        None => outside(items, out, f, all),
    })
}

/// Runs [`par_map`] on this worker.
pub(crate) fn par_map_on<I: ParallelItems, R: Send>(
    current: WorkerThread<'_>,
    items: I,
    f: &(impl Fn(I::Item) -> R + Sync),
    all: &Loop,
) -> Vec<R> {
    let mut storage = Storage::new();
    let items = items.pieces(&mut storage);
    collect(items.length(), |out| split(current, items, out, f, all))
}

/// Starts the map on the caller alone, because most maps finish before a sleeping worker would have
/// woken.
fn outside<'a, I: Piece, R: Send>(
    items: I,
    out: Out<'a, R>,
    f: &(impl Fn(I::Item) -> R + Sync),
    all: &Loop,
) -> Made<'a, R> {
    global::check_allowed("par_map");
    let begin = clock::now();
    let is_late = |_: &I, now: u64| now.saturating_sub(begin) >= BLOCK_TIME;
    let (mut made, rest) = work_until(is_late, items, out, f, all);
    if let Some(rest) = rest {
        made.complete(|out| {
            crate::outside("par_map", move |current| split(current, rest, out, f, all))
        });
    }
    made
}

/// Maps `items`, and splits them if they exceed one block.
fn split<'a, I: Piece, R: Send>(
    current: WorkerThread<'_>,
    items: I,
    out: Out<'a, R>,
    f: &(impl Fn(I::Item) -> R + Sync),
    all: &Loop,
) -> Made<'a, R> {
    if items.length() > all.block() {
        return halve(current, items, out, f, all);
    }
    let mut made = Made::none(out);
    all.visit(items, |item| made.push(f(item)));
    made
}

fn halve<'a, I: Piece, R: Send>(
    current: WorkerThread<'_>,
    items: I,
    out: Out<'a, R>,
    f: &(impl Fn(I::Item) -> R + Sync),
    all: &Loop,
) -> Made<'a, R> {
    let half = items.length().div_ceil(2);
    let (near, far) = items.cut(half);
    Made::halves(out, half, |near_out, far_out| {
        current.join_running(
            || work_off(current, near, near_out, f, all),
            |current| split(current, far, far_out, f, all),
        )
    })
}

/// Maps `items` block by block, and splits the rest when a thief requests work.
fn work_off<'a, I: Piece, R: Send>(
    current: WorkerThread<'_>,
    items: I,
    out: Out<'a, R>,
    f: &(impl Fn(I::Item) -> R + Sync),
    all: &Loop,
) -> Made<'a, R> {
    let is_wanted = |rest: &I, _| current.deque().is_signalled() && rest.length() > 1;
    let (mut made, rest) = work_until(is_wanted, items, out, f, all);
    if let Some(rest) = rest {
        made.complete(|out| halve(current, rest, out, f, all));
    }
    made
}

/// Maps `items` block by block until `stop` returns true for the remaining items and the time.
/// Returns these items.
fn work_until<'a, I: Piece, R>(
    stop: impl Fn(&I, u64) -> bool,
    mut items: I,
    out: Out<'a, R>,
    f: &impl Fn(I::Item) -> R,
    all: &Loop,
) -> (Made<'a, R>, Option<I>) {
    let mut made = Made::none(out);
    let mut from = clock::now();
    while let Some((rest, end)) = all.work(items, |item| made.push(f(item)), from) {
        if stop(&rest, end) {
            return (made, Some(rest));
        }
        (items, from) = (rest, end);
    }
    (made, None)
}
