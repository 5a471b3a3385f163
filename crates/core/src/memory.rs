//! Memory that tasks reserve before they use it.
//!
//! A task calls [`reserve`] before it uses memory. The pool's
//! [`MemoryPolicy`](crate::policy::MemoryPolicy) decides what happens: the pool only counts the
//! reservations (the default), suspends tasks that use much memory, runs tasks in a different
//! order, or keeps the sum of all reservations within a budget. A reservation allocates nothing,
//! and a task can still allocate memory without a reservation.
//!
//! ```
//! use tidegate::{Pool, memory};
//!
//! fn sum(depth: u32) -> u64 {
//!     // 8 KiB on each of 11 levels is within the budget.
//!     let _buffer = memory::vec::<u64>(1 << 10).expect("88 KiB fit");
//!     if depth == 0 {
//!         return 1;
//!     }
//!     let (a, b) = tidegate::join(|| sum(depth - 1), || sum(depth - 1));
//!     a + b
//! }
//!
//! let budget = "budget:bytes=96KiB,serial=88KiB".parse()?;
//! let pool = Pool::builder().workers(2).memory(budget).build()?;
//! assert_eq!(pool.install(|| sum(10)), 1024);
//! assert!(pool.stats().memory.peak <= 96 << 10);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use crate::allocator::{AllocatorStats, CountingAllocator, stats};
pub use crate::plan::{Holder, ReservationError};
pub use tidegate_policy::memory::{Budget, DepthFirst, DfDeques, Hybrid, SleepFunction};

use crate::pool::PoolInner;
use crate::worker::{WorkerThread, memory as verbs};
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::sync::Arc;
use tidegate_policy::memory::book;

/// A memory reservation, released on drop; created by [`reserve`].
///
/// Any thread may drop the reservation. If the task that made it ends first, the reservation is
/// charged to the parent that forked that task.
///
/// If a reservation is moved to a thread outside all pools, the pool doesn't expect to get the
/// memory back: the reservation counts as held by a task that never ends, and a request that
/// doesn't fit next to it is refused. A reservation that is forgotten ([`std::mem::forget`])
/// remains charged as long as the pool lives. If a task then waits for memory longer than
/// [`Builder::stall_report`](crate::Builder::stall_report) says, the pool prints a line to standard
/// error, with the source location where the reservation was made.
///
/// ```
/// use tidegate::{Pool, memory};
///
/// let pool = Pool::builder().workers(2).build()?;
/// let reservation = pool.install(|| memory::reserve(4096)).unwrap();
/// assert_eq!((reservation.bytes(), pool.stats().memory.declared), (4096, 4096));
/// drop(reservation);
/// assert_eq!(pool.stats().memory.declared, 0);
/// # Ok::<(), tidegate::BuildError>(())
/// ```
#[must_use = "the memory is given back when the reservation is dropped"]
pub struct Reservation {
    pool: Arc<PoolInner>,
    bytes: usize,
    /// Identifies the initial grant in the plan.
    first: Option<book::Reservation>,
    /// Identify the grants that `grow` has added.
    more: Vec<book::Reservation>,
    at: &'static Location<'static>,
}

/// Reserves `bytes` bytes of memory, which the calling task is about to use. The call may wait
/// until the memory is available.
///
/// While the task waits, another thread uses its slot; the task then resumes on its own stack. The
/// pool's [`MemoryPolicy`](crate::policy::MemoryPolicy) decides whether and how long it waits;
/// under a budget, it waits until enough memory has been released. A task that holds a lock while
/// it waits may block the tasks that would release memory.
///
/// A reservation of 0 bytes is granted immediately.
///
/// ```
/// use tidegate::memory::{self, ReservationError};
///
/// let pool = tidegate::Pool::builder().workers(2).build()?;
/// let sum = pool.install(|| {
///     let _reservation = memory::reserve(8 * 1000)?;
///     let squares: Vec<u64> = (0..1000).map(|n| n * n).collect();
///     Ok::<u64, ReservationError>(squares.iter().sum())
/// });
/// assert_eq!(sum, Ok(332_833_500));
/// assert_eq!(memory::reserve(1).unwrap_err(), ReservationError::NoPool);
/// # Ok::<(), tidegate::BuildError>(())
/// ```
///
/// # Errors
/// * [`NoPool`](ReservationError::NoPool): the calling thread runs no task of a pool.
/// * [`TooLarge`](ReservationError::TooLarge): more than `isize::MAX` bytes, which is larger than
///   any allocation.
/// * [`Refused`](ReservationError::Refused): the request can never be granted, because it exceeds
///   the budget, or because all tasks that could release memory are waiting. In the latter case the
///   serial run needs more than the budget's `serial` value. The request is not counted; the task
///   may retry with less, or work in smaller pieces.
#[track_caller]
pub fn reserve(bytes: usize) -> Result<Reservation, ReservationError> {
    let at = Location::caller();
    let current = WorkerThread::get().ok_or(ReservationError::NoPool)?;
    check_size(bytes)?;
    Ok(Reservation {
        first: verbs::reserve(current, (bytes as u64, at))?,
        more: vec![],
        pool: current.pool().as_arc(),
        bytes,
        at,
    })
}

fn check_size(bytes: usize) -> Result<(), ReservationError> {
    let fits = isize::try_from(bytes).map(drop);
    fits.map_err(|_| ReservationError::TooLarge { bytes })
}

/// Like [`reserve`], but for `n` contiguous values of type `T`.
///
/// ```
/// let pool = tidegate::Pool::builder().workers(2).build()?;
/// let reservation = pool.install(|| tidegate::memory::reserve_for::<u64>(100)).unwrap();
/// assert_eq!(reservation.bytes(), 800);
/// # Ok::<(), tidegate::BuildError>(())
/// ```
///
/// # Errors
/// Like [`reserve`].
#[track_caller]
pub fn reserve_for<T>(n: usize) -> Result<Reservation, ReservationError> {
    reserve(size_of::<T>().saturating_mul(n))
}

/// Creates an empty vector with capacity for `n` values, and reserves its memory.
///
/// ```
/// let pool = tidegate::Pool::builder().workers(2).build()?;
/// let sum = pool.install(|| {
///     let mut numbers = tidegate::memory::vec::<u64>(100).expect("the pool has no budget");
///     numbers.extend(0..100);
///     numbers.iter().sum::<u64>()
/// });
/// assert_eq!(sum, 4950);
/// # Ok::<(), tidegate::BuildError>(())
/// ```
///
/// # Errors
/// Like [`reserve`].
///
/// # Panics
/// Like [`Vec::with_capacity`], which aborts the process if the system is out of memory: a pool
/// without a budget grants every request up to the largest possible allocation.
#[track_caller]
pub fn vec<T>(n: usize) -> Result<Reserved<Vec<T>>, ReservationError> {
    let reservation = reserve_for::<T>(n)?;
    let value = Vec::with_capacity(n);
    Ok(Reserved { value, reservation })
}

/// Runs `program` in the order of the serial program, and returns its result with the most memory
/// that its tasks had reserved at one time: the value that a [`Budget`] needs as `serial`.
///
/// The program runs on a pool of its own, with one thread and the policy
/// [`DepthFirst`](crate::policy::MemoryPolicy::DepthFirst), under which a spawned task runs where
/// the serial program would call it. If the peak depends on the input, measure an input that needs
/// the most.
///
/// ```
/// use tidegate::memory::{self, Budget};
/// use tidegate::{Pool, policy::MemoryPolicy};
///
/// fn work() -> usize {
///     let buffer = memory::vec::<u64>(1 << 10).expect("the serial run fits");
///     let (a, b) = tidegate::join(|| memory::reserve(100).is_ok(), || memory::reserve(200).is_ok());
///     buffer.capacity() + usize::from(a) + usize::from(b)
/// }
///
/// let (first, serial) = memory::serial_peak(work)?;
/// assert_eq!((first, serial), (1026, 8192 + 200));
/// let budget = Budget { bytes: 2 * serial, serial };
/// let pool = Pool::builder().memory(MemoryPolicy::Budget(budget)).build()?;
/// assert_eq!(pool.install(work), first);
/// # Ok::<(), tidegate::BuildError>(())
/// ```
///
/// # Errors
/// If the system creates no thread for the pool.
///
/// # Panics
/// If `program` panics, with its panic.
pub fn serial_peak<R: Send>(
    program: impl FnOnce() -> R + Send,
) -> Result<(R, usize), crate::BuildError> {
    let policy = DepthFirst {
        k: isize::MAX as usize,
    };
    let pool = crate::Pool::builder()
        .workers(1)
        .max_threads(1)
        .memory(crate::policy::MemoryPolicy::DepthFirst(policy))
        .build()?;
    let result = pool.install(program);
    Ok((result, pool.stats().memory.peak as usize))
}

impl Reservation {
    /// Returns the size of the reservation in bytes.
    ///
    /// ```
    /// let pool = tidegate::Pool::builder().workers(2).build()?;
    /// let reservation = pool.install(|| tidegate::memory::reserve(4096)).unwrap();
    /// assert_eq!(reservation.bytes(), 4096);
    /// # Ok::<(), tidegate::BuildError>(())
    /// ```
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Enlarges the reservation by `bytes` bytes, for the calling task. The call may wait;
    /// meanwhile, the task keeps what it has already reserved.
    ///
    /// ```
    /// let pool = tidegate::Pool::builder().workers(2).build()?;
    /// let bytes = pool.install(|| {
    ///     let mut reservation = tidegate::memory::reserve(4096)?;
    ///     reservation.grow(1024)?;
    ///     Ok::<usize, tidegate::memory::ReservationError>(reservation.bytes())
    /// });
    /// assert_eq!(bytes, Ok(5120));
    /// # Ok::<(), tidegate::BuildError>(())
    /// ```
    ///
    /// # Errors
    /// Like [`reserve`], but the size limit applies to the whole reservation. Also returns
    /// [`OtherPool`](ReservationError::OtherPool) if the calling thread runs a task of another
    /// pool. After an error, the reservation is unchanged.
    pub fn grow(&mut self, bytes: usize) -> Result<(), ReservationError> {
        let current = WorkerThread::get().ok_or(ReservationError::NoPool)?;
        if !std::ptr::eq(current.pool(), &*self.pool) {
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

/// A value and the reservation for its memory; created by [`vec`](vec()).
///
/// If the vector grows beyond its reserved capacity, the additional memory isn't covered by the
/// reservation.
///
/// ```
/// let pool = tidegate::Pool::builder().workers(2).build()?;
/// let mut names = pool.install(|| tidegate::memory::vec(2)).unwrap();
/// names.extend(["ebb", "flow"]);
/// assert_eq!(names.len(), 2);
/// # Ok::<(), tidegate::BuildError>(())
/// ```
#[derive(Debug)]
pub struct Reserved<T> {
    // Declared before the reservation, so that the value is dropped first.
    value: T,
    reservation: Reservation,
}

impl<T> Reserved<T> {
    /// Splits this into the value and its reservation.
    ///
    /// ```
    /// let pool = tidegate::Pool::builder().workers(2).build()?;
    /// let reserved = pool.install(|| tidegate::memory::vec::<u8>(16)).unwrap();
    /// let (bytes, reservation) = reserved.into_parts();
    /// assert!(bytes.capacity() >= 16);
    /// assert_eq!(reservation.bytes(), 16);
    /// # Ok::<(), tidegate::BuildError>(())
    /// ```
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
