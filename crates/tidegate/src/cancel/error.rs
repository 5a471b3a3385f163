//! Errors of functions that stop early.

use std::error::Error;
use std::fmt;
use std::io;

/// The error of a function that has stopped because its token was cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cancelled;

impl fmt::Display for Cancelled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the work was cancelled")
    }
}

impl Error for Cancelled {}

impl From<Cancelled> for io::Error {
    fn from(cancelled: Cancelled) -> Self {
        Self::other(cancelled)
    }
}

/// The error of a function that stops at the first error of its closures.
///
/// `?` converts
/// * a `TryError<io::Error>` to [`io::Error`];
/// * a `TryError<Cancelled>` to [`Cancelled`];
/// * a `TryError<TryError<E>>`, which nested calls return, to `TryError<E>`;
/// * any `TryError<E>` to `Box<dyn Error>` if `E` implements `Debug` and `Display`. The source of
///   `E`, and downcasts to `E`, are then out of reach.
///
/// To return your own error type, implement `From<Cancelled>` for it and use
/// `map_err(TryError::into_inner)`, or implement `From<TryError<MyError>>`, and `?` alone does it.
/// For other types there is [`or_if_cancelled`](Self::or_if_cancelled).
///
/// ```
/// use tidegate::{TryError, try_for_each};
///
/// let check = |n: u32| if n < 4 { Ok(()) } else { Err("too big") };
/// assert_eq!(try_for_each(0..4, check), Ok(()));
/// assert_eq!(try_for_each(0..5, check), Err(TryError::Failed("too big")));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TryError<E> {
    /// The first error of a closure.
    Failed(E),
    /// The caller's token was cancelled, and no closure had failed.
    Cancelled,
}

impl<E> TryError<E> {
    /// Returns the error of the closure, or an error made from [`Cancelled`].
    ///
    /// ```
    /// use tidegate::{Cancelled, TryError};
    ///
    /// #[derive(Debug, PartialEq)]
    /// enum MyError {
    ///     Odd(u32),
    ///     Cancelled,
    /// }
    ///
    /// impl From<Cancelled> for MyError {
    ///     fn from(_: Cancelled) -> Self {
    ///         MyError::Cancelled
    ///     }
    /// }
    ///
    /// fn check(numbers: &[u32]) -> Result<(), MyError> {
    ///     let check = |n: &u32| if n % 2 == 0 { Ok(()) } else { Err(MyError::Odd(*n)) };
    ///     tidegate::try_for_each(numbers, check).map_err(TryError::into_inner)
    /// }
    ///
    /// assert_eq!(check(&[2, 5, 6]), Err(MyError::Odd(5)));
    /// ```
    pub fn into_inner(self) -> E
    where
        E: From<Cancelled>,
    {
        match self {
            Self::Failed(error) => error,
            Self::Cancelled => Cancelled.into(),
        }
    }

    /// Returns the error of the closure, or else `cancelled`.
    ///
    /// ```
    /// fn check(numbers: &[u32]) -> Result<(), &'static str> {
    ///     let check = |n: &u32| if *n < 9 { Ok(()) } else { Err("too big") };
    ///     let result = tidegate::try_for_each(numbers, check);
    ///     result.map_err(|error| error.or_if_cancelled("cancelled"))
    /// }
    ///
    /// assert_eq!(check(&[2, 5, 10]), Err("too big"));
    /// ```
    pub fn or_if_cancelled(self, cancelled: E) -> E {
        match self {
            Self::Failed(error) => error,
            Self::Cancelled => cancelled,
        }
    }
}

impl<E: fmt::Display> fmt::Display for TryError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(error) => error.fmt(f),
            Self::Cancelled => Cancelled.fmt(f),
        }
    }
}

impl<E: fmt::Debug + fmt::Display> Error for TryError<E> {}

impl<E> From<Cancelled> for TryError<E> {
    fn from(_: Cancelled) -> Self {
        Self::Cancelled
    }
}

/// Flattens the error of a call inside a closure of another call.
impl<E> From<TryError<TryError<E>>> for TryError<E> {
    fn from(error: TryError<Self>) -> Self {
        error.into_inner()
    }
}

impl From<TryError<Self>> for Cancelled {
    fn from(error: TryError<Self>) -> Self {
        error.into_inner()
    }
}

impl From<TryError<Self>> for io::Error {
    fn from(error: TryError<Self>) -> Self {
        error.into_inner()
    }
}
