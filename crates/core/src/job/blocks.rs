//! Memory for spawned tasks: blocks of two sizes. A worker that has run a task keeps the task's
//! block, and uses it for the next task that it spawns.
//!
//! So if one worker spawns and runs a task, each of the two steps costs a few instructions instead
//! of an allocator call. A block goes to the list of the worker that ran the task, so blocks may
//! move from a worker that spawns to a worker that steals. A list keeps at most `KEPT` bytes and
//! gives further blocks back to the allocator. A value that does not fit into a block is allocated
//! separately. Tasks use the large blocks, and the edges between intervals use the small ones.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::marker::PhantomData;
use std::ptr::{NonNull, null_mut};
use tidegate_sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

const ALIGN: usize = 16;
/// Not 128: glibc lets another thread free an allocation of up to 120 bytes without a lock.
const LARGE: usize = 120;
const SMALL: usize = 16;
/// The maximum number of bytes that a worker keeps in blocks of each size.
const KEPT: usize = 32 * 1024;

/// Free blocks of both sizes, which one worker keeps for its next tasks.
#[derive(Default)]
pub(crate) struct Blocks {
    large: List<LARGE>,
    small: List<SMALL>,
}

/// The blocks of the calling thread. The type is neither `Send` nor `Sync`, so it stays on that
/// thread.
#[derive(Clone, Copy)]
pub struct OwnBlocks<'a>(&'a Blocks, PhantomData<*mut ()>);

impl<'a> OwnBlocks<'a> {
    /// # Safety
    /// 1. The calling thread is the worker that keeps `blocks`, for all of `'a`.
    #[inline(always)]
    pub(crate) unsafe fn new(blocks: &'a Blocks) -> Self {
        Self(blocks, PhantomData)
    }
}

/// Free blocks of one size; the first word of each block contains the address of the next block.
/// Only the owner's thread uses the list, with plain loads and stores. The words are atomics
/// because threads share the worker's data.
#[derive(Default)]
struct List<const SIZE: usize> {
    first: AtomicPtr<u8>,
    count: AtomicUsize,
}

const fn fits<T>(size: usize) -> bool {
    size_of::<T>() <= size && align_of::<T>() <= ALIGN
}

/// Moves `value` to a block, or to a separate allocation if it does not fit. `blocks` is `None`
/// unless the calling thread is a worker.
#[inline]
pub fn place<T>(value: T, blocks: Option<OwnBlocks<'_>>) -> NonNull<T> {
    if !fits::<T>(LARGE) {
        return NonNull::from(Box::leak(Box::new(value)));
    }
    let block = if fits::<T>(SMALL) {
        let kept = blocks.and_then(|blocks| blocks.0.small.take());
        kept.unwrap_or_else(fresh::<SMALL>)
    } else {
        let kept = blocks.and_then(|blocks| blocks.0.large.take());
        kept.unwrap_or_else(fresh::<LARGE>)
    };
    let block = block.cast::<T>();
    // SAFETY: the block is ours alone, and large and aligned enough for a T (`fits`).
    unsafe { block.write(value) };
    block
}

/// Moves a placed value out of its memory, and gives the memory back.
///
/// # Safety
/// 1. `placed` is from [`place`], and is not used any more.
#[inline]
pub unsafe fn take_out<T>(placed: NonNull<T>, blocks: Option<OwnBlocks<'_>>) -> T {
    // SAFETY: `place` has filled this memory, and the value is read only once (1).
    let value = unsafe { placed.read() };
    // SAFETY: 1. by this function's condition 1; 2. the value was moved out just now.
    unsafe { release(placed, blocks) };
    value
}

/// Gives back the memory of a placed value.
///
/// # Safety
/// 1. `placed` is from [`place`], and is not used any more.
/// 2. The value was moved out or dropped.
#[inline]
pub unsafe fn release<T>(placed: NonNull<T>, blocks: Option<OwnBlocks<'_>>) {
    if !fits::<T>(LARGE) {
        let memory = placed.cast::<std::mem::MaybeUninit<T>>();
        // SAFETY: `place` has leaked this box under the same condition (1). Dropping the box drops
        // no value, because the value is gone (2).
        return drop(unsafe { Box::from_raw(memory.as_ptr()) });
    }
    let block = placed.cast();
    if fits::<T>(SMALL) {
        // SAFETY: 1. the block is originally from `fresh` of this size, and nothing uses it now.
        unsafe { List::<SMALL>::give(blocks.map(|blocks| &blocks.0.small), block) };
    } else {
        // SAFETY: 1. the block is originally from `fresh` of this size, and nothing uses it now.
        unsafe { List::<LARGE>::give(blocks.map(|blocks| &blocks.0.large), block) };
    }
}

#[inline]
fn layout(size: usize) -> Layout {
    Layout::from_size_align(size, ALIGN).expect("a small size")
}

#[cold]
fn fresh<const SIZE: usize>() -> NonNull<u8> {
    // SAFETY: the layout's size is not zero.
    let block = unsafe { alloc(layout(SIZE)) };
    NonNull::new(block).unwrap_or_else(|| handle_alloc_error(layout(SIZE)))
}

/// # Safety
/// 1. `block` is from [`fresh`] of this size, and is not used any more.
#[cold]
unsafe fn free<const SIZE: usize>(block: NonNull<u8>) {
    // SAFETY: the block was allocated with this layout (1).
    unsafe { dealloc(block.as_ptr(), layout(SIZE)) };
}

impl<const SIZE: usize> List<SIZE> {
    #[inline]
    fn take(&self) -> Option<NonNull<u8>> {
        // Relaxed, here and below: only the owner's thread uses these words.
        let block = NonNull::new(self.first.load(Ordering::Relaxed))?;
        // SAFETY: the first word of a kept block is the address of the next block (`keep`).
        let next = unsafe { block.cast::<*mut u8>().read() };
        self.first.store(next, Ordering::Relaxed);
        self.count
            .store(self.count.load(Ordering::Relaxed) - 1, Ordering::Relaxed);
        Some(block)
    }

    /// Gives the block to this list or, without a list, back to the allocator.
    ///
    /// # Safety
    /// 1. `block` is from [`fresh`] of this size, and is not used any more.
    #[inline]
    unsafe fn give(list: Option<&Self>, block: NonNull<u8>) {
        match list {
            // SAFETY: 1. by this function's condition 1.
            Some(list) => unsafe { list.keep(block) },
            // SAFETY: 1. by this function's condition 1.
            None => unsafe { free::<SIZE>(block) },
        }
    }

    /// # Safety
    /// 1. `block` is from [`fresh`] of this size, and is not used any more.
    #[inline]
    unsafe fn keep(&self, block: NonNull<u8>) {
        // Relaxed, here and below: only the owner's thread uses these words.
        let count = self.count.load(Ordering::Relaxed);
        if count == KEPT / SIZE {
            // SAFETY: 1. by this function's condition 1.
            return unsafe { free::<SIZE>(block) };
        }
        let next = self.first.load(Ordering::Relaxed);
        // SAFETY: a block has room for a word, is aligned for it, and is ours alone (1).
        unsafe { block.cast::<*mut u8>().write(next) };
        self.first.store(block.as_ptr(), Ordering::Relaxed);
        self.count.store(count + 1, Ordering::Relaxed);
    }
}

impl<const SIZE: usize> Drop for List<SIZE> {
    fn drop(&mut self) {
        while let Some(block) = self.take() {
            // SAFETY: 1. a kept block is originally from `fresh` of this size, and it is no longer
            // in the list.
            unsafe { free::<SIZE>(block) };
        }
        debug_assert_eq!(self.first.load(Ordering::Relaxed), null_mut());
    }
}
