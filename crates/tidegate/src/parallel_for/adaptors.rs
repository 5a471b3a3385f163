//! Items with their indices, pairs of items, and windows.

use super::items::private::{Piece, Sealed};
use super::items::{ParallelItems, Whole};
use std::iter::Zip;
use std::slice;

/// Pairs each item with its index, for [`for_each`](crate::for_each) and all other loops.
///
/// ```
/// use tidegate::{chunks_mut, enumerate, for_each};
///
/// let mut image = [0; 6];
/// for_each(enumerate(chunks_mut(&mut image, 2)), |(y, row)| row.fill(y));
/// assert_eq!(image, [0, 0, 1, 1, 2, 2]);
/// ```
#[must_use = "only a loop visits the items"]
pub fn enumerate<I: ParallelItems>(items: I) -> impl ParallelItems<Item = (usize, I::Item)> {
    zip(0..usize::MAX, items)
}

/// Pairs the items of `a` with those of `b`, for [`for_each`](crate::for_each) and all other loops.
/// Stops at the end of the shorter one. If the longer one owns its items, the rest are dropped
/// before the loop begins.
///
/// ```
/// use tidegate::{for_each, zip};
///
/// let mut sums = [1, 2, 3];
/// for_each(zip(&mut sums, &[10, 20, 30]), |(sum, n)| *sum += n);
/// assert_eq!(sums, [11, 22, 33]);
/// ```
#[must_use = "only a loop visits the items"]
pub fn zip<A: ParallelItems, B: ParallelItems>(
    a: A,
    b: B,
) -> impl ParallelItems<Item = (A::Item, B::Item)> {
    Pairs(a, b)
}

/// Returns all windows of `size` consecutive items, for [`for_each`](crate::for_each) and all other
/// loops. They overlap, like those of [`slice::windows`]. A slice shorter than `size` has none.
///
/// ```
/// let heights = [1, 4, 2, 2];
/// let pairs = tidegate::windows(&heights, 2);
/// let rises = tidegate::par_map(pairs.clone(), |pair| pair[1] - pair[0]);
/// assert_eq!(rises, [3, -2, 0]);
/// assert!(tidegate::any(pairs, |pair| pair[0] == pair[1]));
///
/// // The rows of an image, each with the rows above and below.
/// let image: Vec<u8> = (0..12).collect();
/// let rows: Vec<&[u8]> = image.chunks(4).collect();
/// let sums = tidegate::par_map(tidegate::windows(&rows, 3), |rows| rows[0][0] + rows[2][0]);
/// assert_eq!(sums, [8]);
/// ```
///
/// # Panics
/// If `size` is 0.
#[must_use = "only a loop visits the windows"]
#[track_caller]
pub fn windows<T: Sync>(slice: &[T], size: usize) -> impl ParallelItems<Item = &[T]> + Clone {
    assert_ne!(size, 0, "windows must have at least one item");
    Whole(Windows { slice, size })
}

/// Two collections, or consecutive items of them.
struct Pairs<A, B>(A, B);

impl<A, B> Sealed for Pairs<A, B> {}

impl<A: ParallelItems, B: ParallelItems> ParallelItems for Pairs<A, B> {
    type Item = (A::Item, B::Item);
    type Storage = (A::Storage, B::Storage);
    type Piece<'a>
        = Pairs<A::Piece<'a>, B::Piece<'a>>
    where
        Self: 'a;

    fn pieces<'a>(self, (a, b): &'a mut Self::Storage) -> Self::Piece<'a>
    where
        Self: 'a,
    {
        let (a, b) = (self.0.pieces(a), self.1.pieces(b));
        let length = a.length().min(b.length());
        Pairs(a.cut(length).0, b.cut(length).0)
    }
}

impl<A: Piece, B: Piece> Piece for Pairs<A, B> {
    #[inline]
    fn length(&self) -> usize {
        self.0.length()
    }

    #[inline]
    fn cut(self, at: usize) -> (Self, Self) {
        let (a, b) = (self.0.cut(at), self.1.cut(at));
        (Self(a.0, b.0), Self(a.1, b.1))
    }
}

impl<A: IntoIterator, B: IntoIterator> IntoIterator for Pairs<A, B> {
    type Item = (A::Item, B::Item);
    type IntoIter = Zip<A::IntoIter, B::IntoIter>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter().zip(self.1)
    }
}

#[derive(Clone)]
struct Windows<S> {
    slice: S,
    size: usize,
}

impl<T: Sync> Piece for Windows<&[T]> {
    fn length(&self) -> usize {
        self.slice.len().saturating_sub(self.size - 1)
    }

    fn cut(self, at: usize) -> (Self, Self) {
        let Self { slice, size } = self;
        let end = slice.len().min(at + (size - 1));
        let (near, far) = (&slice[..end], &slice[at..]);
        (Self { slice: near, size }, Self { slice: far, size })
    }
}

impl<'s, T> IntoIterator for Windows<&'s [T]> {
    type Item = &'s [T];
    type IntoIter = slice::Windows<'s, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.slice.windows(self.size)
    }
}
