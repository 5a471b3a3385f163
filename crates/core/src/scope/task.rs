//! Tasks that were spawned into a scope.

use super::ScopeCore;
use crate::job::{Header, Kind, Runner, Start, Task, blocks};
use crate::worker::WorkerThread;
use std::cell::Cell;
use std::ptr::NonNull;

/// The first field of every task that was spawned into a scope.
#[repr(C)]
pub struct Scoped {
    header: Header,
    scope: NonNull<ScopeCore>,
    /// Whether the task has its own count in its scope, see [`mod@crate::scope`]. Only the holder
    /// of the task accesses this.
    counted: Cell<bool>,
}

impl Scoped {
    /// Creates the first field of a task for `scope`. The task is not yet counted there.
    ///
    /// # Safety
    /// 1. `scope` lasts until the task has run.
    /// 2. The run of `kind`, the kind of a scoped task, may be called once with the object that
    ///    begins with the result.
    pub unsafe fn new(scope: NonNull<ScopeCore>, kind: &'static Kind) -> Self {
        Self {
            // SAFETY: 1. guaranteed by the caller (2); 2. this is a `Scoped`.
            header: unsafe { Header::new(kind) },
            scope,
            counted: Cell::new(false),
        }
    }

    /// Whether the task lacks its own count. The caller must hold the task.
    pub fn is_uncounted(&self) -> bool {
        !self.counted.get()
    }

    /// Gives the task its own count, if it has none. The caller must hold the task.
    pub fn count(&self) {
        // SAFETY: the scope waits for the task, which has not run.
        let scope = unsafe { self.scope.as_ref() };
        if !self.counted.replace(true) {
            scope.add_one();
        }
    }

    /// Passes the task's own count, if it has one, to the caller. Returns whether it had one. The
    /// caller must hold the task.
    pub fn take_count(&self) -> bool {
        self.counted.replace(false)
    }

    /// Returns the scope of this task. The pointer is valid while the scope lasts.
    pub fn scope(&self) -> NonNull<ScopeCore> {
        self.scope
    }
}

#[repr(C)]
struct ScopedTask<F> {
    scoped: Scoped,
    closure: F,
}

impl<F: FnOnce(NonNull<ScopeCore>) + Send> ScopedTask<F> {
    const KIND: Kind = Kind {
        run: Self::run_placed,
        start: Start::Scoped,
    };

    unsafe fn run_placed(header: NonNull<Header>, runner: Runner<'_>) {
        let current = WorkerThread::from(runner);
        let task: NonNull<Self> = header.cast();
        // SAFETY: 1. the task comes from `blocks::place` in `Task::scoped`; a task runs once.
        let Self { scoped, closure } = unsafe { blocks::take_out(task, Some(current.blocks())) };
        closure(scoped.scope);
    }
}

impl Task {
    /// Creates a task of `scope`, not yet counted there. `current` is the calling thread's worker,
    /// if any.
    ///
    /// # Safety
    /// 1. `scope`, and everything that `closure` borrows, stay live until the task has run.
    #[inline]
    pub(crate) unsafe fn scoped<F>(
        scope: NonNull<ScopeCore>,
        closure: F,
        current: Option<WorkerThread<'_>>,
    ) -> Self
    where
        F: FnOnce(NonNull<ScopeCore>) + Send,
    {
        // SAFETY: 1. guaranteed by the caller (1); 2. the `Scoped` begins a task of this type,
        // which is run once.
        let scoped = unsafe { Scoped::new(scope, &ScopedTask::<F>::KIND) };
        let placed = blocks::place(
            ScopedTask { scoped, closure },
            current.map(WorkerThread::blocks),
        );
        // SAFETY: 1. the task is placed here, and its only run takes it out.
        unsafe { Self::from_raw(placed.cast()) }
    }

    #[inline]
    fn as_scoped(&self) -> Option<&Scoped> {
        // SAFETY: scoped tasks begin with a `Scoped`, which lives as long as the task.
        self.is_scoped()
            .then(|| unsafe { self.as_raw().cast().as_ref() })
    }

    /// Returns the scope that this task was spawned into, if any.
    pub(crate) fn scope(&self) -> Option<&ScopeCore> {
        // SAFETY: the scope waits for its tasks, and this one has not run.
        self.as_scoped()
            .map(|scoped| unsafe { scoped.scope.as_ref() })
    }

    pub(crate) fn is_of(&self, scope: &ScopeCore) -> bool {
        self.scope().is_some_and(|own| std::ptr::eq(own, scope))
    }

    /// Gives the task its own count in its scope, if it has a scope and no count yet.
    pub fn count(&self) {
        if let Some(scoped) = self.as_scoped() {
            scoped.count();
        }
    }

    /// Whether the task belongs to `scope` and is covered by the count of the worker in whose deque
    /// it lies.
    #[inline]
    pub(crate) fn is_covered_by(&self, scope: &ScopeCore) -> bool {
        self.as_scoped().is_some_and(|scoped| {
            !scoped.counted.get() && std::ptr::eq(scoped.scope.as_ptr(), scope)
        })
    }
}
