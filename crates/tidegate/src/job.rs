//! Tasks as the deques see them: a header at the start of a larger object.
//!
//! Four kinds of object begin with a [`Header`]: the second half of a join (in the joiner's frame),
//! a closure spawned into a scope or detached (on the heap), and a closure installed from outside
//! (in the caller's frame). A [`Task`] is the right to run one of these objects once. The worker
//! that takes a task out of a deque or queue runs it, passes it on or gives it back. A task is
//! never dropped.
//!
//! **Fields.** `run` is written before the task is pushed, and read by the worker that runs it.
//! [`crate::latch`] describes the latch word. The closure belongs to the pusher until the push,
//! then to the holder of the [`Task`]. The result belongs to the runner until it opens the latch,
//! then to the joiner.

pub(crate) mod blocks;

pub(crate) use blocks::{Blocks, OwnBlocks};

use crate::latch::Latch;
use std::marker::PhantomData;
use std::ptr::NonNull;

/// A pointer to the worker that runs a task. This module only passes it on.
#[derive(Clone, Copy)]
pub(crate) struct Runner<'a>(NonNull<()>, PhantomData<&'a ()>);

impl<'a> Runner<'a> {
    /// # Safety
    /// 1. For all of `'a`, the calling thread is the worker that `worker` points to.
    #[inline(always)]
    pub(crate) unsafe fn new(worker: NonNull<()>) -> Self {
        Self(worker, PhantomData)
    }

    #[inline(always)]
    pub(crate) fn as_ptr(self) -> NonNull<()> {
        self.0
    }
}

type Run = unsafe fn(NonNull<Header>, Runner<'_>);

/// The start of every task object.
#[repr(C)]
pub(crate) struct Header {
    run: Run,
    pub(crate) latch: Latch,
}

impl Header {
    /// # Safety
    /// 1. `run` may be called once with the object that begins with this header.
    /// 2. If the latch is from [`Latch::for_scoped`], that object is a `Scoped`.
    #[inline(always)]
    pub(crate) unsafe fn new(run: Run, latch: Latch) -> Self {
        Self { run, latch }
    }
}

/// The right to run one task once.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Task(NonNull<Header>);

// SAFETY: closures and results are Send by the bounds of the functions that make tasks; the pointer
// only identifies them.
unsafe impl Send for Task {}

impl Task {
    /// # Safety
    /// 1. The header is live and initialized until the task has run, and no other `Task` is made
    ///    from it.
    #[inline(always)]
    pub(crate) unsafe fn from_raw(header: NonNull<Header>) -> Self {
        Self(header)
    }

    #[inline(always)]
    pub(crate) fn as_raw(&self) -> NonNull<Header> {
        self.0
    }

    pub(crate) fn header(&self) -> &Header {
        // SAFETY: the header is live until the task has run (from_raw, 1), and running consumes the
        // task.
        unsafe { self.0.as_ref() }
    }

    /// Runs the task. A panic of a half goes to its joiner, and a panic of a detached task goes to
    /// its handle. A panic of a scope's task unwinds to the caller, which stores it in the scope.
    #[inline]
    pub(crate) fn run(self, runner: Runner<'_>) {
        let run = self.header().run;
        // SAFETY: `run` is the function made for the type that begins with this header, and the
        // task runs once: `self` is consumed.
        unsafe { run(self.0, runner) }
    }
}
