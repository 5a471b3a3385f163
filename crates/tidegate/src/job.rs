//! Tasks as the deques see them: a header at the start of some larger thing.
//!
//! Four things begin with a [`Header`]: the second half of a join ([`Half`], in the joiner's frame), a closure spawned
//! into a scope or detached (on the heap) and one installed from outside ([`Installed`], in the caller's frame). A
//! [`Task`] is the right to run one of them once. Whoever takes a task out of a deque or queue runs it, hands it on, or gives it back; it is never dropped.
//!
//! **Fields.** `run`: written before the task is pushed, read by whoever runs it. `state`: the latch word, see
//! [`crate::latch`]. The closure: the pusher's until the push, then that of whoever holds the [`Task`]. The result: the runner's until
//! it opens the latch, then the joiner's.

pub(crate) mod blocks;

pub(crate) use blocks::Blocks;

use crate::latch::{Event, Latch};
use crate::scope::ScopeCore;
use crate::space;
use crate::unwind::{self, Payload};
use crate::worker::WorkerThread;
use std::cell::Cell;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::ptr::NonNull;
use tidegate_sync::UnsafeCell;

/// What all tasks begin with.
#[repr(C)]
pub(crate) struct Header {
    run: unsafe fn(NonNull<Header>, WorkerThread<'_>),
    pub(crate) latch: Latch,
}

/// The right to run one task once.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Task(NonNull<Header>);

// SAFETY: closures and results are Send by the bounds of the functions that make tasks; the pointer itself is only a
// name for them.
unsafe impl Send for Task {}

impl Task {
    /// # Safety
    /// 1. The header is live and filled until the task has run, and nobody else makes a `Task` of it.
    #[inline(always)]
    pub(crate) unsafe fn from_raw(header: NonNull<Header>) -> Self {
        Self(header)
    }

    #[inline(always)]
    pub(crate) fn as_raw(&self) -> NonNull<Header> {
        self.0
    }

    pub(crate) fn header(&self) -> &Header {
        // SAFETY: live while the task has not run (from_raw, 1), and running consumes the task.
        unsafe { self.0.as_ref() }
    }

    /// Runs the task. The panic of a half or a detached task goes to its joiner or handle; that of a task of a scope goes on to
    /// the caller, who puts it into the scope.
    #[inline]
    pub(crate) fn run(self, current: WorkerThread<'_>) {
        let run = self.header().run;
        // SAFETY: `run` is the function made for the type that this header begins, and the task is run once: `self`
        // is consumed.
        unsafe { run(self.0, current) }
    }
}

/// The second half of a join.
#[repr(C)]
pub(crate) struct Half<F, R> {
    header: Header,
    closure: UnsafeCell<ManuallyDrop<F>>,
    result: UnsafeCell<MaybeUninit<Result<R, Payload>>>,
}

impl<F, R> Half<F, R>
where
    F: FnOnce(WorkerThread<'_>, bool) -> R + Send,
    R: Send,
{
    /// A half whose closure gets the worker that runs it, and whether it was stolen.
    #[inline(always)]
    pub(crate) fn new(closure: F) -> Self {
        Self {
            header: Header {
                run: Self::run_stolen,
                latch: Latch::for_half(),
            },
            closure: UnsafeCell::new(ManuallyDrop::new(closure)),
            result: UnsafeCell::new(MaybeUninit::uninit()),
        }
    }

    #[inline(always)]
    pub(crate) fn as_raw(&self) -> NonNull<Header> {
        NonNull::from(self).cast()
    }

    pub(crate) fn header(&self) -> &Header {
        &self.header
    }

    /// Takes the closure out, to be run or dropped by its own worker.
    ///
    /// # Safety
    /// 1. The half was taken back from the deque, or never pushed. 2. Nobody calls this twice.
    #[inline(always)]
    pub(crate) unsafe fn take_closure(&self) -> F {
        self.closure.with_mut(|closure| {
            // SAFETY: the pointer is to our own field, and nobody else looks at it (1).
            let closure = unsafe { &mut *closure };
            // SAFETY: taken once (1, 2).
            unsafe { ManuallyDrop::take(closure) }
        })
    }

    /// The result that the thief left.
    ///
    /// # Safety
    /// 1. The latch was seen open. 2. Nobody calls this twice.
    pub(crate) unsafe fn take_result(&self) -> Result<R, Payload> {
        self.result.with(|result| {
            // SAFETY: the thief wrote it before it opened the latch (1), and is gone.
            let result = unsafe { &*result };
            // SAFETY: written, see above; read once (2).
            unsafe { result.assume_init_read() }
        })
    }

    unsafe fn run_stolen(header: NonNull<Header>, current: WorkerThread<'_>) {
        let half: NonNull<Self> = header.cast();
        // SAFETY: the caller of Task::run holds the task, so the joiner waits and its frame is live.
        let this = unsafe { half.as_ref() };
        // SAFETY: 1. whoever runs a task has taken it from the deque; 2. a task runs once.
        let closure = unsafe { this.take_closure() };
        let result = unwind::catch(|| closure(current, true));
        this.result.with_mut(|slot| {
            // SAFETY: the joiner does not look before the latch is open, and no one else does.
            let slot = unsafe { &mut *slot };
            slot.write(result);
        });
        space::end(current);
        let latch = NonNull::from(&this.header.latch);
        // SAFETY: the latch is live until it is opened, and nothing of the frame is touched afterwards.
        unsafe { Latch::open(latch, current) };
    }
}

/// What a task spawned into a scope begins with.
#[repr(C)]
pub(crate) struct Scoped {
    header: Header,
    scope: NonNull<ScopeCore>,
    /// Whether the task has a count of its own in its scope, see [`mod@crate::scope`]. Belongs to whoever holds the task.
    counted: Cell<bool>,
}

impl Scoped {
    /// The beginning of a task of `scope`, not yet counted there.
    ///
    /// # Safety
    /// 1. `scope` lasts until the task has run. 2. `run` may be called once with what begins with this.
    pub(crate) unsafe fn new(
        scope: NonNull<ScopeCore>,
        run: unsafe fn(NonNull<Header>, WorkerThread<'_>),
    ) -> Self {
        let latch = Latch::for_scoped();
        Self {
            header: Header { run, latch },
            scope,
            counted: Cell::new(false),
        }
    }

    /// Whether the task has no count of its own; for who holds it.
    pub(crate) fn is_uncounted(&self) -> bool {
        !self.counted.get()
    }

    /// Gives the task a count of its own, if it has none; for who holds the task.
    pub(crate) fn count(&self) {
        // SAFETY: the scope waits for the task, which has not run.
        let scope = unsafe { self.scope.as_ref() };
        if !self.counted.replace(true) {
            scope.add_one();
        }
    }

    /// Takes the task's own count away; for who holds the task, where something else keeps the scope.
    pub(crate) fn uncount(&self) {
        // SAFETY: the scope waits for the task.
        let scope = unsafe { self.scope.as_ref() };
        if self.counted.replace(false) {
            scope.take_one();
        }
    }

    /// The scope whose task this begins, while it lasts.
    pub(crate) fn scope(&self) -> NonNull<ScopeCore> {
        self.scope
    }
}

#[repr(C)]
struct ScopedTask<F> {
    scoped: Scoped,
    closure: F,
}

impl<F: FnOnce(NonNull<ScopeCore>, WorkerThread<'_>) + Send> ScopedTask<F> {
    unsafe fn run_placed(header: NonNull<Header>, current: WorkerThread<'_>) {
        let task: NonNull<Self> = header.cast();
        // SAFETY: 1. from `blocks::place` in `Task::scoped`; a task runs once.
        let Self { scoped, closure } = unsafe { blocks::take_out(task, Some(current)) };
        closure(scoped.scope, current);
    }
}

/// A task that belongs to no frame and no scope.
#[repr(C)]
struct Detached<F> {
    header: Header,
    closure: F,
}

impl<F: FnOnce(WorkerThread<'_>) + Send + 'static> Detached<F> {
    unsafe fn run_placed(header: NonNull<Header>, current: WorkerThread<'_>) {
        let task: NonNull<Self> = header.cast();
        // SAFETY: 1. from `blocks::place` in `Task::detached`; a task runs once.
        let Self { closure, .. } = unsafe { blocks::take_out(task, Some(current)) };
        closure(current);
    }
}

impl Task {
    /// A task of `scope`, not yet counted there. `current` is the calling thread, if it is a worker.
    ///
    /// # Safety
    /// 1. What `closure` borrows, and `scope`, stay live until it has run.
    #[inline]
    pub(crate) unsafe fn scoped<F>(
        scope: NonNull<ScopeCore>,
        closure: F,
        current: Option<WorkerThread<'_>>,
    ) -> Self
    where
        F: FnOnce(NonNull<ScopeCore>, WorkerThread<'_>) + Send,
    {
        // SAFETY: 1. the caller's (1); 2. it begins a task of this type, which is run once.
        let scoped = unsafe { Scoped::new(scope, ScopedTask::<F>::run_placed) };
        let placed = blocks::place(ScopedTask { scoped, closure }, current);
        // SAFETY: 1. placed here and taken out by the one run.
        unsafe { Self::from_raw(placed.cast()) }
    }

    /// A task of nobody. The closure must not unwind. `current` is the calling thread, if it is a worker.
    pub(crate) fn detached<F>(closure: F, current: Option<WorkerThread<'_>>) -> Self
    where
        F: FnOnce(WorkerThread<'_>) + Send + 'static,
    {
        let header = Header {
            run: Detached::<F>::run_placed,
            latch: Latch::detached(),
        };
        let placed = blocks::place(Detached { header, closure }, current);
        // SAFETY: 1. placed here and taken out by the one run.
        unsafe { Self::from_raw(placed.cast()) }
    }

    #[inline]
    fn as_scoped(&self) -> Option<&Scoped> {
        // SAFETY: the latch of a task says what it begins with, and tasks of this kind begin with a `Scoped`; live as
        // long as the task.
        self.header()
            .latch
            .is_scoped()
            .then(|| unsafe { self.0.cast().as_ref() })
    }

    /// The scope that this task was spawned into.
    pub(crate) fn scope(&self) -> Option<&ScopeCore> {
        // SAFETY: the scope waits for its tasks, and this one has not run.
        self.as_scoped()
            .map(|scoped| unsafe { scoped.scope.as_ref() })
    }

    /// Whether the task is one of `scope`.
    pub(crate) fn is_of(&self, scope: &ScopeCore) -> bool {
        self.scope().is_some_and(|own| std::ptr::eq(own, scope))
    }

    /// Gives the task a count of its own in its scope, if it has none and has a scope.
    pub(crate) fn count(&self) {
        if let Some(scoped) = self.as_scoped() {
            scoped.count();
        }
    }

    /// Whether the task is one of `scope`, covered by the count of the worker in whose deque it lies.
    #[inline]
    pub(crate) fn is_covered_by(&self, scope: &ScopeCore) -> bool {
        self.as_scoped().is_some_and(|scoped| {
            !scoped.counted.get() && std::ptr::eq(scoped.scope.as_ptr(), scope)
        })
    }
}

/// A closure in the frame of a thread that waits for it from outside the pool.
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
    pub(crate) fn new(closure: F, done: Event) -> Self {
        Self {
            header: Header {
                run: Self::run_installed,
                latch: Latch::detached(),
            },
            closure: UnsafeCell::new(Some(closure)),
            result: UnsafeCell::new(None),
            done,
        }
    }

    /// Offers the task and waits until it has run.
    pub(crate) fn run(self, offer: impl FnOnce(Task)) -> Result<R, Payload> {
        // Our frame may not end before the task has run, not even by a panic of the runtime.
        let guard = unwind::AbortOnUnwind;
        // SAFETY: one task, live until it has run: we stay here until then.
        offer(unsafe { Task::from_raw(NonNull::from(&self).cast()) });
        self.done.wait();
        std::mem::forget(guard);
        self.result.into_inner().expect("the event is open")
    }

    unsafe fn run_installed(header: NonNull<Header>, _: WorkerThread<'_>) {
        let installed: NonNull<Self> = header.cast();
        // SAFETY: the caller waits for `done`, its frame is live.
        let this = unsafe { installed.as_ref() };
        let closure = this.closure.with_mut(|closure| {
            // SAFETY: only the one run looks at the closure.
            let closure = unsafe { &mut *closure };
            closure.take()
        });
        let result = unwind::catch(closure.expect("a task runs once"));
        this.result.with_mut(|slot| {
            // SAFETY: the caller looks only after `done`.
            let slot = unsafe { &mut *slot };
            *slot = Some(result);
        });
        // SAFETY: 1. the caller keeps its frame until the event is open.
        unsafe { Event::open(NonNull::from(&this.done)) };
    }
}
