//! Memory that tasks declare, and wait for.
//!
//! A [`reserve`] says that a task is about to use so much memory. What the pool does about it is its [`MemoryPolicy`](crate::policy::MemoryPolicy): nothing but count, put
//! those to sleep that take much, run tasks in another order, or keep all reservations together within a budget. Nothing is allocated here, and nobody is
//! stopped from allocating without a reservation.
//!
//! ```
//! use tidegate::{Pool, memory};
//!
//! fn sum(depth: u32) -> u64 {
//!     let buffer = memory::vec::<u64>(1 << 10).expect("1 KiB * 8 on each of 11 levels is within the budget");
//!     let _ = buffer;
//!     if depth == 0 {
//!         return 1;
//!     }
//!     let (a, b) = tidegate::join(|| sum(depth - 1), || sum(depth - 1));
//!     a + b
//! }
//!
//! let pool = Pool::builder().workers(2).memory("budget:bytes=96KiB,serial=88KiB".parse()?).build()?;
//! assert_eq!(pool.install(|| sum(10)), 1024);
//! assert!(pool.stats().memory.peak <= 96 << 10);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

// What other rooms may do here, all as `memory::verb(worker or pool, ..)`:
//
// | verb | when | called by |
// |---|---|---|
// | `reserve`, drop of a `Reservation` | a task reserves memory, releases it | users |
// | `fork` | tasks were pushed in a pool with a plan | worker/alt |
// | `take` | a worker wants a planned task: the next one, one of its scope, a rescue, or a parked task to resume | search, wait |
// | `take_back` | a joiner comes to its half | worker/alt |
// | `begin`, `end`, `leave` | a task begins, a task ends, a thread has no frames | scope, worker/half, sleep, pool |
// | `waits`, `goes_on`, `blocks` | a task waits, resumes, runs without a slot | wait, blocking |
// | `expect`, `close` | a scope gets a task from outside of the plan, a scope ends | scope, place, broadcast |
// | `wake_sleeper`, `forget_granted` | under `hybrid`: a round passes, a task begins at a base | search, wait, sleep |
// | `set_budget`, `report_stall` | the budget changes, a wait is long | pool, sleep |
//
// `Memory` is data: other rooms read `is_ordered`, `has_work`, `can_rescue`, `has_parked`, `unstarted`, `figures` and `trace` from it, and set its `set_workers`.

mod error;
mod ordered;
mod sleepers;
mod state;
mod verbs;

pub use crate::allocator::{AllocatorStats, CountingAllocator, stats};
pub use error::{Holder, ReservationError};
pub(crate) use sleepers::{Round, forget_granted, wake_sleeper};
pub(crate) use state::Memory;
pub use tidegate_policy::memory::{Budget, DepthFirst, DfDeques, Hybrid, SleepFunction};
pub(crate) use verbs::{
    Look, begin, blocks, close, end, expect, fork, goes_on, leave, report_stall, set_budget, take,
    take_back, waits,
};

use crate::pool::PoolInner;
use crate::worker::WorkerThread;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::sync::Arc;
use tidegate_policy::memory::book;

/// So much memory is declared until this is dropped; from [`reserve`].
///
/// It may be dropped by any thread, but one that is held outside of all tasks, by a thread of no pool, is like a task that never ends: nobody knows
/// that something could be given back, and a request that does not fit beside it is refused. One that is forgotten ([`std::mem::forget`]) is charged for as long as the pool lives; who then waits for memory says so on
/// standard error after a while (`tidegate tunables`, `memory.stall`), and names the place in the source where the reservation was made. A reservation that is still there when its task
/// has ended is charged to the task that forked that one.
#[must_use = "the memory is given back when the reservation is dropped"]
pub struct Reservation {
    pool: Arc<PoolInner>,
    bytes: usize,
    /// The plan's name for what was granted at first.
    first: Option<book::Reservation>,
    /// The plan's names for what it has grown by.
    more: Vec<book::Reservation>,
    at: &'static Location<'static>,
}

/// Declares that the task is going to use so many bytes. It may have to wait for them.
///
/// While it waits another thread uses its slot, and it goes on on its own stack. What it is made to wait for is the pool's [`MemoryPolicy`](crate::policy::MemoryPolicy):
/// under a budget, until others have given back enough. A task that holds a lock meanwhile may keep those from doing so.
///
/// 0 bytes are granted at once.
///
/// # Errors
/// The calling thread runs no task of a pool; more than `isize::MAX` bytes, which no allocation can have; or the request can never be granted, because
/// all who could give something back wait for this one: then the serial run needs more than the budget's `serial` says. A task that expects this can do
/// with less, or in pieces; the reservation has not been counted.
#[track_caller]
pub fn reserve(bytes: usize) -> Result<Reservation, ReservationError> {
    let at = Location::caller();
    let current = WorkerThread::get().ok_or(ReservationError::NoPool)?;
    check_size(bytes)?;
    Ok(Reservation {
        first: verbs::reserve(current, (bytes as u64, at))?,
        more: vec![],
        pool: current.shared().as_arc(),
        bytes,
        at,
    })
}

fn check_size(bytes: usize) -> Result<(), ReservationError> {
    match isize::try_from(bytes) {
        Ok(_) => Ok(()),
        Err(_) => Err(ReservationError::TooLarge { bytes }),
    }
}

/// A [`reserve`] for `n` values of a type, side by side.
///
/// # Errors
/// As [`reserve`].
#[track_caller]
pub fn reserve_for<T>(n: usize) -> Result<Reservation, ReservationError> {
    reserve(size_of::<T>().saturating_mul(n))
}

/// An empty vector with room for `n` values, and the reservation for that room.
///
/// # Errors
/// As [`reserve`].
///
/// # Panics
/// As [`Vec::with_capacity`], which aborts the process where the system has no memory: a pool without a budget grants whatever could be allocated.
#[track_caller]
pub fn vec<T>(n: usize) -> Result<Reserved<Vec<T>>, ReservationError> {
    let reservation = reserve_for::<T>(n)?;
    let value = Vec::with_capacity(n);
    Ok(Reserved { value, reservation })
}

impl Reservation {
    /// How many bytes are declared.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Declares so many more, as the calling task. It may have to wait for them, and keeps what it has.
    ///
    /// # Errors
    /// As [`reserve`], for all bytes together; or the calling thread runs a task of another pool
    /// ([`ReservationError::OtherPool`]). The reservation stays what it was.
    pub fn grow(&mut self, bytes: usize) -> Result<(), ReservationError> {
        let current = WorkerThread::get().ok_or(ReservationError::NoPool)?;
        if !std::ptr::eq(current.shared(), &*self.pool) {
            return Err(ReservationError::OtherPool);
        }
        let all = self.bytes.saturating_add(bytes);
        check_size(all)?;
        let grown = verbs::reserve(current, (bytes as u64, self.at))?;
        self.more.extend(grown);
        self.bytes = all;
        Ok(())
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let parts = self.first.take().into_iter().chain(self.more.drain(..));
        verbs::release(&self.pool, self.bytes as u64, parts);
    }
}

impl fmt::Debug for Reservation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reservation")
            .field("bytes", &self.bytes)
            .finish_non_exhaustive()
    }
}

/// A value and the reservation for its memory; from [`vec`](vec()).
///
/// A vector that grows beyond the room that was asked for allocates what nobody has declared.
#[derive(Debug)]
pub struct Reserved<T> {
    // Dropped first.
    value: T,
    reservation: Reservation,
}

impl<T> Reserved<T> {
    /// The two apart.
    pub fn into_parts(self) -> (T, Reservation) {
        (self.value, self.reservation)
    }
}

impl<T> Deref for Reserved<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for Reserved<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}
