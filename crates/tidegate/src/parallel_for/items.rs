//! The collections that parallel loops run over.
//!
//! A loop cuts its items into pieces. It keeps items by value in a storage, from which the pieces
//! borrow, so cutting never allocates.

/// A collection of items that [`for_each`](crate::for_each) and all other loops accept.
///
/// | items | the closure gets |
/// |---|---|
/// | `Range<N>` or `RangeInclusive<N>`, where `N` is an integer type of at most 64 bits | `N` |
/// | `&[T]`, `&Vec<T>`, `&[T; N]` | `&T` |
/// | `&mut [T]`, `&mut Vec<T>`, `&mut [T; N]` | `&mut T` |
/// | `Vec<T>`, `[T; N]` | `T` |
/// | [`chunks`](crate::chunks) or [`windows`](crate::windows) of a `&[T]` | `&[T]` |
/// | [`chunks_mut`](crate::chunks_mut) of a `&mut [T]` | `&mut [T]` |
/// | [`enumerate`](crate::enumerate) of items `T` | `(usize, T)` |
/// | [`zip`](crate::zip) of items `A` and `B` | `(A, B)` |
///
/// A loop over an array by value first moves its items to the heap, which costs one allocation.
///
/// A range may have up to `usize::MAX` items, not counting the end of a `RangeInclusive`. A loop
/// over a longer one, which only 32-bit targets have, panics.
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
/// assert_eq!(count(10_u32..=15), 6);
/// assert_eq!(count(["a", "b"]), 2);
/// assert_eq!(count(&vec!["a", "b"]), 2);
/// assert_eq!(count(tidegate::chunks(&[1, 2, 3], 2)), 2);
/// ```
#[diagnostic::on_unimplemented(
    message = "a Tidegate loop cannot run over `{Self}`",
    label = "expected items that can be split",
    note = "pass `&v`, `&mut v` or `v` for a vector, slice or array; a range of integers such as \
            `0..n`; `&v[..]` for what derefs to a slice; `tidegate::chunks`, `chunks_mut`, \
            `windows`, `enumerate` or `zip` of these; or collect the items into a vector"
)]
pub trait ParallelItems: Send + Sized + private::Sealed {
    /// The type of the closure's argument.
    type Item;
    #[doc(hidden)]
    type Storage: Default;
    #[doc(hidden)]
    type Piece<'a>: private::Piece<Item = Self::Item>
    where
        Self: 'a;
    /// Returns all items as one piece.
    #[doc(hidden)]
    fn pieces<'a>(self, storage: &'a mut Self::Storage) -> Self::Piece<'a>
    where
        Self: 'a;
}

/// Items that need no storage, because they are one piece already.
#[derive(Clone)]
pub(crate) struct Whole<P>(pub P);

impl<P> private::Sealed for Whole<P> {}

impl<P: private::Piece> ParallelItems for Whole<P> {
    type Item = P::Item;
    type Storage = ();
    type Piece<'a>
        = P
    where
        Self: 'a;

    fn pieces<'a>(self, (): &'a mut ()) -> P
    where
        Self: 'a,
    {
        self.0
    }
}

pub(crate) mod private {
    pub trait Sealed {}

    /// Consecutive items of a loop.
    pub trait Piece: IntoIterator + Send {
        fn length(&self) -> usize;
        /// Returns the first `at` items, and the remaining items.
        fn cut(self, at: usize) -> (Self, Self)
        where
            Self: Sized;
    }
}
