//! The memory that tasks declare, as data: the totals, the rule that decides on requests, and the
//! plan of a pool that keeps the depth-first order. docs/memory.md describes the protocol.
//!
//! This module knows neither pools nor workers. It is generic over what wakes a sleeping thread.

mod error;
mod ordered;
mod sleepers;
mod state;

pub use error::{Holder, ReservationError};
pub(crate) use error::{Holders, Size};
pub(crate) use ordered::{Awaits, Ordered, Request, Step, address};
pub(crate) use sleepers::Round;
pub(crate) use state::Memory;
