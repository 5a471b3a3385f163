//! The quicksort behind `sort_unstable`.

use super::{BLOCK, Order, PIECE};
use tidegate_core::door::WorkerThread;

/// A pivot is the median of this many items. An odd number.
const SAMPLE: usize = 63;

/// Sorts `slice` in this order. Equal items may be reordered.
pub(super) fn sort<T, L, S>(current: WorkerThread<'_>, slice: &mut [T], order: &Order<'_, L, S>)
where
    T: Send,
    L: Fn(&T, &T) -> bool + Sync,
    S: Fn(&mut [T]) + Sync,
{
    let piece = (slice.len() / 32).clamp(PIECE, 16 * PIECE);
    let depth = 2 * slice.len().ilog2();
    Quicksort { piece, order }.sort(current, slice, depth);
}

struct Quicksort<'a, L, S> {
    /// The longest slice that is not split. It depends on nothing but the number of items, and so
    /// does the result.
    piece: usize,
    order: &'a Order<'a, L, S>,
}

impl<L, S> Quicksort<'_, L, S> {
    /// At depth 0, the standard library sorts the slice, so that unlucky pivots never cost
    /// quadratic time.
    fn sort<T>(&self, current: WorkerThread<'_>, slice: &mut [T], depth: u32)
    where
        T: Send,
        L: Fn(&T, &T) -> bool + Sync,
        S: Fn(&mut [T]) + Sync,
    {
        if slice.len() <= self.piece || depth == 0 {
            return self.order.carried.run(|| (self.order.serially)(slice));
        }
        let repeats = self.move_pivot_to_front(slice);
        let (pivot, rest) = slice.split_first_mut().expect("longer than a piece");
        let less = self.partition(current, rest, |item| (self.order.is_less)(item, pivot));
        slice.swap(0, less);

        let (left, right) = slice.split_at_mut(less);
        let (pivot, mut right) = right.split_first_mut().expect("starts with the pivot");
        if repeats {
            // The items that equal the pivot are in their place.
            let equal = self.partition(current, right, |item| !(self.order.is_less)(pivot, item));
            right = &mut right[equal..];
        }
        current.join_running(
            || self.sort(current, left, depth - 1),
            |current| self.sort(current, right, depth - 1),
        );
    }

    /// Moves the median of a sample to the front. Returns whether the sample has another item that
    /// equals it.
    fn move_pivot_to_front<T>(&self, slice: &mut [T]) -> bool
    where
        L: Fn(&T, &T) -> bool,
    {
        let distance = slice.len() / SAMPLE;
        for i in 1..SAMPLE {
            slice.swap(i, i * distance);
        }
        let sample = &mut slice[..SAMPLE];
        let repeats = self.order.carried.run(|| {
            let compare =
                |a: &T, b: &T| (self.order.is_less)(b, a).cmp(&(self.order.is_less)(a, b));
            let (left, pivot, right) = sample.select_nth_unstable_by(SAMPLE / 2, compare);
            left.iter().any(|item| !(self.order.is_less)(item, pivot))
                || right.iter().any(|item| !(self.order.is_less)(pivot, item))
        });
        slice.swap(0, SAMPLE / 2);
        repeats
    }

    /// Moves the items that belong to the left before all others, and returns their number.
    ///
    /// Compares whole blocks at both ends without a branch, then swaps the items that are at the
    /// wrong end ("BlockQuicksort", Edelkamp and Weiß 2016). It only swaps, so a panic loses no
    /// item.
    fn partition<T>(
        &self,
        current: WorkerThread<'_>,
        slice: &mut [T],
        is_left: impl Fn(&T) -> bool,
    ) -> usize {
        let mask = |block: Option<&[T; BLOCK]>| {
            let bits = block.expect("a whole block").iter().rev();
            bits.fold(0, |mask, item| mask << 1 | u64::from(is_left(item)))
        };
        let (mut begin, mut end) = (0, slice.len());
        // The items of the first and last block that belong to the other end.
        let (mut first, mut last) = (0, 0);
        while end - begin >= 2 * BLOCK {
            self.order.carried.run(|| {
                for _ in 0..PIECE / BLOCK {
                    if end - begin < 2 * BLOCK {
                        break;
                    }
                    if first == 0 {
                        first = !mask(slice[begin..].first_chunk());
                    }
                    if last == 0 {
                        last = mask(slice[..end].last_chunk());
                    }
                    while first != 0 && last != 0 {
                        let of = |mask: u64| mask.trailing_zeros() as usize;
                        slice.swap(begin + of(first), end - BLOCK + of(last));
                        (first, last) = (first & (first - 1), last & (last - 1));
                    }
                    begin += if first == 0 { BLOCK } else { 0 };
                    end -= if last == 0 { BLOCK } else { 0 };
                }
            });
            // A thief should not have to wait until a long slice is divided.
            current.poll();
        }
        let mut left = begin;
        self.order.carried.run(|| {
            for i in begin..end {
                let belongs = is_left(&slice[i]);
                slice.swap(i, left);
                left += usize::from(belongs);
            }
        });
        left
    }
}
