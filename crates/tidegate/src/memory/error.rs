//! Why a request for memory fails.

use std::fmt;
use std::panic::Location;
use tidegate_policy::show_size;

/// A number of bytes for people.
pub(super) struct Size(pub(super) u64);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let &Self(bytes) = self;
        f.write_str(&show_size(bytes))?;
        if bytes % 1024 == 0 && bytes > 0 {
            return Ok(());
        }
        f.write_str(" bytes")
    }
}

/// Why a [`reserve`](super::reserve) was not granted.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReservationError {
    /// The calling thread runs no task of a pool.
    NoPool,
    /// The calling thread runs a task of another pool than that of the reservation which is to grow.
    OtherPool,
    /// No allocation can be that large.
    TooLarge {
        /// How much was asked for.
        bytes: usize,
    },
    /// It does not fit into the budget, and nobody is left who could give anything back.
    Refused {
        /// How much was asked for.
        bytes: u64,
        /// How much all tasks together may declare.
        budget: u64,
        /// How much of that the serial run was said to need.
        serial: u64,
        /// How much is declared.
        declared: u64,
        /// By whom.
        holders: Vec<Holder>,
    },
}

/// The reservations that were made at one place in the source and not given back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Where [`reserve`](super::reserve) was called.
    pub at: &'static Location<'static>,
    /// How much they are together.
    pub bytes: u64,
    /// How many.
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

/// So many holders are named; the others are smaller.
const NAMED: usize = 5;

/// Lists the holders, the largest first.
pub(super) struct Holders<'a>(pub(super) &'a [Holder]);

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
                "memory can be reserved only inside of a task of a pool: this thread runs none",
            ),
            Self::OtherPool => f.write_str(
                "a reservation can grow only inside of a task of its own pool: this thread runs one of another pool",
            ),
            Self::TooLarge { bytes } => write!(
                f,
                "a reservation of {bytes} bytes is larger than any allocation; allowed: up to {}",
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
