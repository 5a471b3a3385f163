//! The second half of a join, which is stored in the joiner's frame.

use super::WorkerThread;
use super::memory;
use crate::job::{HalfHeader, Header, Kind, Runner, Start};
use crate::latch::Latch;
use crate::sleep::wake;
use crate::unwind::{self, Payload};
use std::mem::{ManuallyDrop, MaybeUninit};
use std::ptr::NonNull;
use tidegate_sync::UnsafeCell;

#[repr(C)]
pub(crate) struct Half<F, R> {
    header: HalfHeader,
    closure: UnsafeCell<ManuallyDrop<F>>,
    result: UnsafeCell<MaybeUninit<Result<R, Payload>>>,
}

impl<F, R> Half<F, R>
where
    F: FnOnce(WorkerThread<'_>, bool) -> R + Send,
    R: Send,
{
    const KIND: Kind = Kind {
        run: Self::run_stolen,
        start: Start::Half,
    };

    /// Creates a half. Its closure receives the worker that runs the half, and whether the half was
    /// stolen.
    #[inline(always)]
    pub(crate) fn new(closure: F) -> Self {
        Self {
            // SAFETY: 1. `run_stolen` runs a half of this type.
            header: unsafe { HalfHeader::new(&Self::KIND) },
            closure: UnsafeCell::new(ManuallyDrop::new(closure)),
            result: UnsafeCell::new(MaybeUninit::uninit()),
        }
    }

    #[inline(always)]
    pub(crate) fn as_raw(&self) -> NonNull<Header> {
        NonNull::from(self).cast()
    }

    pub(crate) fn header(&self) -> &HalfHeader {
        &self.header
    }

    /// Takes the closure out, for the half's own worker to run or drop.
    ///
    /// # Safety
    /// 1. The half was taken back from the deque, or never pushed.
    /// 2. This is called only once.
    #[inline(always)]
    pub(crate) unsafe fn take_closure(&self) -> F {
        self.closure.with_mut(|closure| {
            // SAFETY: the pointer is to our own field, which no other thread accesses (1).
            let closure = unsafe { &mut *closure };
            // SAFETY: the closure is taken only once (1, 2).
            unsafe { ManuallyDrop::take(closure) }
        })
    }

    /// Takes the result that the thief has written.
    ///
    /// # Safety
    /// 1. The latch was seen open.
    /// 2. This is called only once.
    pub(crate) unsafe fn take_result(&self) -> Result<R, Payload> {
        self.result.with(|result| {
            // SAFETY: the thief wrote the result before it opened the latch (1), and no longer
            // accesses it.
            let result = unsafe { &*result };
            // SAFETY: the result is written, see above, and read once (2).
            unsafe { result.assume_init_read() }
        })
    }

    unsafe fn run_stolen(header: NonNull<Header>, runner: Runner<'_>) {
        let current = WorkerThread::from(runner);
        let half: NonNull<Self> = header.cast();
        // SAFETY: the caller of Task::run holds the task, so the joiner waits and its frame is
        // live.
        let this = unsafe { half.as_ref() };
        // SAFETY: 1. the runner of a task has taken it from the deque; 2. a task runs once.
        let closure = unsafe { this.take_closure() };
        let result = unwind::catch(|| closure(current, true));
        this.result.with_mut(|slot| {
            // SAFETY: the joiner does not read the slot before the latch is open, and no other
            // thread accesses it.
            let slot = unsafe { &mut *slot };
            slot.write(result);
        });
        memory::end(current);
        let latch = NonNull::from(&this.header.latch);
        // SAFETY: 1. the latch is live until it is opened, and the frame is not accessed
        // afterwards; 2. the result is written.
        let sleeper = unsafe { Latch::open(latch) };
        // The joiner of a half is a worker of the pool that runs the half.
        if let Some(joiner) = sleeper {
            wake::latch_opened(current.pool(), joiner, Some(current));
        }
    }
}
