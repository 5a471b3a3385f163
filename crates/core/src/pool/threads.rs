//! The threads of a pool: how they start and live. [`super::end`] describes how the pool ends.

use super::PoolInner;
use crate::events;
use crate::options::{Options, is_forgiving};
use crate::pool::enter;
use crate::pool::members;
use crate::sleep;
use crate::sleep::{blocking, wake};
use crate::unwind::{self, UnhandledPanic};
use crate::worker::inbox;
use crate::worker::memory;
use crate::worker::stand;
use crate::worker::{Admission, Membership, Search, WorkerThread, leave_in_child};
use std::cell::Cell;
use std::io;
use std::sync::Arc;
use tidegate_policy::Nanos;
use tidegate_policy::search::Waiting;
use tidegate_policy::trace::Thief;
use tidegate_sync::stderr::print_line;
use tidegate_sync::thread::{JoinHandle, watch_forks};
use tidegate_sync::{barrier, thread, worker_local};

worker_local!(
    /// The serial number of the pool that the calling thread is or was a thread of; 0 if none. It
    /// has no destructor, so destructors of other thread-local values can read it.
    static POOL_OF_THREAD: Cell<u64> = Cell::new(0)
);

#[derive(Default)]
pub(super) struct Threads {
    /// Running threads, each with its number; the share controller has no number.
    running: Vec<(Option<usize>, JoinHandle)>,
    /// The thread that ended last. It has joined the thread that ended before it.
    ended: Option<JoinHandle>,
}

impl Threads {
    fn pop(&mut self) -> Option<JoinHandle> {
        let running = self.running.pop().map(|(_, handle)| handle);
        running.or_else(|| self.ended.take())
    }

    /// Takes the handle of thread `number`, or of the share controller if that is `None`.
    fn take(&mut self, number: Option<usize>) -> Option<JoinHandle> {
        let at = self.running.iter().position(|(own, _)| *own == number)?;
        Some(self.running.swap_remove(at).1)
    }

    /// Records that thread `index` is about to end before the pool does. Returns the handle of the
    /// last thread that ended early.
    fn end(&mut self, index: usize) -> Option<JoinHandle> {
        let own = self.take(Some(index))?;
        self.ended.replace(own)
    }
}

/// A thread of a pool that has its number and a slot, but does not run yet. If it is dropped before
/// it has run, it leaves the pool.
pub struct UnstartedThread {
    pool: Arc<PoolInner>,
    /// `None` once the thread runs.
    admission: Option<Admission>,
    index: usize,
    /// Whether the thread was created before the pool began to end.
    handles_exit: bool,
}

impl UnstartedThread {
    fn new(pool: Arc<PoolInner>, index: usize) -> Self {
        pool.worker_or_new(index).membership.is_guest.set(false);
        pool.change().set_unpinned(index, false);
        pool.worker(index).position.unpinned.set(false);
        Self {
            handles_exit: !pool.is_ending(),
            pool,
            admission: Some(Admission::granted(index)),
            index,
        }
    }

    /// Returns the thread's number in the pool.
    #[must_use]
    pub fn index(&self) -> usize {
        self.index
    }

    /// Returns the stack size, in bytes of address space, that the thread gets from
    /// [`start`](Self::start).
    #[must_use]
    pub fn stack_size(&self) -> usize {
        self.pool.options.stack_size
    }

    /// Makes the calling thread act as this thread of the pool until the pool ends.
    pub fn run(mut self) {
        POOL_OF_THREAD.with(|pool| pool.set(self.pool.serial));
        // Panics of user code are caught where that code runs: a panic that unwinds to here is a
        // bug in the runtime.
        unwind::no_unwind(|| self.work());
        // The drop of `self` may be that of the pool, whose handlers the user's code destroys.
    }

    fn work(&mut self) {
        let admission = self.admission.take().expect("runs once");
        let membership = Membership::enter(self.pool.clone(), admission);
        let thief = self.pool.live(membership.current(), self.handles_exit);
        drop(membership);
        // Dropping the user's backoff may block or drop a pool, so this thread must not be a worker
        // any more, which would need a slot afterwards.
        drop(thief);
        let is_over = self.pool.is_over();
        let before = {
            let mut threads = self.pool.threads.lock();
            if is_over {
                // The share controller ends before this thread does, so the pool's handlers are
                // never destroyed on its small stack, even if no thread waits for the pool's end.
                threads.take(None)
            } else {
                threads.end(self.index)
            }
        };
        members::dismiss(&self.pool, self.index);
        if let Some(before) = before {
            // Cannot fail: a panic of that thread would have aborted the process.
            let _ = before.join();
        }
    }

    /// Makes the calling thread act as this thread of the pool permanently, without looking for
    /// work.
    fn stay(mut self) {
        let admission = self.admission.take().expect("enters once");
        // The thread may run on any CPU.
        self.pool.change().set_unpinned(self.index, true);
        self.pool.worker(self.index).position.unpinned.set(true);
        std::mem::forget(Membership::enter(self.pool.clone(), admission));
    }

    /// Starts a new thread called `name`, which acts as this thread of the pool.
    ///
    /// # Errors
    /// If the system refuses to start the thread.
    pub fn start(self, name: String) -> io::Result<()> {
        let (pool, index) = (self.pool.clone(), self.index);
        let handle = thread::start(name, pool.options.stack_size, move || self.run())?;
        pool.threads.lock().running.push((Some(index), handle));
        Ok(())
    }

    /// Like `start`, with a name derived from the pool's name.
    fn start_named(self) -> io::Result<()> {
        let name = format!("{}-{}", self.pool.options.name, self.index);
        self.start(name)
    }
}

impl Drop for UnstartedThread {
    fn drop(&mut self) {
        if self.admission.is_some() {
            members::refuse(&self.pool, self.index);
        }
    }
}

/// A guard that removes the hold of the pool's handle if threads could not be started.
struct LetGo<'a>(&'a PoolInner);

impl Drop for LetGo<'_> {
    fn drop(&mut self) {
        self.0.let_go();
    }
}

impl PoolInner {
    /// Calls a user's handler for the start or end of a thread, or the user's backoff.
    pub(crate) fn call_handler(&self, name: &'static str, handler: impl FnOnce()) {
        if let Err(payload) = unwind::catch(handler) {
            self.panics.report(payload, UnhandledPanic::Handler(name));
        }
        self.check_process();
    }

    /// Starts a pool with its threads, or with as many of them as the system allows.
    pub(crate) fn start(options: Arc<Options>) -> Arc<Self> {
        let pool = Self::new(options);
        // All threads are admitted before any of them runs, because a running thread could wake or
        // start others.
        let mut unstarted = pool.recruit().into_iter();
        if let Err(error) = unstarted.try_for_each(UnstartedThread::start_named) {
            drop(unstarted);
            pool.report_refusal(&error);
        }
        pool
    }

    /// Starts a pool and uses `start` to start its threads. If `with_caller` is set, the calling
    /// thread becomes the first thread instead. A forgiving pool continues with the threads that
    /// were started before one was refused.
    ///
    /// # Errors
    /// Returns the first error of `start`; the threads that are already running then end.
    pub(crate) fn start_by(
        options: Arc<Options>,
        with_caller: bool,
        mut start: impl FnMut(UnstartedThread) -> io::Result<()>,
    ) -> io::Result<Arc<Self>> {
        let pool = Self::new(options);
        let mut unstarted = pool.recruit().into_iter();
        let caller = unstarted.by_ref().take(usize::from(with_caller)).next();
        // The guard removes the hold even if `start` panics. It is dropped before `unstarted`, so
        // the pool ends before the threads that were not started leave it.
        let let_go = LetGo(&pool);
        if let Err(error) = unstarted.try_for_each(&mut start) {
            let some = unstarted.len() + 1 < pool.options.workers;
            if !(some && is_forgiving(pool.options.closed.as_ref())) {
                return Err(error);
            }
            drop(unstarted);
            pool.report_refusal(&error);
        }
        if let Some(thread) = caller {
            thread.stay();
        }
        std::mem::forget(let_go);
        Ok(pool)
    }

    /// Creates the pool's first threads, each with a slot.
    fn recruit(self: &Arc<Self>) -> Vec<UnstartedThread> {
        watch_forks(leave_in_child);
        barrier::prepare();
        let admitted = members::admit_all(self, self.options.workers).into_iter();
        admitted
            .map(|index| UnstartedThread::new(self.clone(), index))
            .collect()
    }

    /// Adds a thread that is not a worker of the pool. The end of the pool waits for it.
    pub(crate) fn add_thread(&self, handle: JoinHandle) {
        self.threads.lock().running.push((None, handle));
    }

    /// Starts thread `t`, to which the ledger has given a slot, if the system allows it.
    pub(crate) fn start_thread(&self, t: usize) {
        if let Err(error) = UnstartedThread::new(self.as_arc(), t).start_named() {
            self.report_refusal(&error);
        }
    }

    fn report_refusal(&self, error: &io::Error) {
        let threads = members::thread_count(self);
        print_line(format_args!(
            "pool {}: the system refused thread {}: {error}; continuing with {threads}",
            self.options.name,
            threads + 1,
        ));
    }

    /// Runs a thread of the pool, from its start handler to its exit handler.
    fn live(&self, current: WorkerThread<'_>, handles_exit: bool) -> Thief {
        events::start(self.name(), current.index);
        stand::take_cpu_slot(current);
        let mut search = self.prepare(current);
        if !self.options.bind && self.options.simulated.is_none() {
            current.sleeper.wake_affinity.arrive();
        }
        let on_exit = self.options.on_exit.as_ref().filter(|_| handles_exit);
        current.membership.has_exited.set(on_exit.is_none());
        search.live();
        if let Some(handler) = on_exit {
            sleep::resume_running(current, Waiting::Owed);
            // A publisher may have woken this thread to search for work, but the thread calls its
            // handler first. So another thread must be woken.
            wake::rouse_unreported(self);
            inbox::run_at_base(current);
            current.forget_base();
            self.call_handler("on_exit", || handler(current.index));
            memory::leave(current);
            current.membership.has_exited.set(true);
            search.live();
        }
        stand::leave_cpu_slot(current);
        current.sleeper.wake_affinity.depart();
        events::stop(self.name(), current.index);
        search.into_thief()
    }

    /// Calls the user's code for a new thread: its start handler, and the code that creates its
    /// backoff.
    fn prepare<'a>(&self, current: WorkerThread<'a>) -> Search<'a> {
        let handler = self.options.on_start.as_ref();
        if handler.is_some() || self.options.idle.is_custom() {
            // The thread that woke this one relies on it to search for work, but the user's code
            // may take long. So another thread must be woken.
            wake::rouse_unreported(self);
        }
        if let Some(handler) = handler {
            self.call_handler("on_start", || handler(current.index));
        }
        let search = Search::new(current);
        memory::leave(current);
        search
    }

    /// Removes the hold of the pool's handle. Then waits for the threads to end, if the caller can
    /// wait.
    pub(crate) fn end(self: &Arc<Self>) {
        if self.close() {
            // If the caller is a worker of another pool, this pool may need that pool's tasks to
            // end.
            blocking::run(|| self.join_threads());
        }
    }

    /// Like `end`, but waits at most `limit`. Returns whether the pool has ended.
    pub(crate) fn end_within(self: &Arc<Self>, limit: Nanos) -> bool {
        let is_over = self.close() && self.wait_until_over(limit);
        if is_over {
            self.join_threads();
        }
        is_over
    }

    /// Removes the hold of the pool's handle. Returns whether the caller can wait for the threads
    /// to end.
    fn close(self: &Arc<Self>) -> bool {
        self.let_go();
        // A destructor of a value that is local to a thread of the pool runs when the thread has
        // left the pool.
        let is_thread = POOL_OF_THREAD
            .try_with(Cell::get)
            .is_ok_and(|serial| serial == self.serial);
        if is_thread || WorkerThread::in_pool(self).is_some() || self.is_closed() {
            // The caller runs on a thread of the pool or on top of one of the pool's own tasks, and
            // the threads may wait for it. They end without the caller's help.
            return false;
        }
        enter::work_off_alone(self);
        true
    }

    fn join_threads(&self) {
        while let Some(handle) = { self.threads.lock().pop() } {
            // Cannot fail: a panic of that thread would have aborted the process.
            let _ = handle.join();
        }
    }
}
