//! Tasks as the deques see them: a header at the start of a larger object.
//!
//! These objects begin with a [`Header`]: the second half of a join (in the joiner's frame), a
//! closure spawned into a scope or detached, a task that its handle shares and an interval (on the
//! heap), and a closure installed from outside (in the caller's frame). A [`Task`] is the right to
//! run one of these objects once. The worker that takes a task out of a deque or queue runs it,
//! passes it on or gives it back. A task is never dropped.
//!
//! **Fields.** The header is written before the task is pushed, and read by the workers that hold
//! the task. Only a half has a latch; [`crate::latch`] describes its word. The closure belongs to
//! the pusher until the push, then to the holder of the [`Task`]; that of a shared task belongs to
//! whoever has begun it. The result belongs to the runner until it opens the latch, then to the
//! joiner.

pub mod blocks;

pub(crate) use blocks::{Blocks, OwnBlocks};

use crate::latch::Latch;
use std::marker::PhantomData;
use std::ptr::NonNull;

/// A pointer to the worker that runs a task. This module only passes it on.
#[derive(Clone, Copy)]
pub struct Runner<'a>(NonNull<()>, PhantomData<&'a ()>);

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

/// The type of a task object.
pub struct Kind {
    /// Runs the task.
    pub run: Run,
    /// What the task begins with.
    pub start: Start,
}

/// What a task object begins with, and so who waits for its end.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// A `HalfHeader`: the joiner.
    Half,
    /// A `Scoped`: the scope's owner.
    Scoped,
    /// Only a [`Header`]: nobody, or whoever waits for an event.
    Detached,
}

/// The start of every task object.
#[repr(C)]
pub struct Header {
    kind: &'static Kind,
}

impl Header {
    /// # Safety
    /// 1. The run of `kind` may be called with the object that begins with this header, once for
    ///    each `Task` that is made from it.
    /// 2. That object begins with what `kind` says.
    #[inline(always)]
    pub(crate) unsafe fn new(kind: &'static Kind) -> Self {
        Self { kind }
    }
}

/// The start of the second half of a join.
#[repr(C)]
pub(crate) struct HalfHeader {
    header: Header,
    pub(crate) latch: Latch,
}

impl HalfHeader {
    /// # Safety
    /// 1. The run of `kind`, the kind of a half, may be called once with the object that begins
    ///    with this header.
    #[inline(always)]
    pub(crate) unsafe fn new(kind: &'static Kind) -> Self {
        Self {
            // SAFETY: 1. guaranteed by the caller (1); 2. the header of a half follows.
            header: unsafe { Header::new(kind) },
            latch: Latch::new(),
        }
    }
}

/// The right to run one task once. Its order means nothing: it lets a heap hold tasks behind keys,
/// of which no two are equal.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Task(NonNull<Header>);

// SAFETY: closures and results are Send by the bounds of the functions that make tasks; the pointer
// only identifies them.
unsafe impl Send for Task {}

impl Task {
    /// # Safety
    /// 1. The header is live and initialized until the task has run. No other `Task` is made from
    ///    it, unless its kind allows several.
    #[inline(always)]
    pub unsafe fn from_raw(header: NonNull<Header>) -> Self {
        Self(header)
    }

    #[inline(always)]
    pub(crate) fn as_raw(&self) -> NonNull<Header> {
        self.0
    }

    fn kind(&self) -> &'static Kind {
        // SAFETY: the header is live until the task has run (from_raw, 1), and running consumes the
        // task.
        unsafe { self.0.as_ref() }.kind
    }

    #[inline]
    pub(crate) fn is_scoped(&self) -> bool {
        self.kind().start == Start::Scoped
    }

    pub(crate) fn is_detached(&self) -> bool {
        self.kind().start == Start::Detached
    }

    /// Returns the start of the half, if this task is one.
    #[inline]
    pub(crate) fn half(&self) -> Option<&HalfHeader> {
        // SAFETY: the kind shows what the object begins with, which is live as in `kind`.
        (self.kind().start == Start::Half).then(|| unsafe { self.0.cast().as_ref() })
    }

    /// Whether this task is that half.
    pub(crate) fn is_half(&self, half: &HalfHeader) -> bool {
        std::ptr::eq(self.0.as_ptr(), &raw const half.header)
    }

    /// Runs the task. A panic of a half goes to its joiner, and a panic of a detached task goes to
    /// its handle. A panic of a scope's task unwinds to the caller, which stores it in the scope.
    #[inline]
    pub(crate) fn run(self, runner: Runner<'_>) {
        let run = self.kind().run;
        // SAFETY: `run` is the function made for the type that begins with this header, and the
        // task runs once: `self` is consumed.
        unsafe { run(self.0, runner) }
    }
}
