//! Errors of memory requests.

use std::fmt;
use std::panic::Location;
use tidegate_policy::show_size;

/// Displays a number of bytes in human-readable form.
pub(crate) struct Size(pub(crate) u64);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let &Self(bytes) = self;
        let unit = if bytes % 1024 == 0 && bytes > 0 {
            ""
        } else {
            " bytes"
        };
        write!(f, "{}{unit}", show_size(bytes))
    }
}

/// The error returned if a request for memory, such as [`reserve`](crate::memory::reserve), is not
/// granted.
///
/// ```
/// use tidegate::memory::{ReservationError, reserve};
///
/// let policy = "budget:bytes=64KiB,serial=16KiB".parse()?;
/// let pool = tidegate::Pool::builder().workers(2).memory(policy).build()?;
/// let refused = pool.install(|| reserve(1 << 20)).unwrap_err();
/// let ReservationError::Refused { bytes, budget, .. } = refused else {
///     panic!("it fits into no budget of this size");
/// };
/// assert_eq!((bytes, budget), (1 << 20, 64 << 10));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReservationError {
    /// The calling thread runs no task of a pool.
    NoPool,
    /// The reservation to grow belongs to a different pool than the task that the calling thread
    /// runs.
    OtherPool,
    /// The requested size exceeds that of any possible allocation.
    TooLarge {
        /// The requested size in bytes.
        bytes: usize,
    },
    /// The request does not fit into the budget, and no task is left that could release memory.
    Refused {
        /// The requested size in bytes.
        bytes: u64,
        /// The pool's budget in bytes: the maximum that all tasks of the pool together may declare.
        budget: u64,
        /// The part of the budget that is kept for the serial run, in bytes.
        serial: u64,
        /// The bytes that are currently declared.
        declared: u64,
        /// The current reservations, by source location, largest first.
        holders: Vec<Holder>,
    },
}

/// The live reservations that were made at one source location.
///
/// ```
/// use tidegate::memory::{ReservationError, reserve};
///
/// let policy = "budget:bytes=64KiB,serial=16KiB".parse()?;
/// let pool = tidegate::Pool::builder().workers(1).memory(policy).build()?;
/// let refused = pool.install(|| {
///     let _held = reserve(48 << 10)?;
///     reserve(48 << 10).map(drop)
/// });
/// let Err(ReservationError::Refused { holders, .. }) = refused else {
///     panic!("the second request can never be granted");
/// };
/// assert_eq!((holders[0].bytes, holders[0].reservations), (48 << 10, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Where [`reserve`](crate::memory::reserve) was called.
    pub at: &'static Location<'static>,
    /// The total size of these reservations in bytes.
    pub bytes: u64,
    /// The number of these reservations.
    pub reservations: usize,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = Size(self.bytes);
        write!(f, "{size} by {}", self.at)?;
        match self.reservations {
            1 => Ok(()),
            many => write!(f, " in {many} reservations"),
        }
    }
}

/// Messages list at most this many holders, largest first.
const NAMED: usize = 5;

/// Formats the holders, largest first.
pub(crate) struct Holders<'a>(pub(crate) &'a [Holder]);

impl fmt::Display for Holders<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(holders) = self;
        if holders.is_empty() {
            return f.write_str("nobody holds any");
        }
        f.write_str("held: ")?;
        for (number, holder) in holders.iter().take(NAMED).enumerate() {
            let mark = if number > 0 { ", " } else { "" };
            write!(f, "{mark}{holder}")?;
        }
        match holders.len().saturating_sub(NAMED) {
            0 => Ok(()),
            more => write!(f, " and {more} more places"),
        }
    }
}

impl fmt::Display for ReservationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoPool => f.write_str(
                "memory can be reserved only inside a task of a pool, and this thread runs none: call \
                it inside Pool::install",
            ),
            Self::OtherPool => f.write_str(
                "a reservation can grow only inside a task of its own pool: this thread runs one of another pool",
            ),
            Self::TooLarge { bytes } => write!(
                f,
                "a reservation of {bytes} bytes is larger than any allocation: expected up to {}",
                isize::MAX
            ),
            Self::Refused { bytes, budget, .. } if bytes > budget => write!(
                f,
                "a reservation of {} is larger than the whole budget of {}: ask for less, or give the pool a larger budget",
                Size(*bytes),
                Size(*budget)
            ),
            Self::Refused {
                bytes,
                budget,
                serial,
                declared,
                holders,
            } => write!(
                f,
                "a reservation of {} does not fit beside {} in the budget of {}, and all others wait: the serial run needs more than serial={}, so give the pool more of both; {}",
                Size(*bytes),
                Size(*declared),
                Size(*budget),
                Size(*serial),
                Holders(holders)
            ),
        }
    }
}

impl std::error::Error for ReservationError {}
