//! A counting allocator, for comparing allocated with declared memory.

use std::alloc::{GlobalAlloc, Layout, System};
use tidegate_sync::sum::Sum;

static DECLARED: Sum = Sum::zero();
static LIVE: Sum = Sum::zero();
static PEAK: Sum = Sum::zero();
static UNDECLARED: Sum = Sum::zero();

/// Adds `bytes` to the memory declared by the tasks of all pools.
pub(crate) fn declare(bytes: u64) {
    DECLARED.add(bytes);
}

pub(crate) fn undeclare(bytes: u64) {
    DECLARED.take(bytes);
}

/// A global allocator that counts the memory that the program allocates.
///
/// ```
/// use tidegate::memory::{CountingAllocator, stats};
///
/// #[global_allocator]
/// static ALLOCATOR: CountingAllocator = CountingAllocator::system();
///
/// let before = stats().live;
/// let buffer = vec![0_u8; 1 << 20];
/// assert!(stats().live >= before + (1 << 20));
/// # drop(buffer);
/// ```
///
/// Each allocation and each free performs an atomic addition on a word that all threads share.
/// While counting is paused, it only performs a load.
#[derive(Debug)]
pub struct CountingAllocator<A = System> {
    allocator: A,
    /// 1 while the allocator counts, otherwise 0.
    counts: Sum,
}

impl CountingAllocator {
    /// Wraps the system's allocator; counting begins immediately.
    ///
    /// ```
    /// use tidegate::memory::CountingAllocator;
    ///
    /// #[global_allocator]
    /// static ALLOCATOR: CountingAllocator = CountingAllocator::system();
    ///
    /// assert!(tidegate::memory::stats().live > 0);
    /// ```
    #[must_use]
    pub const fn system() -> Self {
        Self::over(System)
    }
}

impl<A> CountingAllocator<A> {
    /// Wraps another allocator; counting begins immediately.
    ///
    /// ```
    /// use std::alloc::System;
    /// use tidegate::memory::CountingAllocator;
    ///
    /// // In place of `System`, name the allocator that the program uses.
    /// #[global_allocator]
    /// static ALLOCATOR: CountingAllocator<System> = CountingAllocator::over(System);
    ///
    /// assert!(tidegate::memory::stats().peak > 0);
    /// ```
    #[must_use]
    pub const fn over(allocator: A) -> Self {
        Self {
            allocator,
            counts: Sum::of(1),
        }
    }

    /// Pauses counting until [`start`](Self::start) is called.
    ///
    /// ```
    /// use tidegate::memory::{AllocatorStats, CountingAllocator, stats};
    ///
    /// #[global_allocator]
    /// static ALLOCATOR: CountingAllocator = CountingAllocator::system().paused();
    ///
    /// assert_eq!(stats(), AllocatorStats::default());
    /// ALLOCATOR.start();
    /// let buffer = vec![0_u8; 1 << 20];
    /// assert!(stats().live >= 1 << 20);
    /// # drop(buffer);
    /// ```
    #[must_use]
    pub const fn paused(mut self) -> Self {
        self.counts = Sum::zero();
        self
    }

    /// Starts counting. Memory that is already allocated is not counted.
    ///
    /// ```
    /// use tidegate::memory::{CountingAllocator, stats};
    ///
    /// #[global_allocator]
    /// static ALLOCATOR: CountingAllocator = CountingAllocator::system().paused();
    ///
    /// ALLOCATOR.start();
    /// let buffer = vec![0_u8; 1 << 20];
    /// assert!(stats().live >= 1 << 20);
    /// # drop(buffer);
    /// ```
    pub fn start(&self) {
        self.counts.raise_to(1);
    }

    fn count(&self, bytes: usize) {
        if self.counts.get() == 0 {
            return;
        }
        let live = floored(LIVE.add(bytes as u64));
        PEAK.raise_to(live);
        UNDECLARED.raise_to(live.saturating_sub(DECLARED.get()));
    }

    fn uncount(&self, bytes: usize) {
        if self.counts.get() > 0 {
            LIVE.take(bytes as u64);
        }
    }
}

/// The memory allocated through [`CountingAllocator`], in bytes. All fields are 0 if the program
/// has another global allocator.
///
/// ```
/// use tidegate::memory::AllocatorStats;
///
/// // This program has another global allocator.
/// let AllocatorStats { live, peak, undeclared_peak, .. } = tidegate::memory::stats();
/// assert_eq!((live, peak, undeclared_peak), (0, 0, 0));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AllocatorStats {
    /// The currently allocated memory.
    pub live: u64,
    /// The largest value of `live` so far.
    pub peak: u64,
    /// The largest amount so far by which `live` exceeded the memory that all pools had declared.
    pub undeclared_peak: u64,
}

/// Returns `sum`, or 0 if `sum` is negative because the program has freed memory that was never
/// counted.
fn floored(sum: u64) -> u64 {
    if sum > u64::MAX / 2 { 0 } else { sum }
}

/// Returns how much memory the program has allocated, now and at its peak.
///
/// ```
/// use tidegate::memory::{CountingAllocator, stats};
///
/// #[global_allocator]
/// static ALLOCATOR: CountingAllocator = CountingAllocator::system();
///
/// let buffer = vec![0_u8; 1 << 20];
/// drop(buffer);
/// assert!(stats().peak >= 1 << 20);
/// ```
#[must_use]
pub fn stats() -> AllocatorStats {
    AllocatorStats {
        live: floored(LIVE.get()),
        peak: PEAK.get(),
        undeclared_peak: UNDECLARED.get(),
    }
}

// SAFETY: every call is passed on to the wrapped allocator unchanged, and its result is returned;
// counting neither allocates nor unwinds.
unsafe impl<A: GlobalAlloc> GlobalAlloc for CountingAllocator<A> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's obligations are those of the wrapped allocator.
        let block = unsafe { self.allocator.alloc(layout) };
        if !block.is_null() {
            self.count(layout.size());
        }
        block
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as in `alloc`.
        let block = unsafe { self.allocator.alloc_zeroed(layout) };
        if !block.is_null() {
            self.count(layout.size());
        }
        block
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as in `alloc`.
        unsafe { self.allocator.dealloc(block, layout) };
        self.uncount(layout.size());
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as in `alloc`.
        let new = unsafe { self.allocator.realloc(block, layout, size) };
        if !new.is_null() {
            // Uncount the old block first, so that the peak never includes both blocks.
            self.uncount(layout.size());
            self.count(size);
        }
        new
    }
}
