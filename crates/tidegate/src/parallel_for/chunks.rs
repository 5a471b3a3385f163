//! Loops over the chunks of a slice.

use super::items::ParallelItems;
use super::items::private::{Piece, Sealed};
use crate::owned::Storage;
use std::slice;

/// Divides a slice into chunks of `size` items, for [`for_each`](crate::for_each),
/// [`par_map`](crate::par_map) and [`map_reduce`](crate::map_reduce). The last chunk is shorter if
/// `size` does not divide the length.
///
/// ```
/// let numbers: Vec<u64> = (1..=10).collect();
/// let chunks = tidegate::chunks(&numbers, 4);
/// let sums: Vec<u64> = tidegate::par_map(chunks, |chunk| chunk.iter().sum());
/// assert_eq!(sums, [10, 26, 19]);
/// ```
///
/// # Panics
/// If `size` is 0.
#[must_use = "only a loop visits the chunks"]
#[track_caller]
pub fn chunks<T: Sync>(slice: &[T], size: usize) -> impl ParallelItems<Item = &[T]> {
    assert_ne!(size, 0, "chunks must have at least one item");
    Chunks { slice, size }
}

/// Divides a slice into mutable chunks of `size` items, for [`for_each`](crate::for_each),
/// [`par_map`](crate::par_map) and [`map_reduce`](crate::map_reduce). The last chunk is shorter if
/// `size` does not divide the length.
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
    ChunksMut { slice, size }
}

struct Chunks<'s, T> {
    slice: &'s [T],
    size: usize,
}

impl<T> Sealed for Chunks<'_, T> {}

impl<'s, T: Sync> ParallelItems for Chunks<'s, T> {
    type Item = &'s [T];
    type Piece<'a>
        = Self
    where
        Self: 'a;

    fn pieces(self, _: &mut Storage<Self>) -> Self {
        self
    }
}

impl<T: Sync> Piece for Chunks<'_, T> {
    fn length(&self) -> usize {
        self.slice.len().div_ceil(self.size)
    }

    fn cut(self, at: usize) -> (Self, Self) {
        let size = self.size;
        let (near, far) = self.slice.split_at(items(self.slice, at, size));
        (Self { slice: near, size }, Self { slice: far, size })
    }
}

impl<'s, T> IntoIterator for Chunks<'s, T> {
    type Item = &'s [T];
    type IntoIter = slice::Chunks<'s, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.slice.chunks(self.size)
    }
}

struct ChunksMut<'s, T> {
    slice: &'s mut [T],
    size: usize,
}

impl<T> Sealed for ChunksMut<'_, T> {}

impl<'s, T: Send> ParallelItems for ChunksMut<'s, T> {
    type Item = &'s mut [T];
    type Piece<'a>
        = Self
    where
        Self: 'a;

    fn pieces(self, _: &mut Storage<Self>) -> Self {
        self
    }
}

impl<T: Send> Piece for ChunksMut<'_, T> {
    fn length(&self) -> usize {
        self.slice.len().div_ceil(self.size)
    }

    fn cut(self, at: usize) -> (Self, Self) {
        let size = self.size;
        let middle = items(self.slice, at, size);
        let (near, far) = self.slice.split_at_mut(middle);
        (Self { slice: near, size }, Self { slice: far, size })
    }
}

impl<'s, T> IntoIterator for ChunksMut<'s, T> {
    type Item = &'s mut [T];
    type IntoIter = slice::ChunksMut<'s, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.slice.chunks_mut(self.size)
    }
}

/// Returns how many items the first `chunks` chunks have. Only the last chunk may be shorter.
fn items<T>(slice: &[T], chunks: usize, size: usize) -> usize {
    slice.len().min(chunks.saturating_mul(size))
}
