//! Loops over ranges of integers.

use super::items::ParallelItems;
use super::items::private::{Piece, Sealed};
use std::iter::Chain;
use std::ops::{Range, RangeInclusive};
use std::option;

/// A number type whose ranges can be split.
#[diagnostic::on_unimplemented(
    message = "a Tidegate loop cannot run over a range of `{Self}`",
    label = "expected a range of integers of at most 64 bits"
)]
pub trait Number: Copy + PartialOrd + Send {
    fn distance(from: Self, to: Self) -> usize;
    fn advance(self, by: usize) -> Self;
}

macro_rules! numbers {
    ($($number:ty as $unsigned:ty),*) => {$(
        impl Number for $number {
            #[inline]
            fn distance(from: Self, to: Self) -> usize {
                if from >= to {
                    return 0;
                }
                // The wrapped difference is correct even for a signed range longer than its type's
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
    u8 as u8,
    u16 as u16,
    u32 as u32,
    u64 as u64,
    usize as usize,
    i8 as u8,
    i16 as u16,
    i32 as u32,
    i64 as u64,
    isize as usize
);

impl<N> Sealed for Range<N> {}

impl<N: Number> ParallelItems for Range<N>
where
    Self: Iterator<Item = N>,
{
    type Item = N;
    type Storage = ();
    type Piece<'a>
        = Self
    where
        Self: 'a;

    #[inline]
    fn pieces<'a>(self, (): &'a mut ()) -> Self
    where
        Self: 'a,
    {
        self
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

impl<N> Sealed for RangeInclusive<N> {}

impl<N: Number> ParallelItems for RangeInclusive<N>
where
    Range<N>: Iterator<Item = N>,
{
    type Item = N;
    type Storage = ();
    type Piece<'a>
        = Inclusive<N>
    where
        Self: 'a;

    #[inline]
    fn pieces<'a>(self, (): &'a mut ()) -> Inclusive<N>
    where
        Self: 'a,
    {
        let end = *self.end();
        // The start of an exhausted range is unspecified.
        let (start, last) = if self.is_empty() {
            (end, None)
        } else {
            (*self.start(), Some(end))
        };
        Inclusive {
            before: start..end,
            last,
        }
    }
}

/// Consecutive numbers. They may include the maximum of their type, which no half-open range can.
pub struct Inclusive<N> {
    before: Range<N>,
    /// The number `before.end`, if it belongs to this piece.
    last: Option<N>,
}

impl<N: Number> Piece for Inclusive<N>
where
    Range<N>: Iterator<Item = N>,
{
    /// Returns the number of items. For the longest range, which has `usize::MAX + 1` numbers,
    /// returns 1 less. That is harmless: loops cut off at most this length, and the far piece keeps
    /// the last number.
    #[inline]
    fn length(&self) -> usize {
        let last = usize::from(self.last.is_some());
        self.before.length().saturating_add(last)
    }

    #[inline]
    fn cut(self, at: usize) -> (Self, Self) {
        let Self { before, last } = self;
        let end = before.end;
        if at > before.length() {
            let far = Self {
                before: end..end,
                last: None,
            };
            return (Self { before, last }, far);
        }
        let (near, far) = before.cut(at);
        let near = Self {
            before: near,
            last: None,
        };
        (near, Self { before: far, last })
    }
}

impl<N> IntoIterator for Inclusive<N>
where
    Range<N>: Iterator<Item = N>,
{
    type Item = N;
    type IntoIter = Chain<Range<N>, option::IntoIter<N>>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.before.chain(self.last)
    }
}

#[cfg(test)]
mod tests {
    use super::{ParallelItems, Piece};
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

    #[test]
    fn inclusive_ranges_are_cut_right() {
        let cut = |at| {
            let (near, far) = (i32::MAX - 2..=i32::MAX).pieces(&mut ()).cut(at);
            assert_eq!((near.length(), far.length()), (at, 3 - at));
            near.into_iter().chain(far).collect::<Vec<_>>()
        };
        for at in 0..=3 {
            assert_eq!(cut(at), [i32::MAX - 2, i32::MAX - 1, i32::MAX]);
        }
    }

    #[test]
    #[cfg(target_pointer_width = "64")]
    fn all_numbers_are_cut_right() {
        let (near, far) = (0..=u64::MAX).pieces(&mut ()).cut(1 << 63);
        assert_eq!((near.before, near.last), (0..1 << 63, None));
        assert_eq!(
            (&far.before, far.last),
            (&(1 << 63..u64::MAX), Some(u64::MAX))
        );
        assert_eq!(far.length(), 1 << 63);

        let all = (i64::MIN..=i64::MAX).pieces(&mut ());
        let (most, last) = all.cut(usize::MAX);
        assert_eq!((most.length(), last.length()), (usize::MAX, 1));
        assert_eq!(last.into_iter().collect::<Vec<_>>(), [i64::MAX]);
    }
}
