//! A call from outside the pool, which is stored in the caller's frame.

use super::{Event, wait};
use crate::job::{Header, Kind, Runner, Start, Task};
use crate::pool::PoolInner;
use crate::unwind::{self, Payload};
use std::ptr::NonNull;
use tidegate_sync::UnsafeCell;

/// A closure in the frame of a thread that waits outside the pool until the closure has run.
#[repr(C)]
pub(crate) struct Installed<F, R> {
    header: Header,
    closure: UnsafeCell<Option<F>>,
    result: UnsafeCell<Option<Result<R, Payload>>>,
    done: Event,
}

impl<F, R> Installed<F, R>
where
    F: FnOnce() -> R + Send,
    R: Send,
{
    const KIND: Kind = Kind {
        run: Self::run_installed,
        start: Start::Detached,
    };

    pub(crate) fn new(closure: F, done: Event) -> Self {
        Self {
            // SAFETY: 1. `run_installed` runs an object of this type; 2. it begins with a header.
            header: unsafe { Header::new(&Self::KIND) },
            closure: UnsafeCell::new(Some(closure)),
            result: UnsafeCell::new(None),
            done,
        }
    }

    /// Passes the task to `offer` and waits until `pool` has run it.
    pub(crate) fn run(self, pool: &PoolInner, offer: impl FnOnce(Task)) -> Result<R, Payload> {
        // Our frame must not end before the task has run, not even because of a panic in the
        // runtime.
        unwind::no_unwind(|| {
            // SAFETY: this is the only `Task` of `self`, which is live until the task has run: this
            // function does not return before.
            offer(unsafe { Task::from_raw(NonNull::from(&self).cast()) });
            wait::for_event(&self.done, pool);
        });
        self.result.into_inner().expect("the event is open")
    }

    unsafe fn run_installed(header: NonNull<Header>, _: Runner<'_>) {
        let installed: NonNull<Self> = header.cast();
        // SAFETY: the caller waits for `done`, so its frame is live.
        let this = unsafe { installed.as_ref() };
        let closure = this.closure.with_mut(|closure| {
            // SAFETY: only the task's single run accesses the closure.
            let closure = unsafe { &mut *closure };
            closure.take()
        });
        let result = unwind::catch(closure.expect("a task runs once"));
        this.result.with_mut(|slot| {
            // SAFETY: the caller reads the slot only after `done` is open.
            let slot = unsafe { &mut *slot };
            *slot = Some(result);
        });
        // SAFETY: 1. the caller keeps its frame until the event is open.
        unsafe { Event::open(NonNull::from(&this.done)) };
    }
}
