//! Tasks that belong to no frame and no scope.

use super::WorkerThread;
use crate::job::{Header, Kind, Runner, Start, Task, blocks};
use std::ptr::NonNull;

#[repr(C)]
struct Detached<F> {
    header: Header,
    closure: F,
}

impl<F: FnOnce(WorkerThread<'_>) + Send + 'static> Detached<F> {
    const KIND: Kind = Kind {
        run: Self::run_placed,
        start: Start::Detached,
    };

    unsafe fn run_placed(header: NonNull<Header>, runner: Runner<'_>) {
        let current = WorkerThread::from(runner);
        let task: NonNull<Self> = header.cast();
        // SAFETY: 1. the task comes from `blocks::place` in `Task::detached`; a task runs once.
        let Self { closure, .. } = unsafe { blocks::take_out(task, Some(current.blocks())) };
        closure(current);
    }
}

impl Task {
    /// Creates a task that no scope or joiner waits for. The closure must not unwind. `current` is
    /// the calling thread's worker, if any.
    pub(crate) fn detached<F>(closure: F, current: Option<WorkerThread<'_>>) -> Self
    where
        F: FnOnce(WorkerThread<'_>) + Send + 'static,
    {
        // SAFETY: 1. `run_placed` runs an object of this type; 2. it begins with a header.
        let header = unsafe { Header::new(&Detached::<F>::KIND) };
        let placed = blocks::place(
            Detached { header, closure },
            current.map(WorkerThread::blocks),
        );
        // SAFETY: 1. the task is placed here, and its only run takes it out.
        unsafe { Self::from_raw(placed.cast()) }
    }
}
