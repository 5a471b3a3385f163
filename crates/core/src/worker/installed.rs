//! A call from outside the pool, which is stored in the caller's frame.

use super::{Event, WorkerThread, wait};
use crate::job::{Header, Kind, Runner, Start, Task};
use crate::pool::PoolInner;
use crate::pool::enter::Body;
use crate::unwind::{self, Payload};
use std::ptr::NonNull;
use tidegate_sync::UnsafeCell;

/// A body in the frame of a thread that waits outside the pool until the body has run.
#[repr(C)]
pub(crate) struct Installed<'a> {
    header: Header,
    body: UnsafeCell<&'a mut Body<'a>>,
    result: UnsafeCell<Result<(), Payload>>,
    done: Event,
}

impl<'a> Installed<'a> {
    const KIND: Kind = Kind {
        run: Self::run_installed,
        start: Start::Detached,
    };

    pub(crate) fn new(body: &'a mut Body<'a>, done: Event) -> Self {
        Self {
            // SAFETY: 1. `run_installed` runs an object of this type; 2. it begins with a header.
            header: unsafe { Header::new(&Self::KIND) },
            body: UnsafeCell::new(body),
            result: UnsafeCell::new(Ok(())),
            done,
        }
    }

    /// Passes the task to `offer` and waits until `pool` has run it.
    pub(crate) fn run(self, pool: &PoolInner, offer: impl FnOnce(Task)) -> Result<(), Payload> {
        // Our frame must not end before the task has run, not even because of a panic in the
        // runtime.
        unwind::no_unwind(|| {
            // SAFETY: this is the only `Task` of `self`, which is live until the task has run: this
            // function does not return before.
            offer(unsafe { Task::from_raw(NonNull::from(&self).cast()) });
            wait::for_event(&self.done, pool);
        });
        self.result.into_inner()
    }

    unsafe fn run_installed(header: NonNull<Header>, runner: Runner<'_>) {
        let installed: NonNull<Self> = header.cast();
        // SAFETY: the caller waits for `done`, so its frame is live.
        let this = unsafe { installed.as_ref() };
        let result = this.body.with_mut(|body| {
            // SAFETY: only the task's single run accesses the body.
            let body = unsafe { &mut *body };
            unwind::catch(|| body(WorkerThread::from(runner)))
        });
        this.result.with_mut(|slot| {
            // SAFETY: the caller reads the slot only after `done` is open.
            let slot = unsafe { &mut *slot };
            *slot = result;
        });
        // SAFETY: 1. the caller keeps its frame until the event is open.
        unsafe { Event::open(NonNull::from(&this.done)) };
    }
}
