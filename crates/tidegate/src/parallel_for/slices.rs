//! Loops over slices, and over vectors and arrays that are borrowed as slices.

use super::items::ParallelItems;
use super::items::private::{Piece, Sealed};

macro_rules! borrowed {
    ($($items:ty $(, const $length:ident)?);*) => {$(
        impl<T $(, const $length: usize)?> Sealed for &$items {}

        impl<'s, T: Sync $(, const $length: usize)?> ParallelItems for &'s $items {
            type Item = &'s T;
            type Storage = ();
            type Piece<'a>
                = &'s [T]
            where
                Self: 'a;

            #[inline]
            fn pieces<'a>(self, _: &'a mut ()) -> &'s [T]
            where
                Self: 'a,
            {
                self
            }
        }

        impl<T $(, const $length: usize)?> Sealed for &mut $items {}

        impl<'s, T: Send $(, const $length: usize)?> ParallelItems for &'s mut $items {
            type Item = &'s mut T;
            type Storage = ();
            type Piece<'a>
                = &'s mut [T]
            where
                Self: 'a;

            #[inline]
            fn pieces<'a>(self, _: &'a mut ()) -> &'s mut [T]
            where
                Self: 'a,
            {
                self
            }
        }
    )*};
}

borrowed!([T]; Vec<T>; [T; N], const N);

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
