//! A thread's own view of itself as a worker, and how it becomes one.

use super::Worker;
use super::wait::Awaited;
use crate::job::{Header, OwnBlocks, Runner};
use crate::pool::PoolInner;
use crate::scope::ScopeCore;
use crate::simulated;
use std::cell::Cell;
use std::marker::PhantomData;
use std::panic::Location;
use std::ptr::{NonNull, null, null_mut};
use std::sync::Arc;
use tidegate_deque::split::{Gen, Owner};
use tidegate_policy::Nanos;
use tidegate_policy::search::{is_in_a_row, searches_in_reverse};
use tidegate_sync::atomic::Ordering;
use tidegate_sync::{barrier, clock, worker_local};

worker_local!(static CURRENT: Cell<*const Worker> = Cell::new(null()));
// The thread's worker while it is hidden, see `WorkerThread::hide`.
worker_local!(static HIDDEN: Cell<*const Worker> = Cell::new(null()));

/// The calling thread as a worker of its pool.
#[derive(Clone, Copy)]
pub struct WorkerThread<'a> {
    worker: &'a Worker,
    not_send: PhantomData<*mut ()>,
}

impl<'a> std::ops::Deref for WorkerThread<'a> {
    type Target = Worker;

    #[inline(always)]
    fn deref(&self) -> &Worker {
        self.worker
    }
}

impl<'a> WorkerThread<'a> {
    /// Returns the calling thread's worker, or `None` outside all pools.
    #[inline(always)]
    pub fn get() -> Option<Self> {
        Self::visible().or_else(Self::hidden)
    }

    /// Like `get`, but returns `None` while the thread has a context. Used by functions that fork,
    /// because their fast path would not carry the context to the task.
    #[inline(always)]
    pub fn visible() -> Option<Self> {
        // Not `with`, which the standard library does not mark as inline: in a crate of several
        // codegen units, each fork would then call a function to read the word.
        // SAFETY: 1. from this thread's word.
        unsafe { Self::at(CURRENT.try_with(Cell::get).unwrap_or(null())) }
    }

    #[cold]
    fn hidden() -> Option<Self> {
        // SAFETY: 1. from this thread's word.
        unsafe { Self::at(HIDDEN.with(Cell::get)) }
    }

    /// # Safety
    /// 1. `worker` is from one of the calling thread's two words, now or in a frame below.
    #[inline(always)]
    unsafe fn at(worker: *const Worker) -> Option<Self> {
        // SAFETY: `Membership::enter` set the pointer (1). That guard keeps the pool and so the
        // worker alive until it restores the previous pointer, and a `Shift` that copies the
        // pointer to the other word is in a frame above the guard. The value stays on this thread
        // (`not_send`) and in frames above the guard.
        let worker = unsafe { worker.as_ref() }?;
        Some(Self {
            worker,
            not_send: PhantomData,
        })
    }

    /// Hides the calling thread's worker, if it is visible, from [`visible`](Self::visible) until
    /// the result is dropped.
    pub(crate) fn hide() -> Option<Shift> {
        let before = Shift::now();
        (!before.current.is_null()).then(|| {
            Shift::set(null(), before.current);
            before
        })
    }

    /// Shows the calling thread's worker, if it is hidden, until the result is dropped.
    pub(crate) fn unhide() -> Option<Shift> {
        let before = Shift::now();
        (before.current.is_null() && !before.hidden.is_null()).then(|| {
            Shift::set(before.hidden, null());
            before
        })
    }

    /// Returns the calling thread's worker, if it currently runs for `pool`.
    #[inline]
    pub(crate) fn of(pool: &PoolInner) -> Option<Self> {
        Self::get().filter(|current| std::ptr::eq(current.pool(), pool))
    }

    /// Returns the calling thread's worker in `pool`, if it runs for `pool` now or in a frame
    /// below.
    pub fn in_pool(pool: &PoolInner) -> Option<Self> {
        let mut here = Self::get();
        while let Some(current) = here {
            if std::ptr::eq(current.pool(), pool) {
                break;
            }
            here = current.before();
        }
        here
    }

    /// Returns the worker of another pool that this thread was before it became this worker.
    fn before(self) -> Option<Self> {
        // SAFETY: 1. from the thread's word: the guard that replaced it there is in a frame below.
        unsafe { Self::at(self.worker.own.before.get()) }
    }

    /// Marks all tasks that this worker will fork as unrelated to the earlier ones: they do not
    /// descend from its earlier tasks, nor from those of an earlier thread with its number. Returns
    /// the new generation of the worker's base.
    pub(crate) fn forget_base(self) -> Gen {
        self.worker.own.base_is_unnamed.set(false);
        // Release, before the new generation: see `enter_base`.
        self.base_scope.store(null_mut(), Ordering::Release);
        self.deque().next_generation()
    }

    /// Calls `f` as this worker. The calling thread must be this worker, now or in a frame below.
    pub(crate) fn call<R>(self, f: impl FnOnce(Self) -> R) -> R {
        struct Back<'a>(*const Worker, &'a PoolInner);
        impl Drop for Back<'_> {
            fn drop(&mut self) {
                become_again(self.0, self.1);
            }
        }
        let before = CURRENT.with(|current| current.replace(self.worker));
        let _back = Back(before, self.pool());
        f(self)
    }

    /// Returns the pool that this worker belongs to.
    #[inline]
    pub fn pool(self) -> &'a PoolInner {
        let pool = self.worker.pool.get();
        // SAFETY: `Membership::enter` set the pointer, and holds an Arc of the pool for as long as
        // a `WorkerThread` can exist.
        unsafe { &*pool }
    }

    /// Whether this worker, while it waits for `awaited`, may run any task of the pool's queues: a
    /// closed pool has no other thread for them.
    pub(crate) fn runs_queued(self, awaited: Awaited<'_>) -> bool {
        matches!(awaited, Awaited::Outside(_)) && self.pool().is_closed()
    }

    /// Returns this worker as the argument for [`Task::run`](crate::job::Task::run).
    #[inline(always)]
    pub(crate) fn as_runner(self) -> Runner<'a> {
        // SAFETY: 1. this thread is the worker for all of 'a.
        unsafe { Runner::new(NonNull::from(self.worker).cast()) }
    }

    #[inline(always)]
    pub(crate) fn worker(self) -> &'a Worker {
        self.worker
    }

    /// Returns the owner's side of this worker's deque.
    #[inline(always)]
    pub(crate) fn deque(self) -> Owner<'a, Header> {
        // SAFETY: only the thread that is this worker has a `WorkerThread`, and membership passes
        // from thread to thread under the pool's ledger lock.
        unsafe { self.worker.deque.owner() }
    }

    /// Returns the scope whose tasks in this deque need no separate counts, see
    /// `scope.rs`.
    #[inline]
    pub fn covers(self) -> *const ScopeCore {
        self.worker.own.covers.get()
    }

    /// Returns the position in the deque at which the innermost context began. The tasks below it
    /// belong to frames below.
    pub(crate) fn floor(self) -> u64 {
        self.worker.own.floor.get()
    }

    /// Begins a context that covers `scope`. The tasks that are pushed to the deque from now on
    /// belong to it. Returns the interrupted context.
    #[inline]
    pub(crate) fn enter_context(self, scope: *const ScopeCore) -> Context {
        let outer = Context {
            covers: self.covers(),
            floor: self.floor(),
        };
        self.set_context(Context {
            covers: scope,
            floor: self.deque().bottom(),
        });
        outer
    }

    /// Resumes the interrupted context.
    #[inline]
    pub(crate) fn set_context(self, context: Context) {
        let own = &self.worker.own;
        own.covers.set(context.covers);
        own.floor.set(context.floor);
    }

    /// Whether the worker must give up its slot as soon as it can.
    pub fn must_stop(self) -> bool {
        self.worker.own.must_stop.get()
    }

    pub(crate) fn set_must_stop(self, must: bool) {
        self.worker.own.must_stop.set(must);
    }

    pub(crate) fn exposed_at(self) -> Nanos {
        self.worker.own.exposed_at.get()
    }

    pub(crate) fn set_exposed_at(self, now: Nanos) {
        self.worker.own.exposed_at.set(now);
    }

    /// Counts one more preemption. Returns the number of preemptions in a row before this one.
    pub(crate) fn add_preemption(self) -> usize {
        let (own, now) = (&self.worker.own, clock::now());
        let last = own.preempted_at.replace(now);
        let in_a_row = is_in_a_row(last, now);
        let before = if in_a_row { own.preemptions.get() } else { 0 };
        own.preemptions.set(before + 1);
        before
    }

    /// Resets the count of preemptions. Called when a task begins with a slot.
    pub(crate) fn forget_preemptions(self) {
        self.worker.own.preemptions.set(0);
    }

    pub(crate) fn is_blocking(self) -> bool {
        self.worker.membership.is_blocking.get()
    }

    pub(crate) fn set_blocking(self, blocking: bool) {
        self.worker.membership.is_blocking.set(blocking);
        self.worker.victim.rests.set(blocking);
    }

    /// Returns the memory blocks that this worker keeps for new tasks.
    #[inline]
    pub fn blocks(self) -> OwnBlocks<'a> {
        // SAFETY: 1. this thread is the worker for all of 'a.
        unsafe { OwnBlocks::new(&self.worker.own.blocks) }
    }

    /// Whether another worker has asked this one for something, such as tasks.
    #[inline]
    pub fn is_signalled(self) -> bool {
        self.deque().is_signalled()
    }

    /// Whether the pool records a trace.
    #[inline]
    #[must_use]
    pub fn is_recording(self) -> bool {
        self.notes.is_recording()
    }

    /// Counts one more search of this worker. Returns whether it checks its sources in reverse.
    pub(crate) fn searches_in_reverse(self) -> bool {
        let searches = self.worker.own.searches.get() + 1;
        self.worker.own.searches.set(searches);
        searches_in_reverse(searches)
    }

    /// Sets whether a spawn is running another task on this thread's stack. Returns the previous
    /// value.
    pub(crate) fn set_inlining(self, inlining: bool) -> bool {
        self.worker.own.inlining.replace(inlining)
    }

    /// Records whether a dispatch has chosen the task that this worker begins next.
    pub(crate) fn set_dispatched(self, dispatched: bool) {
        self.worker.own.dispatched_next.set(dispatched);
    }

    /// Called when a task begins.
    pub(crate) fn begin_task(self) {
        let dispatched = self.worker.own.dispatched_next.replace(false);
        self.worker.own.dispatched.set(dispatched);
    }

    /// Returns whether a dispatch has chosen the task that has just begun. Only the first call in a
    /// task may return `true`.
    pub fn take_dispatched(self) -> bool {
        self.worker.own.dispatched.replace(false)
    }

    /// Records where the spawned task that begins or continues was created. Returns the place of
    /// the task below it.
    #[inline]
    pub fn set_spawned_at(
        self,
        at: Option<&'static Location<'static>>,
    ) -> Option<&'static Location<'static>> {
        let outer = self.worker.spawned_at();
        let at = at.map_or(null(), std::ptr::from_ref);
        self.worker.spawned_at.set(at);
        outer
    }
}

impl<'a> From<Runner<'a>> for WorkerThread<'a> {
    #[inline(always)]
    fn from(runner: Runner<'a>) -> Self {
        // SAFETY: only `WorkerThread::as_runner` makes a runner, from the worker that this thread
        // is for all of 'a.
        let worker = unsafe { runner.as_ptr().cast::<Worker>().as_ref() };
        let not_send = PhantomData;
        Self { worker, not_send }
    }
}

/// A context, see `scope.rs`: the scope that it covers, and where in the deque it began.
#[must_use]
pub(crate) struct Context {
    covers: *const ScopeCore,
    floor: u64,
}

/// Makes the calling thread the worker that it was before it became a worker of `pool`.
fn become_again(before: *const Worker, pool: &PoolInner) {
    pool.check_process();
    CURRENT.with(|current| current.set(before));
}

/// Called in a child made by `fork`, on the child's only thread. That thread is no worker any more,
/// and its frames cannot get at the tasks that they have pushed.
pub(crate) extern "C" fn leave_in_child() {
    for mut here in [WorkerThread::visible(), WorkerThread::hidden()] {
        while let Some(worker) = here {
            worker.deque().close();
            here = worker.before();
        }
    }
    Shift::set(null(), null());
}

/// The previous values of the calling thread's two words, which are restored when this is dropped.
pub(crate) struct Shift {
    current: *const Worker,
    hidden: *const Worker,
}

impl Shift {
    fn now() -> Self {
        let (current, hidden) = (CURRENT.with(Cell::get), HIDDEN.with(Cell::get));
        Self { current, hidden }
    }

    fn set(current: *const Worker, hidden: *const Worker) {
        CURRENT.with(|word| word.set(current));
        HIDDEN.with(|word| word.set(hidden));
    }
}

impl Drop for Shift {
    fn drop(&mut self) {
        // In a child made by `fork` meanwhile, the thread is no worker.
        if WorkerThread::get().is_some() {
            Self::set(self.current, self.hidden);
        }
    }
}

/// The right to act as one worker, which the ledger grants once. The holder may access what only
/// that worker's thread may access.
pub(crate) struct Admission(usize);

impl Admission {
    /// Must only be called by code that admits workers to the ledger (`members::admit_guest`,
    /// `PoolInner::start_thread`): the ledger has just admitted worker `index`, and no thread acts
    /// as that worker.
    pub(crate) fn granted(index: usize) -> Self {
        Self(index)
    }
}

/// A thread's time as a worker. The thread may be a worker of another pool before and after.
pub(crate) struct Membership {
    pool: Arc<PoolInner>,
    index: usize,
    /// The membership stays on the thread that entered.
    not_send: PhantomData<*mut ()>,
}

impl Membership {
    /// Makes the calling thread a worker of the pool.
    pub(crate) fn enter(pool: Arc<PoolInner>, admission: Admission) -> Self {
        pool.check_thread();
        let Admission(index) = admission;
        let worker = pool.worker_or_new(index);
        worker.pool.set(Arc::as_ptr(&pool));
        let before = CURRENT.with(|current| current.replace(worker));
        worker.own.before.set(before);
        worker.membership.is_gone.set(false);
        worker.tally.arrive();
        if pool.controller.is_some() || pool.stall.after().is_some() {
            worker.computed.take();
        }
        worker.sleeper.set_unasked_until(None);
        let not_send = PhantomData;
        let membership = Self {
            pool,
            index,
            not_send,
        };
        membership.current().forget_base();
        membership.current().forget_preemptions();
        let must_share = barrier::available() != Some(true) || simulated::is_simulated();
        if must_share || membership.current().alt_queue.is_some() {
            // Either no thief can expose our tasks by force, now or later, or the tasks go to
            // another queue, or other threads run at each push. So each push takes the cold exit.
            membership.current().deque().shut();
        }
        membership
    }

    pub(crate) fn current(&self) -> WorkerThread<'_> {
        let worker = self.pool.worker(self.index);
        WorkerThread {
            worker,
            not_send: PhantomData,
        }
    }
}

impl Drop for Membership {
    fn drop(&mut self) {
        let worker = self.pool.worker(self.index);
        become_again(worker.own.before.get(), &self.pool);
        worker.tally.depart();
        worker.membership.is_gone.set(true);
    }
}
