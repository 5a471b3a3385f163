//! Tasks that belong to no frame and no scope.

use super::WorkerThread;
use crate::job::{Header, Kind, Runner, Start, Task, blocks};
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::Arc;

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

/// A task that the pool's queues share with its handle. Each queue that contains it has a count of
/// its own.
#[repr(C)]
pub struct SharedTask<P: ?Sized> {
    header: Header,
    inside: P,
}

/// What a shared task does when a worker has taken it out of a queue. Must not unwind.
pub trait RunShared: Send + Sync + Sized + 'static {
    /// Runs the task.
    fn run(task: &SharedTask<Self>, current: WorkerThread<'_>);
}

impl<P: RunShared> SharedTask<P> {
    const KIND: Kind = Kind {
        run: Self::run_counted,
        start: Start::Detached,
    };

    /// Creates a task that is in no queue yet.
    #[inline]
    pub fn new(inside: P) -> Arc<Self> {
        // SAFETY: 1. `run_counted` runs an object of this type that `Task::shared` has counted;
        // 2. it begins with a header.
        let header = unsafe { Header::new(&Self::KIND) };
        Arc::new(Self { header, inside })
    }

    unsafe fn run_counted(header: NonNull<Header>, runner: Runner<'_>) {
        let task = header.cast::<Self>().as_ptr().cast_const();
        // SAFETY: the pointer is from `Task::shared`, and a `Task` runs once.
        let task = unsafe { Arc::from_raw(task) };
        P::run(&task, WorkerThread::from(runner));
    }
}

impl<P: ?Sized> Deref for SharedTask<P> {
    type Target = P;

    #[inline]
    fn deref(&self) -> &P {
        &self.inside
    }
}

impl Task {
    /// Creates an entry for a queue.
    #[inline]
    pub fn shared<P: RunShared>(task: Arc<SharedTask<P>>) -> Self {
        let counted = NonNull::new(Arc::into_raw(task).cast_mut()).expect("not null");
        // SAFETY: 1. the count that was forgotten keeps the task until the run of this `Task` takes
        // it over.
        unsafe { Self::from_raw(counted.cast()) }
    }
}
