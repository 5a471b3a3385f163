//! Memory for spawned tasks: blocks of one size, kept by the worker that has run a task for the next one that it spawns.
//!
//! A spawn and its run on one worker then cost a few instructions instead of a call of the allocator each. A block goes to the
//! list of whoever ran the task, so blocks may wander from a worker that spawns to one that steals; a list keeps at most
//! [`KEPT`], so what wanders goes back to the allocator. Tasks that do not fit have memory of their own.

use crate::worker::Current;
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ptr::{NonNull, null_mut};
use tidegate_sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

const BLOCK: Layout = match Layout::from_size_align(128, 16) {
    Ok(layout) => layout,
    Err(_) => panic!("a power of two"),
};
/// How many blocks a worker keeps at most.
const KEPT: usize = 256;

/// The blocks that one worker keeps, each with the address of the next one in its first word. Only the owner's thread looks at
/// them; atomics, because a worker is shared, with plain loads and stores.
#[derive(Default)]
pub(crate) struct Blocks {
    first: AtomicPtr<u8>,
    count: AtomicUsize,
}

const fn fits<T>() -> bool {
    size_of::<T>() <= BLOCK.size() && align_of::<T>() <= BLOCK.align()
}

/// Moves `value` to memory of its own; `current` is the calling thread, if it is a worker.
#[inline]
pub(crate) fn place<T>(value: T, current: Option<Current<'_>>) -> NonNull<T> {
    if !fits::<T>() {
        return NonNull::from(Box::leak(Box::new(value)));
    }
    let kept = current.and_then(|current| current.blocks().take());
    let block = kept.unwrap_or_else(fresh).cast::<T>();
    // SAFETY: a block of ours, which nobody else has, is large and aligned enough for a T (`fits`).
    unsafe { block.write(value) };
    block
}

/// Moves a value that was placed back out of its memory.
///
/// # Safety
/// 1. `placed` is from [`place`], and nobody uses it any more.
#[inline]
pub(crate) unsafe fn take_out<T>(placed: NonNull<T>, current: Current<'_>) -> T {
    if !fits::<T>() {
        // SAFETY: leaked by `place`, which asks the same (1).
        return *unsafe { Box::from_raw(placed.as_ptr()) };
    }
    // SAFETY: filled by `place`, read once (1).
    let value = unsafe { placed.read() };
    // SAFETY: 1. a block, which is free now.
    unsafe { current.blocks().keep(placed.cast()) };
    value
}

#[cold]
fn fresh() -> NonNull<u8> {
    // SAFETY: the layout's size is not zero.
    let block = unsafe { alloc(BLOCK) };
    NonNull::new(block).unwrap_or_else(|| handle_alloc_error(BLOCK))
}

/// # Safety
/// 1. `block` is from [`fresh`], and nobody uses it any more.
#[cold]
unsafe fn free(block: NonNull<u8>) {
    // SAFETY: allocated with this layout (1).
    unsafe { dealloc(block.as_ptr(), BLOCK) };
}

impl Blocks {
    #[inline]
    fn take(&self) -> Option<NonNull<u8>> {
        // Relaxed, here and below: only the owner's thread uses these words.
        let block = NonNull::new(self.first.load(Ordering::Relaxed))?;
        // SAFETY: the first word of a kept block is the address of the next (`keep`).
        let next = unsafe { block.cast::<*mut u8>().read() };
        self.first.store(next, Ordering::Relaxed);
        self.count
            .store(self.count.load(Ordering::Relaxed) - 1, Ordering::Relaxed);
        Some(block)
    }

    /// # Safety
    /// 1. `block` is from [`fresh`], and nobody uses it any more.
    #[inline]
    unsafe fn keep(&self, block: NonNull<u8>) {
        // Relaxed, here and below: only the owner's thread uses these words.
        let count = self.count.load(Ordering::Relaxed);
        if count == KEPT {
            // SAFETY: 1. the caller's.
            return unsafe { free(block) };
        }
        let next = self.first.load(Ordering::Relaxed);
        // SAFETY: a block has room for a word and is aligned for it, and nobody else uses it (1).
        unsafe { block.cast::<*mut u8>().write(next) };
        self.first.store(block.as_ptr(), Ordering::Relaxed);
        self.count.store(count + 1, Ordering::Relaxed);
    }
}

impl Drop for Blocks {
    fn drop(&mut self) {
        while let Some(block) = self.take() {
            // SAFETY: 1. kept, and no longer in the list.
            unsafe { free(block) };
        }
        debug_assert_eq!(self.first.load(Ordering::Relaxed), null_mut());
    }
}
