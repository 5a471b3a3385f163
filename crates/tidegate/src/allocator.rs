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
/// use tidegate::space::{Counting, allocated};
///
/// #[global_allocator]
/// static ALLOCATOR: Counting = Counting::system();
///
/// let before = allocated().live;
/// let buffer = vec![0_u8; 1 << 20];
/// assert!(allocated().live >= before + (1 << 20));
/// # drop(buffer);
/// ```
///
/// Each allocation and each free costs an atomic addition to a word that all threads share.
#[derive(Debug)]
pub struct Counting<A = System>(A);

impl Counting {
    /// Over the system's allocator.
    #[must_use]
    pub const fn system() -> Self {
        Self(System)
    }
}

impl<A> Counting<A> {
    /// Over another allocator.
    #[must_use]
    pub const fn over(allocator: A) -> Self {
        Self(allocator)
    }
}

/// What a program has allocated through [`Counting`], in bytes; all 0 where that is not its global allocator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Allocated {
    /// What is allocated now.
    pub live: u64,
    /// The most that ever was.
    pub peak: u64,
    /// The most by which it ever was more than what all pools had declared.
    pub undeclared_peak: u64,
}

/// What the program has allocated so far.
#[must_use]
pub fn allocated() -> Allocated {
    Allocated {
        live: LIVE.get(),
        peak: PEAK.get(),
        undeclared_peak: UNDECLARED.get(),
    }
}

fn count(bytes: usize) {
    let live = LIVE.add(bytes as u64);
    PEAK.raise_to(live);
    UNDECLARED.raise_to(live.saturating_sub(DECLARED.get()));
}

fn uncount(bytes: usize) {
    LIVE.take(bytes as u64);
}

// SAFETY: every call goes on to the allocator below as it came, and what that answers is the answer; counting neither allocates nor unwinds.
unsafe impl<A: GlobalAlloc> GlobalAlloc for Counting<A> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's duties are those of the allocator below.
        let block = unsafe { self.0.alloc(layout) };
        if !block.is_null() {
            count(layout.size());
        }
        block
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as in `alloc`.
        let block = unsafe { self.0.alloc_zeroed(layout) };
        if !block.is_null() {
            count(layout.size());
        }
        block
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as in `alloc`.
        unsafe { self.0.dealloc(block, layout) };
        uncount(layout.size());
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as in `alloc`.
        let new = unsafe { self.0.realloc(block, layout, size) };
        if !new.is_null() {
            // The old block first: both are not there at once, as far as can be told.
            uncount(layout.size());
            count(size);
        }
        new
    }
}
