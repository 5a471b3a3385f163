//! The merge sort behind `sort`.

use super::{Order, PIECE};
use std::mem::{self, MaybeUninit};
use std::ptr;
use tidegate_core::door::WorkerThread;

/// Sorts `slice` in this order. Equal items keep their order.
pub(super) fn sort<T, L, S>(current: WorkerThread<'_>, slice: &mut [T], order: &Order<'_, L, S>)
where
    T: Send,
    L: Fn(&T, &T) -> bool + Sync,
    S: Fn(&mut [T]) + Sync,
{
    let pieces = 4 * current.pool().wanted();
    let piece = (slice.len() / pieces).clamp(PIECE, 64 * PIECE);
    let mut spare = Vec::with_capacity(slice.len());
    let spare = &mut spare.spare_capacity_mut()[..slice.len()];
    MergeSort { piece, order }.sort(current, slice, spare);
}

struct MergeSort<'a, L, S> {
    /// The longest slice that is not split. The order of the result is unique, so this may depend
    /// on the number of workers.
    piece: usize,
    order: &'a Order<'a, L, S>,
}

/// Bits of items. Only one of two copies of an item is used as one.
type Bits<T> = [MaybeUninit<T>];

impl<L, S> MergeSort<'_, L, S> {
    fn sort<T>(&self, current: WorkerThread<'_>, slice: &mut [T], spare: &mut Bits<T>)
    where
        T: Send,
        L: Fn(&T, &T) -> bool + Sync,
        S: Fn(&mut [T]) + Sync,
    {
        if slice.len() <= self.piece {
            return self.order.carried.run(|| (self.order.serially)(slice));
        }
        let middle = slice.len() / 2;
        let (left, right) = slice.split_at_mut(middle);
        let (spare_left, spare_right) = spare.split_at_mut(middle);
        current.join_running(
            || self.sort(current, left, spare_left),
            |current| self.sort(current, right, spare_right),
        );
        let is_less = |a: &T, b: &T| self.order.carried.run(|| (self.order.is_less)(a, b));
        if !is_less(&right[0], &left[middle - 1]) {
            return;
        }
        // SAFETY: `Merge` writes every item back, even if a comparison panics.
        let slice = unsafe { &mut *(ptr::from_mut(slice) as *mut Bits<T>) };
        for (spare, item) in spare.iter_mut().zip(&*slice) {
            *spare = copy(item);
        }
        let (left, right) = spare.split_at_mut(middle);
        let merge = Merge {
            left,
            right,
            into: slice,
        };
        self.merge(current, merge);
    }

    /// Merges both sides, in parallel if they are long.
    fn merge<T>(&self, current: WorkerThread<'_>, mut merge: Merge<'_, T>)
    where
        T: Send,
        L: Fn(&T, &T) -> bool + Sync,
        S: Sync,
    {
        if merge.into.len() <= self.piece {
            self.order.carried.run(|| merge.run(self.order.is_less));
            drop(merge);
            return current.poll();
        }
        let (near, far) = self.order.carried.run(|| merge.split(self.order.is_less));
        current.join_running(
            || self.merge(current, near),
            |current| self.merge(current, far),
        );
    }
}

/// Two sorted parts, and the place for their items. When this is dropped, it copies all items there
/// that are left.
struct Merge<'a, T> {
    left: &'a mut Bits<T>,
    right: &'a mut Bits<T>,
    /// As long as both parts together.
    into: &'a mut Bits<T>,
}

impl<T> Merge<'_, T> {
    /// Moves items until one part is empty.
    fn run(&mut self, is_less: &impl Fn(&T, &T) -> bool) {
        while let ([left, ..], [right, ..]) = (&*self.left, &*self.right) {
            let takes_right = is_less(item(right), item(left));
            self.into[0] = copy(if takes_right { right } else { left });
            skip(&mut self.left, usize::from(!takes_right));
            skip(&mut self.right, usize::from(takes_right));
            skip(&mut self.into, 1);
        }
    }

    /// Splits both parts so that no item of the first half is greater than one of the second.
    fn split(&mut self, is_less: &impl Fn(&T, &T) -> bool) -> (Self, Self) {
        let at = if self.left.len() >= self.right.len() {
            let left = self.left.len() / 2;
            let pivot = item(&self.left[left]);
            // Equal items of the left part come first.
            let is_before = |right: &MaybeUninit<T>| is_less(item(right), pivot);
            [left, self.right.partition_point(is_before)]
        } else {
            let right = self.right.len() / 2;
            let pivot = item(&self.right[right]);
            let is_before = |left: &MaybeUninit<T>| !is_less(pivot, item(left));
            [self.left.partition_point(is_before), right]
        };
        let (near_left, left) = mem::take(&mut self.left).split_at_mut(at[0]);
        let (near_right, right) = mem::take(&mut self.right).split_at_mut(at[1]);
        let (near_into, into) = mem::take(&mut self.into).split_at_mut(at[0] + at[1]);
        let near = Self {
            left: near_left,
            right: near_right,
            into: near_into,
        };
        (near, Self { left, right, into })
    }
}

impl<T> Drop for Merge<'_, T> {
    fn drop(&mut self) {
        let rest = self.left.iter().chain(&*self.right);
        for (place, item) in self.into.iter_mut().zip(rest) {
            *place = copy(item);
        }
    }
}

fn skip<T>(items: &mut &mut [T], count: usize) {
    *items = &mut mem::take(items)[count..];
}

fn copy<T>(bits: &MaybeUninit<T>) -> MaybeUninit<T> {
    // SAFETY: `bits` can be read, and its copy, as a `MaybeUninit`, need not be an item.
    unsafe { ptr::read(bits) }
}

fn item<T>(bits: &MaybeUninit<T>) -> &T {
    // SAFETY: both parts of a `Merge` are copies of items.
    unsafe { bits.assume_init_ref() }
}
