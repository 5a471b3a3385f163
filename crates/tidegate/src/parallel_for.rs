//! Loops that split only when somebody is hungry.
//!
//! The far half of what is left lies in the deque as one private task, so a thief always finds the biggest piece; the near
//! half is worked off in blocks, with a poll between blocks. While nobody is hungry a loop of n items costs log2(n)
//! pushes, not n. Block lengths grow until a block takes about [`BLOCK_TIME`], so that polls cost nothing and yet come often.
//!
//! `map_reduce` instead has a fixed tree over [`MAP_REDUCE_BLOCKS`] blocks, because the shape of the reduction is promised.

use crate::worker::WorkerThread;
use std::ops::Range;
use tidegate_policy::tunables::MAP_REDUCE_BLOCKS;
use tidegate_sync::atomic::{AtomicUsize, Ordering};
use tidegate_sync::clock;

/// About how long a block of a loop should take, in nanoseconds: long beside a poll and a clock read, short beside the
/// patience of a thief.
const BLOCK_TIME: u64 = 5_000;
/// How much longer than the last block the next may be.
const GROWTH: u64 = 64;

/// Something with items that [`for_each`] can visit: a range of numbers, a slice, a mutable slice.
pub trait Items: Send + Sized + private::Sealed {
    /// What the closure gets.
    type Item;
    #[doc(hidden)]
    fn count(&self) -> usize;
    #[doc(hidden)]
    fn cut(self, at: usize) -> (Self, Self);
    #[doc(hidden)]
    fn each(self, f: &impl Fn(Self::Item));
}

mod private {
    pub trait Sealed {}
    impl Sealed for std::ops::Range<usize> {}
    impl<T> Sealed for &[T] {}
    impl<T> Sealed for &mut [T] {}
}

impl Items for Range<usize> {
    type Item = usize;

    #[inline]
    fn count(&self) -> usize {
        self.len()
    }

    #[inline]
    fn cut(self, at: usize) -> (Self, Self) {
        let middle = self.start + at;
        (self.start..middle, middle..self.end)
    }

    #[inline]
    fn each(self, f: &impl Fn(usize)) {
        self.for_each(f);
    }
}

impl<'a, T: Sync> Items for &'a [T] {
    type Item = &'a T;

    #[inline]
    fn count(&self) -> usize {
        self.len()
    }

    #[inline]
    fn cut(self, at: usize) -> (Self, Self) {
        self.split_at(at)
    }

    #[inline]
    fn each(self, f: &impl Fn(&'a T)) {
        self.iter().for_each(f);
    }
}

impl<'a, T: Send> Items for &'a mut [T] {
    type Item = &'a mut T;

    #[inline]
    fn count(&self) -> usize {
        self.len()
    }

    #[inline]
    fn cut(self, at: usize) -> (Self, Self) {
        self.split_at_mut(at)
    }

    #[inline]
    fn each(self, f: &impl Fn(&'a mut T)) {
        self.iter_mut().for_each(f);
    }
}

/// How long the blocks of one loop should be; a hint that all who take part share and sharpen.
struct Pace(AtomicUsize);

impl Pace {
    fn new() -> Self {
        Self(AtomicUsize::new(1))
    }

    fn block(&self) -> usize {
        // Relaxed: a hint.
        self.0.load(Ordering::Relaxed)
    }

    /// Works off one block and learns from it; what is left, and when the block ended. `from`: when it begins.
    fn work<I: Items>(&self, items: I, f: &impl Fn(I::Item), from: u64) -> Option<(I, u64)> {
        let length = self.block().min(items.count());
        let (now, rest) = items.cut(length);
        let done = now.count() as u64;
        now.each(f);
        if rest.count() == 0 {
            return None;
        }
        let end = clock::now();
        let took = end.saturating_sub(from).max(1);
        let wanted = (done.saturating_mul(BLOCK_TIME) / took).clamp(1, done.saturating_mul(GROWTH));
        // Relaxed: a hint.
        self.0.store(
            usize::try_from(wanted).unwrap_or(usize::MAX),
            Ordering::Relaxed,
        );
        Some((rest, end))
    }
}

/// Visits `items`, splitting them as long as they are more than a block.
fn split<I: Items>(
    current: WorkerThread<'_>,
    items: I,
    f: &(impl Fn(I::Item) + Sync),
    pace: &Pace,
) {
    if items.count() <= pace.block() {
        items.each(f);
    } else {
        halve(current, items, f, pace);
    }
}

/// Offers the far half and works off the near one.
fn halve<I: Items>(
    current: WorkerThread<'_>,
    items: I,
    f: &(impl Fn(I::Item) + Sync),
    pace: &Pace,
) {
    let half = items.count().div_ceil(2);
    let (near, far) = items.cut(half);
    current.join_running(
        || work_off(current, near, f, pace),
        |current| split(current, far, f, pace),
    );
}

/// Visits `items` block by block, and splits what is left when somebody asks.
fn work_off<I: Items>(
    current: WorkerThread<'_>,
    mut items: I,
    f: &(impl Fn(I::Item) + Sync),
    pace: &Pace,
) {
    let mut from = clock::now();
    while let Some((rest, end)) = pace.work(items, f, from) {
        if current.deque().is_signalled() && rest.count() > 1 {
            // The push of the far half is the cold exit, which answers the signal.
            return halve(current, rest, f, pace);
        }
        (items, from) = (rest, end);
    }
}

/// Calls `f` with each item, in parallel as far as other workers have nothing to do.
///
/// Items are a `Range<usize>`, a `&[T]` or a `&mut [T]`. The order is not defined. Nobody is woken for a loop that the
/// caller finishes within some microseconds. A panic of `f` is resumed here, after all calls that had begun have ended; the
/// items that had not begun then may be left out.
///
/// ```
/// let mut squares = [0; 100];
/// let numbers: Vec<usize> = (0..100).collect();
/// tidegate::for_each(&mut squares[..], |s| *s += 1);
/// tidegate::for_each(&numbers[..], |n| assert!(*n < 100));
/// tidegate::for_each(0..100, |n| assert!(n < 100));
/// assert_eq!(squares, [1; 100]);
/// ```
pub fn for_each<I: Items, F: Fn(I::Item) + Sync>(items: I, f: F) {
    if items.count() == 0 {
        return;
    }
    let pace = Pace::new();
    let (f, pace) = (&f, &pace);
    match WorkerThread::get() {
        Some(current) => split(current, items, f, pace),
        None => for_each_outside(items, f, pace),
    }
}

/// The caller begins alone: most loops are over before a sleeper would have woken.
fn for_each_outside<I: Items>(mut items: I, f: &(impl Fn(I::Item) + Sync), pace: &Pace) {
    let begin = clock::now();
    let mut from = begin;
    while let Some((rest, end)) = pace.work(items, f, from) {
        if end.saturating_sub(begin) >= BLOCK_TIME {
            return crate::outside(move |current| split(current, rest, f, pace));
        }
        (items, from) = (rest, end);
    }
}

/// Maps each number of `range` and reduces the values; `None` if the range is empty.
///
/// The values are combined in a tree whose shape depends on the length of the range alone: the range is cut into blocks of
/// `ceil(len / 1024)` numbers, each block is reduced from left to right, and the blocks are reduced in a balanced binary
/// tree. So the result is the same, to the last bit of a floating-point sum, for any number of workers.
///
/// ```
/// let sum = tidegate::map_reduce(0..1_000_000, |i| i as f64 * 0.1, |a, b| a + b);
/// assert_eq!(sum, tidegate::map_reduce(0..1_000_000, |i| i as f64 * 0.1, |a, b| a + b));
/// assert_eq!(tidegate::map_reduce(0..0, |i| i, usize::max), None);
/// ```
pub fn map_reduce<T, M, R>(range: Range<usize>, map: M, reduce: R) -> Option<T>
where
    T: Send,
    M: Fn(usize) -> T + Sync,
    R: Fn(T, T) -> T + Sync,
{
    if range.is_empty() {
        return None;
    }
    let length = range.len().div_ceil(MAP_REDUCE_BLOCKS.default);
    let count = range.len().div_ceil(length);
    let tree = Tree {
        range,
        length,
        map: &map,
        reduce: &reduce,
    };
    if let Some(current) = WorkerThread::get() {
        return Some(tree.parallel(current, 0..count, None));
    }
    let from = clock::now();
    let first = tree.block(0);
    let took = clock::now().saturating_sub(from);
    if took.saturating_mul(count as u64) < BLOCK_TIME {
        return Some(tree.serial(0..count, Some(first)));
    }
    Some(crate::outside(move |current| {
        tree.parallel(current, 0..count, Some(first))
    }))
}

/// The blocks of a reduction. `first` below is the value of block 0, if it is known already.
struct Tree<'a, M, R> {
    range: Range<usize>,
    length: usize,
    map: &'a M,
    reduce: &'a R,
}

impl<T, M, R> Tree<'_, M, R>
where
    T: Send,
    M: Fn(usize) -> T + Sync,
    R: Fn(T, T) -> T + Sync,
{
    fn block(&self, number: usize) -> T {
        let start = self.range.start + number * self.length;
        let end = self.range.end.min(start.saturating_add(self.length));
        let rest = (start + 1..end).map(self.map);
        rest.fold((self.map)(start), self.reduce)
    }

    fn serial(&self, blocks: Range<usize>, first: Option<T>) -> T {
        if blocks.len() == 1 {
            return first.unwrap_or_else(|| self.block(blocks.start));
        }
        let middle = blocks.start + blocks.len() / 2;
        let left = self.serial(blocks.start..middle, first);
        let right = self.serial(middle..blocks.end, None);
        (self.reduce)(left, right)
    }

    fn parallel(&self, current: WorkerThread<'_>, blocks: Range<usize>, first: Option<T>) -> T {
        if blocks.len() == 1 {
            return first.unwrap_or_else(|| self.block(blocks.start));
        }
        let middle = blocks.start + blocks.len() / 2;
        let (left, right) = current.join_running(
            || self.parallel(current, blocks.start..middle, first),
            |current| self.parallel(current, middle..blocks.end, None),
        );
        (self.reduce)(left, right)
    }
}
