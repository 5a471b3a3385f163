//! What parallel loops run over.
//!
//! A loop cuts its items into pieces. A piece borrows from the items, which stay where [`for_each`]
//! put them until all pieces are gone, so cutting never allocates.
//!
//! [`for_each`]: crate::for_each()

use std::ops::Range;

/// A collection of items that [`for_each`](crate::for_each) and [`map_reduce`](crate::map_reduce)
/// accept.
///
/// | items | the closure gets |
/// |---|---|
/// | `Range<N>`, where `N` is `usize`, `u32`, `u64`, `i32` or `i64` | `N` |
/// | `&[T]` | `&T` |
/// | `&mut [T]` | `&mut T` |
/// | `Vec<T>` | `T` |
/// | [`chunks`](crate::chunks) of a `&[T]` | `&[T]` |
/// | [`chunks_mut`](crate::chunks_mut) of a `&mut [T]` | `&mut [T]` |
///
/// This trait cannot be implemented outside of the crate.
///
/// ```
/// use tidegate::ParallelItems;
///
/// fn count(items: impl ParallelItems) -> usize {
///     tidegate::map_reduce(items, |_| 1, |a, b| a + b).unwrap_or(0)
/// }
///
/// assert_eq!(count(10_u32..15), 5);
/// assert_eq!(count(vec!["a", "b"]), 2);
/// assert_eq!(count(tidegate::chunks(&[1, 2, 3], 2)), 2);
/// ```
pub trait ParallelItems: Send + Sized + private::Sealed {
    /// What the closure gets.
    type Item;
    #[doc(hidden)]
    type Piece<'a>: private::Piece<Item = Self::Item>
    where
        Self: 'a;
    /// All items as one piece. Called once.
    #[doc(hidden)]
    fn pieces(&mut self) -> Self::Piece<'_>;
}

pub(crate) mod private {
    pub trait Sealed {}

    /// Consecutive items of a loop.
    pub trait Piece: IntoIterator + Send {
        fn length(&self) -> usize;
        /// The first `at` items, and the others.
        fn cut(self, at: usize) -> (Self, Self)
        where
            Self: Sized;
    }

    /// A number of which a range can be split.
    pub trait Number: Copy + Send {
        fn distance(from: Self, to: Self) -> usize;
        fn advance(self, by: usize) -> Self;
    }
}

use private::{Number, Piece, Sealed};

macro_rules! numbers {
    ($($number:ty as $unsigned:ty),*) => {$(
        impl Number for $number {
            #[inline]
            fn distance(from: Self, to: Self) -> usize {
                if from >= to {
                    return 0;
                }
                // The wrapped difference is right even for a signed range longer than its type's
                // maximum.
                let distance = to.wrapping_sub(from) as $unsigned;
                usize::try_from(distance).expect("a loop of at most usize::MAX items")
            }

            #[inline]
            fn advance(self, by: usize) -> Self {
                self.wrapping_add(by as Self)
            }
        }
    )*};
}

numbers!(
    usize as usize,
    u32 as u32,
    u64 as u64,
    i32 as u32,
    i64 as u64
);

impl<N> Sealed for Range<N> {}

impl<N: Number> ParallelItems for Range<N>
where
    Self: Iterator<Item = N>,
{
    type Item = N;
    type Piece<'a>
        = Self
    where
        Self: 'a;

    #[inline]
    fn pieces(&mut self) -> Self {
        self.start..self.end
    }
}

impl<N: Number> Piece for Range<N>
where
    Self: Iterator<Item = N>,
{
    #[inline]
    fn length(&self) -> usize {
        N::distance(self.start, self.end)
    }

    #[inline]
    fn cut(self, at: usize) -> (Self, Self) {
        let middle = self.start.advance(at);
        (self.start..middle, middle..self.end)
    }
}

impl<T> Sealed for &[T] {}

impl<'s, T: Sync> ParallelItems for &'s [T] {
    type Item = &'s T;
    type Piece<'a>
        = &'s [T]
    where
        Self: 'a;

    #[inline]
    fn pieces(&mut self) -> &'s [T] {
        self
    }
}

impl<T: Sync> Piece for &[T] {
    #[inline]
    fn length(&self) -> usize {
        self.len()
    }

    #[inline]
    fn cut(self, at: usize) -> (Self, Self) {
        self.split_at(at)
    }
}

impl<T> Sealed for &mut [T] {}

impl<'s, T: Send> ParallelItems for &'s mut [T] {
    type Item = &'s mut T;
    type Piece<'a>
        = &'s mut [T]
    where
        Self: 'a;

    #[inline]
    fn pieces(&mut self) -> &'s mut [T] {
        std::mem::take(self)
    }
}

impl<T: Send> Piece for &mut [T] {
    #[inline]
    fn length(&self) -> usize {
        self.len()
    }

    #[inline]
    fn cut(self, at: usize) -> (Self, Self) {
        self.split_at_mut(at)
    }
}

#[cfg(test)]
mod tests {
    use super::private::Piece;
    use std::ops::Range;

    #[track_caller]
    fn check<N>(range: Range<N>, at: usize, length: usize, near: Range<N>, far: Range<N>)
    where
        Range<N>: Piece + PartialEq + std::fmt::Debug,
    {
        assert_eq!(range.length(), length);
        assert_eq!(range.cut(at), (near, far));
    }

    #[test]
    fn signed_ranges_are_cut_right() {
        check(-3_i32..4, 5, 7, -3..2, 2..4);
        let half = 1 << 31;
        check(
            i32::MIN..i32::MAX,
            half,
            u32::MAX as usize,
            i32::MIN..0,
            0..i32::MAX,
        );
    }

    #[test]
    #[cfg(target_pointer_width = "64")]
    fn the_longest_ranges_are_cut_right() {
        check(
            i64::MIN..i64::MAX,
            1 << 63,
            usize::MAX,
            i64::MIN..0,
            0..i64::MAX,
        );
        check(0..u64::MAX, 7, usize::MAX, 0..7, 7..u64::MAX);
        check(0..u32::MAX, 7, u32::MAX as usize, 0..7, 7..u32::MAX);
    }

    #[test]
    #[expect(clippy::reversed_empty_ranges, reason = "that is what is tested")]
    fn reversed_ranges_are_empty() {
        assert_eq!((3_i64..-3).length(), 0);
        assert_eq!((3_usize..2).length(), 0);
    }
}
