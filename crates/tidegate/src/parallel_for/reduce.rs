//! Reductions, in a tree over a number of blocks that depends only on the number of items. The
//! documentation of [`map_reduce`] and [`fold_reduce`] promises the shape of the tree.

use super::items::ParallelItems;
use super::items::private::Piece;
use super::{BLOCK_TIME, Pace};
use std::cmp::Ordering;
use std::iter::{self, Sum};
use std::marker::PhantomData;
use tidegate_core::door::{self, Carried, WorkerThread, carry};
use tidegate_policy::tunables::{FOLD_REDUCE_BLOCKS, MAP_REDUCE_BLOCKS};
use tidegate_sync::clock;

/// Maps each item to a value and reduces the values to one. Returns `None` if there are no items.
///
/// [`ParallelItems`] lists what `items` may be. The call waits for the result. The free function
/// uses the pool of the calling task. Outside of any pool it uses the global pool, unless the
/// caller alone finishes within some 10 us.
///
/// The values are combined in a tree whose shape depends only on the number of items. The items are
/// cut into blocks of equal length, the last of which may be shorter: up to 131,072 items into at
/// most 256 blocks, up to 524,288 items into blocks of 512, and beyond that into at most 1,024
/// blocks. Each block is reduced from left to right, and the results are reduced in a balanced
/// binary tree. So `reduce` must be associative but need not be commutative, and a floating-point
/// sum is the same to the last bit for any number of workers.
///
/// ```
/// let sum = || tidegate::map_reduce(0..1_000_000, |i| i as f64 * 0.1, |a, b| a + b);
/// assert_eq!(sum(), sum());
///
/// let words = ["tide", "gate"];
/// let letters = tidegate::map_reduce(&words, |word| word.len(), |a, b| a + b);
/// assert_eq!(letters, Some(8));
/// assert_eq!(tidegate::map_reduce(0..0, |i| i, i32::max), None);
/// ```
///
/// # Panics
/// If `map` or `reduce` panics, resumes the first panic after all calls that had begun have ended.
/// The remaining values and items are dropped.
#[must_use = "to visit the items without a result, use `for_each`"]
pub fn map_reduce<I, T, M, R>(items: I, map: M, reduce: R) -> Option<T>
where
    I: ParallelItems,
    T: Send,
    M: Fn(I::Item) -> T + Sync,
    R: Fn(T, T) -> T + Sync,
{
    map_reduce_for("map_reduce", items, &map, &reduce)
}

/// Runs [`map_reduce`] for `caller`, the function that the user called.
fn map_reduce_for<I: ParallelItems, T: Send>(
    caller: &'static str,
    items: I,
    map: &(impl Fn(I::Item) -> T + Sync),
    reduce: &(impl Fn(T, T) -> T + Sync),
) -> Option<T> {
    let mut storage = I::Storage::default();
    let block = |items: I::Piece<'_>| {
        let mut items = items.into_iter();
        let mut all = map(items.next().expect("a block has an item"));
        for item in items {
            all = reduce(all, map(item));
        }
        all
    };
    let items = items.pieces(&mut storage);
    reduce_blocks(caller, map_blocks(items.length()), items, &block, &reduce)
}

/// Returns into at most how many blocks [`map_reduce`] cuts this many items: fewer than 1,024 if
/// blocks then have 512 items, because a block costs as much as several cheap items; but no fewer
/// than 256, because items may take long.
pub(crate) fn map_blocks(items: usize) -> usize {
    let most = MAP_REDUCE_BLOCKS.default;
    items.div_ceil(512).clamp(most / 4, most)
}

/// Folds the items into accumulators, and merges the accumulators into one. Returns `init()` if
/// there are no items.
///
/// [`ParallelItems`] lists what `items` may be. The call waits for the result. The free function
/// uses the pool of the calling task. Outside of any pool it uses the global pool, unless the
/// caller alone finishes within some 10 us.
///
/// The items are cut into at most 32 blocks of equal length, the last of which may be shorter. Each
/// block has its own accumulator, which `init` creates and to which `fold` adds the items from left
/// to right. The accumulators are merged in a balanced binary tree. The blocks and the tree depend
/// only on the number of items, so the result is the same for any number of workers, even for
/// floating-point numbers. It equals a sequential fold if `merge` is associative and `init()` is
/// its identity.
///
/// At most 32 workers can take part. [`map_reduce`] cuts up to 1,024 blocks, but creates a value
/// for each item.
///
/// ```
/// use std::collections::HashMap;
///
/// let words = ["ebb", "flow", "ebb"];
/// let counts = tidegate::fold_reduce(
///     &words,
///     HashMap::new,
///     |mut counts, word| {
///         *counts.entry(*word).or_insert(0) += 1;
///         counts
///     },
///     |mut counts, more| {
///         for (word, n) in more {
///             *counts.entry(word).or_insert(0) += n;
///         }
///         counts
///     },
/// );
/// assert_eq!(counts["ebb"], 2);
/// ```
///
/// # Panics
/// If a closure panics, resumes the first panic after all calls that had begun have ended. The
/// remaining accumulators and items are dropped.
#[must_use = "to visit the items without a result, use `for_each`"]
pub fn fold_reduce<I: ParallelItems, A: Send>(
    items: I,
    init: impl Fn() -> A + Sync,
    fold: impl Fn(A, I::Item) -> A + Sync,
    merge: impl Fn(A, A) -> A + Sync,
) -> A {
    let mut storage = I::Storage::default();
    // A loop, because `Iterator::fold(.., &fold)` is not inlined and would move the accumulator for
    // each item.
    let block = |items: I::Piece<'_>| {
        let mut all = init();
        for item in items {
            all = fold(all, item);
        }
        all
    };
    let blocks = FOLD_REDUCE_BLOCKS.default;
    reduce_blocks(
        "fold_reduce",
        blocks,
        items.pieces(&mut storage),
        &block,
        &merge,
    )
    .unwrap_or_else(&init)
}

/// Adds up the values that `map` returns for the items.
///
/// [`ParallelItems`] lists what `items` may be. The values are added in the order of
/// [`map_reduce`], so a floating-point sum is the same to the last bit for any number of workers.
///
/// ```
/// let words = ["tide", "gate"];
/// assert_eq!(tidegate::sum(&words, |word| word.len()), 8);
/// ```
///
/// # Panics
/// Like [`map_reduce`]. In a build with overflow checks, also if the sum overflows.
#[must_use = "to visit the items without a result, use `for_each`"]
pub fn sum<I: ParallelItems, S: Sum + Send>(items: I, map: impl Fn(I::Item) -> S + Sync) -> S {
    let mut storage = I::Storage::default();
    let block = |items: I::Piece<'_>| items.into_iter().map(&map).sum();
    let add = |a, b| [a, b].into_iter().sum();
    let items = items.pieces(&mut storage);
    reduce_blocks("sum", map_blocks(items.length()), items, &block, &add)
        .unwrap_or_else(|| iter::empty().sum())
}

/// Returns the smallest item, or `None` if there are no items. Of several equally small items,
/// returns the first.
///
/// ```
/// let heights = [1.5, 0.2, 3.1];
/// assert_eq!(tidegate::min_by(heights, f64::total_cmp), Some(0.2));
/// assert_eq!(tidegate::min_by(&[3, 2], Ord::cmp), Some(&2));
/// ```
///
/// # Panics
/// Like [`map_reduce`].
#[must_use = "to visit the items without a result, use `for_each`"]
pub fn min_by<I: ParallelItems<Item: Send>>(
    items: I,
    compare: impl Fn(&I::Item, &I::Item) -> Ordering + Sync,
) -> Option<I::Item> {
    let smaller = |a, b| if compare(&a, &b).is_le() { a } else { b };
    map_reduce_for("min_by", items, &|item| item, &smaller)
}

/// Returns the greatest item, or `None` if there are no items. Of several equally great items,
/// returns the last.
///
/// ```
/// let words = ["low", "high"];
/// assert_eq!(tidegate::max_by(&words, |a, b| a.len().cmp(&b.len())), Some(&"high"));
/// ```
///
/// # Panics
/// Like [`map_reduce`].
#[must_use = "to visit the items without a result, use `for_each`"]
pub fn max_by<I: ParallelItems<Item: Send>>(
    items: I,
    compare: impl Fn(&I::Item, &I::Item) -> Ordering + Sync,
) -> Option<I::Item> {
    let greater = |a, b| if compare(&a, &b).is_gt() { a } else { b };
    map_reduce_for("max_by", items, &|item| item, &greater)
}

/// Reduces the items in a tree over at most `blocks` blocks, whose values `block` returns. Returns
/// `None` if there are no items. `caller` is the function that the user called.
pub(crate) fn reduce_blocks<P: Piece, T: Send>(
    caller: &'static str,
    blocks: usize,
    items: P,
    block: &(impl Fn(P) -> T + Sync),
    reduce: &(impl Fn(T, T) -> T + Sync),
) -> Option<T> {
    if items.length() == 0 {
        return None;
    }
    let suspended = carry::carry_unless_visible();
    let length = items.length().div_ceil(blocks);
    let count = items.length().div_ceil(length);
    let mut tree = Tree {
        caller,
        late_at: u64::MAX,
        eighth: (count / 8).max(1),
        length,
        block,
        reduce,
        pace: Pace::new(),
        carried: &suspended.carried,
        types: PhantomData,
    };
    if let Some(current) = WorkerThread::get() {
        return Some(tree.parallel(current, Blocks { count, items }));
    }
    door::check_allowed(caller);
    // Most reductions finish before a sleeping worker would have woken. So the caller reduces one
    // block, then doubles that subtree again and again. It leaves the rest to the pool if the next
    // subtree is likely to be long, unless all of the rest is likely to be short; and once it is
    // late.
    let begin = clock::now();
    tree.late_at = begin.saturating_add(2 * BLOCK_TIME);
    let (first, mut items) = items.cut(length);
    let mut value = tree.carried.run(|| block(first));
    let mut finishes = false;
    for level in (0..count.ilog2()).rev() {
        let (led, next) = (count >> (level + 1), count >> level);
        let now = clock::now();
        let took = now.saturating_sub(begin);
        let is_short = |blocks| took.saturating_mul(blocks as u64) / (led as u64) < BLOCK_TIME;
        finishes |= is_short(count - led);
        if now >= tree.late_at || !(finishes || is_short(next)) {
            let lead = Lead { led, value };
            let run = move |current: WorkerThread<'_>| {
                tree.follow(current, lead, Blocks { count, items })
            };
            return Some(door::outside(caller, run));
        }
        let at = ((next - led) * length).min(items.length());
        let (near, rest) = items.cut(at);
        items = rest;
        let blocks = Blocks {
            count: next - led,
            items: near,
        };
        let right = tree.serial(None, blocks);
        value = tree.carried.run(|| reduce(value, right));
    }
    Some(value)
}

/// How many blocks are reduced between two polls, at most.
const RUN: usize = 16;

struct Tree<'a, P, T, B, R> {
    /// The function that the user called.
    caller: &'static str,
    /// When a caller outside leaves the rest to the pool.
    late_at: u64,
    /// A caller outside looks at the clock after each eighth of the blocks and each first subtree.
    eighth: usize,
    /// The number of items in a block; the last block may have fewer.
    length: usize,
    /// Returns the value of a block.
    block: &'a B,
    reduce: &'a R,
    /// How many blocks take about [`BLOCK_TIME`].
    pace: Pace,
    /// The context in which `block` and `reduce` are called.
    carried: &'a Carried,
    types: PhantomData<fn(P) -> T>,
}

/// Consecutive blocks of a reduction.
struct Blocks<P> {
    count: usize,
    items: P,
}

impl<P: Piece> Blocks<P> {
    /// Cuts the blocks in two halves. The first `led` blocks have no items any more.
    fn halve(self, led: usize, length: usize) -> (Self, Self) {
        let near = self.count / 2;
        let (items, rest) = self.items.cut((near - led) * length);
        let far = Self {
            count: self.count - near,
            items: rest,
        };
        (Self { count: near, items }, far)
    }
}

/// The value of the first `led` blocks, which are a subtree.
struct Lead<T> {
    led: usize,
    value: T,
}

impl<P, T, B, R> Tree<'_, P, T, B, R>
where
    P: Piece,
    T: Send,
    B: Fn(P) -> T + Sync,
    R: Fn(T, T) -> T + Sync,
{
    /// Reduces the blocks, some of which the caller outside has reduced.
    fn follow(&self, current: WorkerThread<'_>, lead: Lead<T>, blocks: Blocks<P>) -> T {
        if lead.led == blocks.count {
            return lead.value;
        }
        let (left, right) = blocks.halve(lead.led, self.length);
        self.join(current, || self.follow(current, lead, left), right)
    }

    /// Reduces the blocks. A worker reduces as many as take about [`BLOCK_TIME`] without a fork.
    fn parallel(&self, current: WorkerThread<'_>, blocks: Blocks<P>) -> T {
        if blocks.count > self.pace.block() {
            return self.fork(current, blocks);
        }
        let count = blocks.count;
        let begin = clock::now();
        let value = self.serial(Some(current), blocks);
        self.pace.adapt(count, begin, clock::now());
        value
    }

    fn fork(&self, current: WorkerThread<'_>, blocks: Blocks<P>) -> T {
        let (left, right) = blocks.halve(0, self.length);
        self.join(current, || self.parallel(current, left), right)
    }

    /// Reduces the blocks beside what `left` returns, and both values to one.
    #[inline(always)]
    fn join(&self, current: WorkerThread<'_>, left: impl FnOnce() -> T, right: Blocks<P>) -> T {
        let right = |current: WorkerThread<'_>| self.parallel(current, right);
        let (left, right) = current.join_running(left, right);
        self.carried.run(|| (self.reduce)(left, right))
    }

    /// Reduces the blocks without a fork until a thief requests work.
    fn serial(&self, current: Option<WorkerThread<'_>>, blocks: Blocks<P>) -> T {
        if blocks.count <= self.eighth.min(RUN) {
            return self.carried.run(|| self.run(blocks.count, blocks.items));
        }
        let (left, right) = blocks.halve(0, self.length);
        let left = self.serial(current, left);
        let right = match current {
            Some(current) if current.is_signalled() && right.count > 1 => self.fork(current, right),
            // Later blocks take longer than the first.
            None if right.count >= self.eighth && clock::now() >= self.late_at => {
                door::outside(self.caller, move |current| self.parallel(current, right))
            }
            _ => self.serial(current, right),
        };
        self.carried.run(|| (self.reduce)(left, right))
    }

    /// Reduces `count` blocks in the current context.
    fn run(&self, count: usize, items: P) -> T {
        if count == 1 {
            return (self.block)(items);
        }
        // Half as many calls of this function: a quarter less for 1,000 cheap items.
        if count == 2 {
            let (items, rest) = items.cut(self.length);
            return (self.reduce)((self.block)(items), (self.block)(rest));
        }
        let near = count / 2;
        let (items, rest) = items.cut(near * self.length);
        let left = self.run(near, items);
        (self.reduce)(left, self.run(count - near, rest))
    }
}
