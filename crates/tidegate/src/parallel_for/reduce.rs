//! Reductions, in a tree over [`MAP_REDUCE_BLOCKS`] blocks. The documentation of [`map_reduce`]
//! promises the shape of the tree.

use super::BLOCK_TIME;
use super::items::ParallelItems;
use super::items::private::Piece;
use crate::owned::Storage;
use tidegate_core::door::{self, Carried, WorkerThread, carry};
use tidegate_policy::tunables::MAP_REDUCE_BLOCKS;
use tidegate_sync::clock;

/// Maps each item to a value and reduces the values to one. Returns `None` if there are no items.
///
/// [`ParallelItems`] lists what `items` may be. The call waits for the result. The free function
/// uses the pool of the calling task, or the global pool outside of any pool.
///
/// The values are combined in a tree whose shape depends only on the number of items. The items are
/// cut into blocks of `ceil(len / 1024)`, each block is reduced from left to right, and the results
/// are reduced in a balanced binary tree. So `reduce` must be associative but need not be
/// commutative, and a floating-point sum is the same to the last bit for any number of workers.
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
pub fn map_reduce<I, T, M, R>(items: I, map: M, reduce: R) -> Option<T>
where
    I: ParallelItems,
    T: Send,
    M: Fn(I::Item) -> T + Sync,
    R: Fn(T, T) -> T + Sync,
{
    let suspended = carry::carry_unless_visible();
    let mut storage = Storage::new();
    let pieces = items.pieces(&mut storage);
    let (tree, mut blocks) = plan(pieces, &map, &reduce, &suspended.carried)?;
    if let Some(current) = WorkerThread::get() {
        return Some(tree.parallel(current, blocks));
    }
    door::check_allowed("map_reduce");
    let count = blocks.count as u64;
    let from = clock::now();
    blocks = tree.begin(blocks);
    let took = clock::now().saturating_sub(from);
    // Most reductions finish before a sleeping worker would have woken.
    if took.saturating_mul(count) < BLOCK_TIME {
        return Some(tree.serial(blocks));
    }
    Some(door::outside("map_reduce", move |current| {
        tree.parallel(current, blocks)
    }))
}

/// Runs [`map_reduce`] on this worker.
pub(crate) fn map_reduce_on<I, T>(
    current: WorkerThread<'_>,
    items: I,
    map: &(impl Fn(I::Item) -> T + Sync),
    reduce: &(impl Fn(T, T) -> T + Sync),
    carried: &Carried,
) -> Option<T>
where
    I: ParallelItems,
    T: Send,
{
    let mut storage = Storage::new();
    let (tree, blocks) = plan(items.pieces(&mut storage), map, reduce, carried)?;
    Some(tree.parallel(current, blocks))
}

/// Cuts the items into blocks. Returns `None` if there are no items.
fn plan<'a, P: Piece, T, M, R>(
    items: P,
    map: &'a M,
    reduce: &'a R,
    carried: &'a Carried,
) -> Option<(Tree<'a, M, R>, Blocks<P, T>)> {
    if items.length() == 0 {
        return None;
    }
    let length = items.length().div_ceil(MAP_REDUCE_BLOCKS.default);
    let blocks = Blocks {
        count: items.length().div_ceil(length),
        items,
        first: None,
    };
    let tree = Tree {
        length,
        map,
        reduce,
        carried,
    };
    Some((tree, blocks))
}

struct Tree<'a, M, R> {
    /// The number of items in a block; the last block may have fewer.
    length: usize,
    map: &'a M,
    reduce: &'a R,
    /// The context in which `map` and `reduce` are called.
    carried: &'a Carried,
}

/// Consecutive blocks of a reduction.
struct Blocks<P, T> {
    count: usize,
    items: P,
    /// The value of the first block, if it has been computed; `items` then no longer includes that
    /// block.
    first: Option<T>,
}

impl<P: Piece, T> Blocks<P, T> {
    fn halve(self, length: usize) -> (Self, Self) {
        let near = self.count / 2;
        let left = near - usize::from(self.first.is_some());
        let (items, rest) = self.items.cut(left * length);
        let far = Self {
            count: self.count - near,
            items: rest,
            first: None,
        };
        let near = Self {
            count: near,
            items,
            first: self.first,
        };
        (near, far)
    }
}

impl<M, R> Tree<'_, M, R> {
    fn block<P, T>(&self, items: P) -> T
    where
        P: Piece,
        M: Fn(P::Item) -> T,
        R: Fn(T, T) -> T,
    {
        self.carried.run(|| {
            let mut items = items.into_iter();
            let first = items.next().expect("a block has an item");
            let first = (self.map)(first);
            items.map(self.map).fold(first, self.reduce)
        })
    }

    /// Computes the value of the first block.
    fn begin<P, T>(&self, blocks: Blocks<P, T>) -> Blocks<P, T>
    where
        P: Piece,
        M: Fn(P::Item) -> T,
        R: Fn(T, T) -> T,
    {
        let length = self.length.min(blocks.items.length());
        let (now, items) = blocks.items.cut(length);
        let first = Some(self.block(now));
        Blocks {
            items,
            first,
            ..blocks
        }
    }

    fn serial<P, T>(&self, blocks: Blocks<P, T>) -> T
    where
        P: Piece,
        M: Fn(P::Item) -> T,
        R: Fn(T, T) -> T,
    {
        if blocks.count == 1 {
            return blocks.first.unwrap_or_else(|| self.block(blocks.items));
        }
        let (left, right) = blocks.halve(self.length);
        let left = self.serial(left);
        let right = self.serial(right);
        self.carried.run(|| (self.reduce)(left, right))
    }

    fn parallel<P, T>(&self, current: WorkerThread<'_>, blocks: Blocks<P, T>) -> T
    where
        P: Piece,
        T: Send,
        M: Fn(P::Item) -> T + Sync,
        R: Fn(T, T) -> T + Sync,
    {
        if blocks.count == 1 {
            return blocks.first.unwrap_or_else(|| self.block(blocks.items));
        }
        let (left, right) = blocks.halve(self.length);
        let (left, right) = current.join_running(
            || self.parallel(current, left),
            |current| self.parallel(current, right),
        );
        self.carried.run(|| (self.reduce)(left, right))
    }
}
