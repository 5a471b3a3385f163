//! An allocator that counts, so that what is allocated can be put beside what is declared.

use std::alloc::{GlobalAlloc, Layout, System};
use tidegate_sync::sum::Sum;

static DECLARED: Sum = Sum::zero();
static LIVE: Sum = Sum::zero();
static PEAK: Sum = Sum::zero();
static UNDECLARED: Sum = Sum::zero();

/// So many bytes more are declared, by any pool.
pub(crate) fn declare(bytes: u64) {
    DECLARED.add(bytes);
}

/// So many less.
pub(crate) fn undeclare(bytes: u64) {
    DECLARED.take(bytes);
}

/// Counts what a program allocates; to be made its global allocator.
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
/// Each allocation and each free costs an atomic addition to a word that all threads share; while nothing is counted, a load.
#[derive(Debug)]
pub struct CountingAllocator<A = System> {
    allocator: A,
    /// Whether it counts: 0 or 1.
    counts: Sum,
}

impl CountingAllocator {
    /// Over the system's allocator.
    #[must_use]
    pub const fn system() -> Self {
        Self::over(System)
    }
}

impl<A> CountingAllocator<A> {
    /// Over another allocator.
    #[must_use]
    pub const fn over(allocator: A) -> Self {
        Self {
            allocator,
            counts: Sum::of(1),
        }
    }

    /// Nothing is counted until [`start`](Self::start).
    #[must_use]
    pub const fn paused(mut self) -> Self {
        self.counts = Sum::zero();
        self
    }

    /// Counts from now on, and nothing that is allocated already.
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

/// What a program has allocated through [`CountingAllocator`], in bytes; all 0 where that is not its global allocator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AllocatorStats {
    /// What is allocated now.
    pub live: u64,
    /// The most that ever was.
    pub peak: u64,
    /// The most by which it ever was more than what all pools had declared.
    pub undeclared_peak: u64,
}

/// A sum that may have gone below 0, because something was freed that had not been counted.
fn floored(sum: u64) -> u64 {
    if sum > u64::MAX / 2 { 0 } else { sum }
}

/// What the program has allocated so far.
#[must_use]
pub fn stats() -> AllocatorStats {
    AllocatorStats {
        live: floored(LIVE.get()),
        peak: PEAK.get(),
        undeclared_peak: UNDECLARED.get(),
    }
}

// SAFETY: every call goes on to the allocator below as it came, and what that answers is the answer; counting neither allocates nor unwinds.
unsafe impl<A: GlobalAlloc> GlobalAlloc for CountingAllocator<A> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's duties are those of the allocator below.
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
            // The old block first: both are not there at once, as far as can be told.
            self.uncount(layout.size());
            self.count(size);
        }
        new
    }
}
