//! Scopes: many tasks that borrow from one frame, which waits for all of them.
//!
//! **Counting.** A scope ends when its count is 0. One count per task would cost two
//! read-modify-writes of a shared word per spawn, so counts belong to *contexts* instead. A worker
//! *covers* a scope while it runs the scope's body, or a task of the scope that it has taken from
//! elsewhere; each such context holds one count. A task that a covering worker spawns into its own
//! deque needs no count: the worker keeps its own count until the deque is empty down to where the
//! context began. If a task leaves that deque in another way, it gets its own count before the
//! context can end. A thief adds it after it has won the task and before it reports that it has
//! read the task (the owner waits for that, `Owner::lower`). If a task is moved to a queue, the
//! mover adds the count. If the spawning worker does not cover the scope, the task gets its own
//! count immediately.
//!
//! The count never rises from 0: a spawner runs inside a context of the scope, or inside a context
//! that such a context waits for.
//!
//! The thread that removes the last count opens the scope's latch, which is that thread's last
//! access to the frame. The owner leaves the frame only after that, or if it removed the last count
//! itself. If the owner is not a worker of the pool, the scope has an event in place of the latch.

mod drain;
mod in_order;
mod priority;
mod task;

use crate::job::Task;
use crate::latch::Latch;
use crate::pool::PoolInner;
use crate::pool::enter;
use crate::simulated;
use crate::sleep::wake;
use crate::sources::Queue;
use crate::unwind::{self, Payload, UnhandledPanic};
use crate::worker::Event;
use crate::worker::WorkerThread;
use crate::worker::carry;
use crate::worker::memory;
use crate::worker::run;
use crate::worker::wait::{self, Awaited};
use drain::drain;
pub(crate) use drain::run_in_context;
use in_order::InOrder;
use priority::Waiting;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::Arc;
pub use task::Scoped;
use tidegate_policy::tunables::SPAWN_INLINE_LENGTH;
use tidegate_sync::OnceBox;
use tidegate_sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// The part of a scope whose type has no lifetime parameter.
pub struct ScopeCore {
    count: AtomicUsize,
    latch: Latch,
    /// The event for an owner that is not a worker of the pool.
    outside: Option<Event>,
    queue: OnceBox<Arc<Queue>>,
    /// For each worker, the tasks that begin in the order in which it has spawned them, see
    /// [`in_order`].
    in_order: OnceBox<Box<[InOrder]>>,
    /// Tasks that begin by priority, see [`priority`].
    waiting: OnceBox<Waiting>,
    /// The first panic of a task.
    panic: OnceBox<Payload>,
    /// A pointer for the code that prepares the tasks; see [`ScopeCore::set_extension`].
    extension: AtomicPtr<()>,
    /// The pool whose workers run the tasks.
    pool: NonNull<PoolInner>,
}

// SAFETY: the pool is Sync and outlives the scope; threads share the payload of a panic only by
// handing it over, which Send allows (`store_panic`, `end`); all other parts are Sync.
unsafe impl Sync for ScopeCore {}

impl ScopeCore {
    fn new(pool: &PoolInner, outside: Option<Event>) -> Self {
        Self {
            pool: NonNull::from(pool),
            count: AtomicUsize::new(1),
            latch: Latch::new(),
            outside,
            queue: OnceBox::new(),
            in_order: OnceBox::new(),
            waiting: OnceBox::new(),
            panic: OnceBox::new(),
            extension: AtomicPtr::default(),
        }
    }

    /// Stores a pointer for the code that prepares the tasks of this scope. Must be called before
    /// the scope has a task.
    ///
    /// # Safety
    /// 1. `extension` points to a tree of intervals, which that code expects of all scopes with an
    ///    extension. The tree outlasts the scope.
    pub unsafe fn set_extension(&self, extension: NonNull<()>) {
        // Relaxed: publishing the first task publishes this store, too.
        self.extension.store(extension.as_ptr(), Ordering::Relaxed);
    }

    /// Returns the extension, if it was set.
    #[inline]
    pub fn extension(&self) -> Option<NonNull<()>> {
        // Relaxed: as in `set_extension`.
        NonNull::new(self.extension.load(Ordering::Relaxed))
    }

    pub(crate) fn latch(&self) -> &Latch {
        &self.latch
    }

    /// Counts one more context or task.
    pub(crate) fn add_one(&self) {
        // Relaxed: the caller's own context holds a count, so the scope cannot end here.
        self.count.fetch_add(1, Ordering::Relaxed);
    }

    /// Removes one count, which must not be the last.
    #[inline]
    pub fn take_one(&self) {
        let last = Self::drop_one(&self.count);
        debug_assert!(!last, "something else keeps the scope");
    }

    /// Removes the count of one context or task. Returns whether it was the last.
    ///
    /// The argument is only the scope's count: a reference to the whole scope would have to outlive
    /// the call, but the scope may end during the call.
    #[inline]
    fn drop_one(count: &AtomicUsize) -> bool {
        // AcqRel: everything that the tasks did happens before the caller that removes the last
        // count continues.
        count.fetch_sub(1, Ordering::AcqRel) == 1
    }

    /// Returns the pool whose workers run this scope's tasks.
    #[inline]
    pub fn pool(&self) -> &PoolInner {
        // SAFETY: the owner keeps the pool alive while the scope exists: as one of its workers, or
        // by a counted reference.
        unsafe { self.pool.as_ref() }
    }

    /// Returns the scope's own queue. The first call creates it and registers it with the pool.
    pub(crate) fn queue(&self) -> &Arc<Queue> {
        self.queue.get().unwrap_or_else(|| self.first_queue())
    }

    #[cold]
    fn first_queue(&self) -> &Arc<Queue> {
        let pool = self.pool();
        let (queue, not_kept) = self
            .queue
            .insert(pool.sources.scopes.create(std::ptr::from_ref(self).addr()));
        if let Some(other) = not_kept {
            // Another thread has won the race to insert its queue.
            pool.sources.scopes.forget(&other);
        }
        queue
    }

    /// Takes a task from the scope's own queue.
    pub(crate) fn pop_queued(&self) -> Option<Task> {
        self.queue.get()?.pop()
    }

    /// Ends the scope: makes the pool forget the scope's queue, and resumes a panic of the scope's
    /// body or of a task.
    fn end<R>(&mut self, result: Result<R, Payload>) -> R {
        if let Some(queue) = self.queue.get() {
            self.pool().sources.scopes.forget(queue);
        }
        memory::close(self.pool(), self);
        let panic = self.panic.take();
        match (result, panic) {
            (Ok(result), None) => result,
            (Ok(_), Some(payload)) => unwind::resume(payload),
            (Err(payload), later) => {
                if let Some(later) = later {
                    self.pool().panics.report(later, UnhandledPanic::Second);
                }
                unwind::resume(payload)
            }
        }
    }

    /// Keeps the first panic of a task, and reports later ones.
    fn store_panic(&self, payload: Payload, current: WorkerThread<'_>) {
        if let (_, Some(later)) = self.panic.insert(payload) {
            current.pool().panics.report(later, UnhandledPanic::Second);
        }
    }
}

/// A scope's queue and pool, without a reference to the scope itself: once the task is pushed, the
/// scope may end.
pub struct OutsideQueue {
    queue: Arc<Queue>,
    pool: Arc<PoolInner>,
}

impl OutsideQueue {
    pub fn push(self, task: Task) {
        self.queue.push(task);
        let publisher = WorkerThread::of(&self.pool).map(WorkerThread::worker);
        wake::work_queued(&self.pool, publisher);
        simulated::switch("queues a task of a scope");
    }
}

/// Ends a context of `scope` that was not the owner's.
///
/// # Safety
/// 1. The context holds a count, and does not access the scope afterwards.
unsafe fn end_context(scope: NonNull<ScopeCore>, current: WorkerThread<'_>) {
    // SAFETY: 1. guaranteed by the caller (1).
    unsafe {
        remove_count(scope, |owner| {
            wake::latch_opened(current.pool(), owner, Some(current))
        })
    };
}

/// Removes a count that the caller has taken from a task of `scope` ([`Scoped::take_count`]). The
/// caller runs in no context of the scope, and may belong to another pool.
///
/// # Safety
/// 1. The caller has the count, and does not access the scope afterwards.
pub unsafe fn remove_count_from_afar(scope: NonNull<ScopeCore>) {
    // The reference keeps the pool alive when its scope has ended.
    // SAFETY: the count keeps the scope's frame alive (1).
    let pool = unsafe { scope.as_ref() }.pool().as_arc();
    let wake = |owner| wake::latch_opened(&pool, owner, None);
    // SAFETY: 1. guaranteed by the caller (1).
    unsafe { remove_count(scope, wake) };
}

/// Removes a count. If it was the last, opens the latch or event of the owner; `wake` wakes an
/// owner that sleeps on the latch.
///
/// # Safety
/// 1. The caller has the count, and does not access the scope afterwards.
unsafe fn remove_count(scope: NonNull<ScopeCore>, wake: impl FnOnce(usize)) {
    // SAFETY: the caller's count keeps the scope's frame alive (1).
    let count = unsafe { &scope.as_ref().count };
    let last = ScopeCore::drop_one(count);
    if !last {
        return;
    }
    // SAFETY: the owner has given its own count back, and waits for the latch or event that is
    // opened below.
    let outside = unsafe { &scope.as_ref().outside };
    if let Some(event) = outside {
        // SAFETY: 1. as above.
        unsafe { Event::open(NonNull::from(event)) };
    } else {
        // SAFETY: as above.
        let latch = NonNull::from(unsafe { &scope.as_ref().latch });
        // SAFETY: 1. as above; 2. a scope has no result except what its tasks wrote.
        let sleeper = unsafe { Latch::open(latch) };
        // An owner without an event waits as a worker of the pool that runs the tasks.
        if let Some(owner) = sleeper {
            wake(owner);
        }
    }
}

/// Spawns tasks that may borrow values that outlive the scope; created by
/// [`scope`](fn@crate::scope).
///
/// ```
/// let mut words = ["ebb".to_owned(), "flow".to_owned()];
/// tidegate::scope(|scope| {
///     for word in &mut words {
///         scope.spawn(move |_| word.make_ascii_uppercase());
///     }
/// });
/// assert_eq!(words, ["EBB", "FLOW"]);
/// ```
#[repr(C)]
pub struct Scope<'scope> {
    core: ScopeCore,
    /// Invariant in 'scope: tasks take and return references of that lifetime.
    marker: PhantomData<fn(&'scope ()) -> &'scope ()>,
}

impl<'scope> Scope<'scope> {
    fn new(pool: &PoolInner, outside: Option<Event>) -> Self {
        Self {
            core: ScopeCore::new(pool, outside),
            marker: PhantomData,
        }
    }

    /// Returns the pool whose workers run this scope's tasks.
    pub(crate) fn pool(&self) -> &PoolInner {
        self.core.pool()
    }

    /// Creates a task of this scope, not yet counted. `current` is the calling thread's worker, if
    /// any.
    #[inline]
    pub(crate) fn task<F>(&self, f: F, current: Option<WorkerThread<'_>>) -> Task
    where
        F: FnOnce(&Scope<'scope>) + Send + 'scope,
    {
        let body = |core: NonNull<ScopeCore>| {
            // SAFETY: `core` is the pointer made below. Its scope waits while one of its tasks
            // runs.
            f(unsafe { core.cast::<Self>().as_ref() });
        };
        // The cast is valid because a scope begins with its core.
        let core = NonNull::from(self).cast();
        // SAFETY: 1. the scope outlives its tasks, and 'scope outlives the scope.
        unsafe { Task::scoped(core, body, current) }
    }

    /// Spawns a task that runs before the scope ends, here or on another worker of the pool, in any
    /// order.
    ///
    /// A panic of the task is resumed when the scope ends. If very many tasks are waiting, this
    /// call may run a task of the same scope, on top of the caller's stack.
    // Inlined, so that the closure is built in the task's own memory.
    #[inline]
    pub fn spawn<F>(&self, f: F)
    where
        F: FnOnce(&Scope<'scope>) + Send + 'scope,
    {
        match WorkerThread::visible() {
            Some(current) if self.core.is_covered_by(current) => {
                push_scoped(current, &self.core, self.task(f, Some(current)));
            }
            _ => self.spawn_carried(f),
        }
    }

    /// The slow path of [`spawn`](Self::spawn), for a caller that has a task context or does not
    /// cover the scope. The caller may belong to another pool, or to none.
    #[cold]
    fn spawn_carried<F>(&self, f: F)
    where
        F: FnOnce(&Scope<'scope>) + Send + 'scope,
    {
        let suspended = carry::carry_into(self.pool());
        let carried = suspended.carried;
        let caller = WorkerThread::get();
        let task = self.task(move |scope| carried.run(|| f(scope)), caller);
        self.core.submit(task, caller);
    }

    /// Spawns a stand-in: a task that runs another task, which `next` returns.
    fn spawn_stand_in<F>(&self, caller: Option<WorkerThread<'_>>, next: F)
    where
        F: FnOnce(&ScopeCore) -> Option<Task> + Send + 'scope,
    {
        let stand_in = |scope: &Self| {
            let task = next(&scope.core).expect("one for each stand-in");
            let runner = WorkerThread::get().expect("workers run the tasks of scopes");
            task.run(runner.as_runner());
        };
        let task = self.task(stand_in, caller);
        self.core.submit(task, caller);
    }
}

/// Returns the part of a scope that its tasks refer to.
#[inline]
pub fn core<'a>(scope: &'a Scope<'_>) -> &'a ScopeCore {
    &scope.core
}

/// Puts a task into the queue of `scope`, where every worker of the pool finds it. The task has no
/// context.
pub fn queue<'scope>(scope: &Scope<'scope>, f: impl FnOnce(&Scope<'scope>) + Send + 'scope) {
    let task = scope.task(f, WorkerThread::get());
    task.count();
    scope.core.outside().push(task);
}

impl ScopeCore {
    #[inline]
    fn is_covered_by(&self, worker: WorkerThread<'_>) -> bool {
        std::ptr::eq(worker.covers(), self)
    }

    /// Spawns a task of this scope. `caller` is the calling thread's worker, if any.
    #[inline]
    pub(crate) fn submit(&self, task: Task, caller: Option<WorkerThread<'_>>) {
        match caller {
            Some(current) if self.is_covered_by(current) => {
                push_scoped(current, self, task);
            }
            _ => self.spawn_uncovered(task, caller),
        }
    }

    /// Spawns a task that was created elsewhere, such as that of an interval. No other task runs on
    /// the caller's stack, however many tasks wait.
    #[inline]
    pub fn spawn_prepared(&self, task: Task, caller: Option<WorkerThread<'_>>) {
        match caller {
            Some(current) if self.is_covered_by(current) => {
                run::push_or_pass_on(current, task);
            }
            Some(current) if std::ptr::eq(current.pool(), self.pool()) => {
                // A frame below on the caller's stack holds a count of the scope, which keeps the
                // scope alive during the push.
                task.count();
                run::push_or_pass_on(current, task);
            }
            _ => self.spawn_uncovered(task, caller),
        }
    }

    /// Returns the queue to which any thread may push a task that has its own count.
    pub fn outside(&self) -> OutsideQueue {
        let (queue, pool) = (self.queue().clone(), self.pool().as_arc());
        memory::expect(&pool, self);
        OutsideQueue { queue, pool }
    }

    /// Spawns a task from a thread that does not cover the scope.
    #[cold]
    fn spawn_uncovered(&self, task: Task, caller: Option<WorkerThread<'_>>) {
        task.count();
        match caller {
            Some(current) if std::ptr::eq(current.pool(), self.pool()) => {
                push_scoped(current, self, task);
            }
            _ => self.outside().push(task),
        }
    }
}

/// Runs `f` on the calling thread, with a scope whose tasks run in this pool, and waits for these
/// tasks.
pub(crate) fn scope_in_place<'scope, R>(
    pool: &Arc<PoolInner>,
    f: impl FnOnce(&Scope<'scope>) -> R,
) -> R {
    if let Some(current) = WorkerThread::of(pool) {
        return scope(current, f);
    }
    let mut scope = Scope::new(pool, Some(Event::for_this_thread()));
    let core = &scope.core;
    let result = unwind::catch(|| f(&scope));
    if !ScopeCore::drop_one(&core.count) {
        pool.check_process();
        enter::work_off_alone(pool);
        wait::for_event(core.outside.as_ref().expect("made above"), pool);
    }
    scope.core.end(result)
}

/// Runs `f` with a new scope and waits for the scope's tasks.
pub fn scope<'scope, R>(worker: WorkerThread<'_>, f: impl FnOnce(&Scope<'scope>) -> R) -> R {
    let mut scope = Scope::new(worker.pool(), None);
    let core = &scope.core;
    let outer = worker.enter_context(core);
    let result = unwind::catch(|| f(&scope));
    drain(worker, core);
    worker.set_context(outer);
    if !ScopeCore::drop_one(&core.count) {
        wait::until(worker, Awaited::Scope(core));
    }
    simulated::switch("ends a scope");
    scope.core.end(result)
}

#[inline]
fn push_scoped(worker: WorkerThread<'_>, scope: &ScopeCore, task: Task) {
    if let Err(task) = worker.push_task(task) {
        overflow(worker, scope, task);
    }
}

/// Handles a task for which the deque has no room: the task goes to the scope's queue. If that
/// queue is long as well, a task of the scope runs here.
#[cold]
fn overflow(worker: WorkerThread<'_>, scope: &ScopeCore, task: Task) {
    run::pass_on(worker, task);
    let few = scope.queue().len() <= SPAWN_INLINE_LENGTH.default;
    if few || worker.pool().is_closed() || worker.set_inlining(true) {
        return;
    }
    if let Some(task) = scope.pop_queued() {
        // That task may be unrelated to the tasks in the frames below.
        wait::run_unrelated(worker, task);
    }
    worker.set_inlining(false);
}
