//! Maps that collect their results in order. Each call writes its result to its final place.

use super::items::ParallelItems;
use super::items::private::Piece;
use super::{BLOCK_TIME, Loop};
use crate::results::{Made, Out, collect};
use tidegate_core::door::{self, WorkerThread, carry};
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
/// # What the compiler warns about
/// An unused result; [`for_each`](crate::for_each) computes none. The same holds for the other
/// loops that return a result.
/// ```compile_fail
/// #![deny(unused_must_use)]
/// tidegate::par_map(0..9, |n| println!("{n}"));
/// ```
///
/// # Panics
/// If `f` panics, resumes the first panic after all calls that had begun have ended. The values
/// made by then and the remaining items are dropped. Panics if there are more than `usize::MAX`
/// items, or if the vector would be larger than `isize::MAX` bytes.
#[must_use = "to visit the items without a result, use `for_each`"]
pub fn par_map<I, R, F>(items: I, f: F) -> Vec<R>
where
    I: ParallelItems,
    R: Send,
    F: Fn(I::Item) -> R + Sync,
{
    let suspended = carry::carry_unless_visible();
    let mut storage = I::Storage::default();
    let items = items.pieces(&mut storage);
    let length = items.length();
    // The longest inclusive range has one item more than its length.
    let (items, rest) = items.cut(length);
    assert_eq!(rest.length(), 0, "par_map takes at most usize::MAX items");
    let (f, all) = (&f, &Loop::new(&suspended.carried));
    collect(length, |out| {
        let whole = Part { items, out, f, all };
        match WorkerThread::get() {
            Some(current) => whole.split(current),
            None => whole.run_outside(),
        }
    })
}

/// Items of a map, and the places of their results.
struct Part<'f, 'o, I, R, F> {
    items: I,
    out: Out<'o, R>,
    f: &'f F,
    all: &'f Loop,
}

impl<'f, 'o, I, R, F> Part<'f, 'o, I, R, F>
where
    I: Piece,
    R: Send,
    F: Fn(I::Item) -> R + Sync,
{
    /// Starts on the caller alone, because most maps finish before a sleeping worker would have
    /// woken.
    fn run_outside(self) -> Made<'o, R> {
        door::check_allowed("par_map");
        let begin = clock::now();
        let is_late = |_: &I, now: u64| now.saturating_sub(begin) >= BLOCK_TIME;
        self.work_until(is_late, |rest| {
            door::outside("par_map", move |current| rest.split(current))
        })
    }

    /// Maps the items, and splits them if they exceed one block.
    fn split(self, current: WorkerThread<'_>) -> Made<'o, R> {
        if self.items.length() > self.all.pace.block() {
            return self.halve(current);
        }
        let mut made = Made::none(self.out);
        let Self { items, f, all, .. } = self;
        all.carried.run(|| made.extend(items.into_iter().map(f)));
        made
    }

    fn halve(self, current: WorkerThread<'_>) -> Made<'o, R> {
        let Self { f, all, .. } = self;
        let half = self.items.length().div_ceil(2);
        let (near, far) = self.items.cut(half);
        Made::halves(self.out, half, |near_out, far_out| {
            let part = |items, out| Part { items, out, f, all };
            let (near, far) = (part(near, near_out), part(far, far_out));
            current.join_running(|| near.work_off(current), |current| far.split(current))
        })
    }

    /// Maps the items block by block, and splits the rest when a thief requests work.
    fn work_off(self, current: WorkerThread<'_>) -> Made<'o, R> {
        let is_wanted = |rest: &I, _| current.is_signalled() && rest.length() > 1;
        self.work_until(is_wanted, |rest| rest.halve(current))
    }

    /// Maps the items block by block until `stop` returns true for the remaining items and the
    /// time. Then calls `finish` with these items.
    fn work_until(
        self,
        stop: impl Fn(&I, u64) -> bool,
        finish: impl for<'r> FnOnce(Part<'f, 'r, I, R, F>) -> Made<'r, R>,
    ) -> Made<'o, R> {
        let Self {
            mut items,
            out,
            f,
            all,
        } = self;
        let mut made = Made::none(out);
        let mut from = clock::now();
        let visit = |made: &mut Made<'o, R>, block: I| {
            made.extend(block.into_iter().map(f));
            true
        };
        while let Some((rest, end)) = all.work(items, |block| visit(&mut made, block), from) {
            if stop(&rest, end) {
                made.complete(|out| {
                    finish(Part {
                        items: rest,
                        out,
                        f,
                        all,
                    })
                });
                break;
            }
            (items, from) = (rest, end);
        }
        made
    }
}
