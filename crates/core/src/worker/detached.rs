//! Tasks that belong to no frame and no scope.

use super::WorkerThread;
use crate::job::{Header, Kind, Runner, Start, Task, blocks};
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::ptr::NonNull;
use tidegate_sync::atomic::{AtomicU32, Ordering};

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

/// A counted pointer to a task that the pool's queues share with its handle. Each queue that
/// contains the task has a count of its own.
///
/// Unlike an `Arc`, it starts with two counts, one for the first queue, and the last owner removes
/// its count with a load. Spawning a task costs as much as counting it.
pub struct Shared<P: ?Sized>(NonNull<SharedTask<P>>);

/// What a [`Shared`] points to.
#[repr(C)]
pub struct SharedTask<P: ?Sized> {
    header: Header,
    count: AtomicU32,
    inside: P,
}

/// What a shared task does when a worker has taken it out of a queue. Must not unwind.
pub trait RunShared: Send + Sync + Sized + 'static {
    /// Runs the task.
    fn run(task: &Self, current: WorkerThread<'_>);
}

// SAFETY: all owners share one value, and any of them may drop it, as for an `Arc`.
unsafe impl<P: Send + Sync + ?Sized> Send for Shared<P> {}
// SAFETY: as above.
unsafe impl<P: Send + Sync + ?Sized> Sync for Shared<P> {}

impl<P: RunShared> Shared<P> {
    const KIND: Kind = Kind {
        run: Self::run_counted,
        start: Start::Detached,
    };

    /// Creates a task that is in no queue.
    pub fn new(inside: P) -> Self {
        Self::counted(inside, 1)
    }

    /// Creates a task and its entry for a queue.
    #[inline]
    pub fn with_entry(inside: P) -> (Self, Task) {
        let shared = Self::counted(inside, 2);
        // SAFETY: 1. the second count keeps the task until the run of this `Task` takes it over.
        let task = unsafe { Task::from_raw(shared.0.cast()) };
        (shared, task)
    }

    #[inline]
    fn counted(inside: P, counts: u32) -> Self {
        // SAFETY: 1. `run_counted` runs an object of this type that has a count for each `Task`;
        // 2. it begins with a header.
        let header = unsafe { Header::new(&Self::KIND) };
        let count = AtomicU32::new(counts);
        Self(NonNull::from(Box::leak(Box::new(SharedTask {
            header,
            count,
            inside,
        }))))
    }

    unsafe fn run_counted(header: NonNull<Header>, runner: Runner<'_>) {
        // The `Task` had a count, and runs once.
        let shared = Self(header.cast());
        P::run(&shared, WorkerThread::from(runner));
    }
}

impl<P: ?Sized> Shared<P> {
    /// Forgets a part of the type.
    ///
    /// # Safety
    /// 1. `unsize` is an unsizing coercion.
    #[inline]
    pub unsafe fn unsized_by<Q: ?Sized>(
        self,
        unsize: impl FnOnce(*mut SharedTask<P>) -> *mut SharedTask<Q>,
    ) -> Shared<Q> {
        let pointer = unsize(ManuallyDrop::new(self).0.as_ptr());
        // SAFETY: it points to the same task, with valid metadata (1), and is not null.
        Shared(unsafe { NonNull::new_unchecked(pointer) })
    }

    fn task(&self) -> &SharedTask<P> {
        // SAFETY: this count keeps the task.
        unsafe { self.0.as_ref() }
    }
}

impl<P: ?Sized> Clone for Shared<P> {
    fn clone(&self) -> Self {
        // Relaxed: the caller's own count keeps the task.
        let counts = self.task().count.fetch_add(1, Ordering::Relaxed);
        assert!(counts < u32::MAX / 2, "a task has too many owners");
        Self(self.0)
    }
}

impl<P: ?Sized> Deref for Shared<P> {
    type Target = P;

    #[inline]
    fn deref(&self) -> &P {
        &self.task().inside
    }
}

impl<P: ?Sized> Drop for Shared<P> {
    #[inline]
    fn drop(&mut self) {
        let count = &self.task().count;
        // Only an owner can add a count, so a single owner needs no exchange. Acquire pairs with
        // the Release of the other owners: what they did comes before the drop.
        let is_last =
            count.load(Ordering::Acquire) == 1 || count.fetch_sub(1, Ordering::AcqRel) == 1;
        if is_last {
            // SAFETY: the task comes from `Box::leak` in `counted`, and no other count is left.
            drop(unsafe { Box::from_raw(self.0.as_ptr()) });
        }
    }
}
