//! Loops over the chunks of a slice.

use super::items::private::Piece;
use super::items::{ParallelItems, Whole};
use std::slice;

/// Divides a slice into chunks of `size` items, for [`for_each`](crate::for_each) and all other
/// loops. The last chunk is shorter if `size` does not divide the length.
///
/// ```
/// let numbers: Vec<u64> = (1..=10).collect();
/// let chunks = tidegate::chunks(&numbers, 4);
/// let sums: Vec<u64> = tidegate::par_map(chunks.clone(), |chunk| chunk.iter().sum());
/// assert_eq!(sums, [10, 26, 19]);
/// let lengths = tidegate::par_map(chunks, <[u64]>::len);
/// assert_eq!(lengths, [4, 4, 2]);
/// ```
///
/// # Panics
/// If `size` is 0.
#[must_use = "only a loop visits the chunks"]
#[track_caller]
pub fn chunks<T: Sync>(slice: &[T], size: usize) -> impl ParallelItems<Item = &[T]> + Clone {
    assert_ne!(size, 0, "chunks must have at least one item");
    Whole(Chunks { slice, size })
}

/// Divides a slice into mutable chunks of `size` items, for [`for_each`](crate::for_each) and all
/// other loops. The last chunk is shorter if `size` does not divide the length.
///
/// ```
/// let mut image = [0; 12];
/// tidegate::for_each(tidegate::chunks_mut(&mut image, 4), |row| row[0] = 1);
/// assert_eq!(image, [1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0]);
/// ```
///
/// # Panics
/// If `size` is 0.
#[must_use = "only a loop visits the chunks"]
#[track_caller]
pub fn chunks_mut<T: Send>(slice: &mut [T], size: usize) -> impl ParallelItems<Item = &mut [T]> {
    assert_ne!(size, 0, "chunks must have at least one item");
    Whole(Chunks { slice, size })
}

/// Chunks of a slice, which is shared or mutable.
#[derive(Clone)]
struct Chunks<S> {
    slice: S,
    size: usize,
}

impl<S: Piece> Piece for Chunks<S>
where
    Self: IntoIterator,
{
    fn length(&self) -> usize {
        self.slice.length().div_ceil(self.size)
    }

    fn cut(self, at: usize) -> (Self, Self) {
        let size = self.size;
        // Only the last chunk may be shorter.
        let items = self.slice.length().min(at.saturating_mul(size));
        let (near, far) = self.slice.cut(items);
        (Self { slice: near, size }, Self { slice: far, size })
    }
}

impl<'s, T> IntoIterator for Chunks<&'s [T]> {
    type Item = &'s [T];
    type IntoIter = slice::Chunks<'s, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.slice.chunks(self.size)
    }
}

impl<'s, T> IntoIterator for Chunks<&'s mut [T]> {
    type Item = &'s mut [T];
    type IntoIter = slice::ChunksMut<'s, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.slice.chunks_mut(self.size)
    }
}
