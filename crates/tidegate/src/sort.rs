//! A parallel quicksort. The standard library sorts the pieces.

use std::cmp::Ordering;
use tidegate_core::door::{self, Carried, WorkerThread, carry};

/// The longest slice that is not split. The standard library sorts 2048 integers in about 20 µs.
const PIECE: usize = if cfg!(miri) { 128 } else { 2048 };
/// A pivot is the median of this many items. An odd number.
const SAMPLE: usize = 63;

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
    sort_unstable_by(slice, T::cmp);
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
    let compare = &compare;
    if slice.len() > 1 && WorkerThread::get().is_none() {
        door::check_allowed("sort_unstable");
    }
    if slice.len() <= PIECE || size_of::<T>() == 0 {
        // Items without a size have no order to be seen in.
        return slice.sort_unstable_by(compare);
    }
    if is_sorted_by(slice, |a, b| compare(a, b).is_le()) {
        return;
    }
    if is_sorted_by(slice, |a, b| compare(a, b).is_gt()) {
        return slice.reverse();
    }
    let suspended = carry::carry_unless_visible();
    let sort = Quicksort {
        compare,
        carried: &suspended.carried,
    };
    let depth = 2 * slice.len().ilog2();
    match WorkerThread::get() {
        Some(current) => sort.run(current, slice, depth),
        None => door::outside("sort_unstable", |current| sort.run(current, slice, depth)),
    }
}

/// Like [`slice::is_sorted_by`], but polls after each piece, like [`Quicksort::partition`].
fn is_sorted_by<T>(slice: &[T], is_sorted: impl Fn(&T, &T) -> bool) -> bool {
    (0..slice.len()).step_by(PIECE).all(|begin| {
        // With the first item of the next piece.
        let end = slice.len().min(begin + PIECE + 1);
        let is_sorted = slice[begin..end].is_sorted_by(&is_sorted);
        if let Some(current) = WorkerThread::get() {
            current.poll();
        }
        is_sorted
    })
}

struct Quicksort<'a, F> {
    compare: &'a F,
    /// The context in which `compare` is called.
    carried: &'a Carried,
}

impl<F> Quicksort<'_, F> {
    /// Sorts `slice`. At depth 0, leaves it to the standard library, so that unlucky pivots never
    /// cost quadratic time.
    fn run<T>(&self, current: WorkerThread<'_>, slice: &mut [T], depth: u32)
    where
        T: Send,
        F: Fn(&T, &T) -> Ordering + Sync,
    {
        if slice.len() <= PIECE || depth == 0 {
            return self.carried.run(|| slice.sort_unstable_by(self.compare));
        }
        let enough = slice.len() / 8;
        self.move_pivot_to_front(slice);
        let (pivot, rest) = slice.split_first_mut().expect("longer than a piece");
        let is_less = |item: &T| (self.compare)(item, pivot).is_lt();
        let less = self.partition(current, rest, is_less);
        slice.swap(0, less);

        let (left, right) = slice.split_at_mut(less);
        let (pivot, mut right) = right.split_first_mut().expect("starts with the pivot");
        if less < enough {
            // Perhaps many items equal the pivot. They are in their place.
            let is_equal = |item: &T| (self.compare)(item, pivot).is_le();
            let equal = self.partition(current, right, is_equal);
            right = &mut right[equal..];
        }
        current.join_running(
            || self.run(current, left, depth - 1),
            |current| self.run(current, right, depth - 1),
        );
    }

    /// Moves the median of a sample to the front.
    fn move_pivot_to_front<T>(&self, slice: &mut [T])
    where
        F: Fn(&T, &T) -> Ordering,
    {
        let distance = slice.len() / SAMPLE;
        for i in 1..SAMPLE {
            slice.swap(i, i * distance);
        }
        let sample = &mut slice[..SAMPLE];
        self.carried
            .run(|| _ = sample.select_nth_unstable_by(SAMPLE / 2, self.compare));
        slice.swap(0, SAMPLE / 2);
    }

    /// Moves the items that belong to the left before all others, and returns their number.
    ///
    /// The loop has no branch that depends on the items, so it runs at the same speed for any
    /// order. It only swaps, so a panic loses no item.
    fn partition<T>(
        &self,
        current: WorkerThread<'_>,
        slice: &mut [T],
        is_left: impl Fn(&T) -> bool,
    ) -> usize {
        let mut left = 0;
        for begin in (0..slice.len()).step_by(PIECE) {
            let end = slice.len().min(begin + PIECE);
            self.carried.run(|| {
                for i in begin..end {
                    let belongs = is_left(&slice[i]);
                    slice.swap(i, left);
                    left += usize::from(belongs);
                }
            });
            // A thief should not have to wait until a long slice is divided.
            current.poll();
        }
        left
    }
}
