//! The threads of a pool: how they start and live. How the pool ends is in [`super::end`].

use super::PoolInner;
use crate::events;
use crate::memory;
use crate::options::Options;
use crate::place;
use crate::pool::enter;
use crate::pool::members;
use crate::sleep;
use crate::sleep::wake;
use crate::unwind::{self, UnhandledPanic};
use crate::worker::inbox;
use crate::worker::{Admission, Membership, Search, WorkerThread, leave_in_child};
use std::io;
use std::sync::Arc;
use tidegate_policy::search::Waiting;
use tidegate_sync::stderr::print_line;
use tidegate_sync::thread::{JoinHandle, watch_forks};
use tidegate_sync::{barrier, thread};

/// The handles of a pool's threads.
#[derive(Default)]
pub(super) struct Threads {
    /// Threads that run, each with its number; the share controller has none.
    running: Vec<(Option<usize>, JoinHandle<()>)>,
    /// The thread that ended last; the one before it was joined by it.
    ended: Option<JoinHandle<()>>,
}

impl Threads {
    fn pop(&mut self) -> Option<JoinHandle<()>> {
        let running = self.running.pop().map(|(_, handle)| handle);
        running.or_else(|| self.ended.take())
    }

    /// Thread `index` is about to end before the pool does. The handle of the one that did so before.
    fn end(&mut self, index: usize) -> Option<JoinHandle<()>> {
        let is_it = |(number, _): &(Option<usize>, JoinHandle<()>)| *number == Some(index);
        let at = self.running.iter().position(is_it)?;
        let (_, own) = self.running.swap_remove(at);
        self.ended.replace(own)
    }
}

/// A thread of a pool that has its number and a slot, and does not run yet. Dropped without having run it leaves the pool.
pub struct UnstartedThread {
    shared: Arc<PoolInner>,
    /// None once it runs.
    admission: Option<Admission>,
    index: usize,
    /// It was started before the pool began to end.
    handles_exit: bool,
}

impl UnstartedThread {
    fn new(shared: Arc<PoolInner>, index: usize) -> Self {
        shared.worker_or_new(index).membership.is_guest.set(false);
        shared.ledger().set_unpinned(index, false);
        shared.worker(index).position.unpinned.set(false);
        Self {
            handles_exit: !shared.is_ending(),
            shared,
            admission: Some(Admission::granted(index)),
            index,
        }
    }

    /// Its number in the pool.
    #[must_use]
    pub fn index(&self) -> usize {
        self.index
    }

    /// The address space of its stack, in bytes, where [`start`](Self::start) makes it.
    #[must_use]
    pub fn stack_size(&self) -> usize {
        self.shared.options.stack_size
    }

    /// Makes the calling thread this one, until the pool ends.
    pub fn run(mut self) {
        // User code is caught wherever it runs: what unwinds to here is a bug of the runtime.
        let guard = unwind::AbortOnUnwind;
        let admission = self.admission.take().expect("runs once");
        let membership = Membership::enter(self.shared.clone(), admission);
        self.shared.live(membership.current(), self.handles_exit);
        drop(membership);
        let before = match self.shared.is_over() {
            true => None,
            false => self.shared.threads.lock().end(self.index),
        };
        members::dismiss(&self.shared, self.index);
        if let Some(before) = before {
            // A thread that panicked has aborted the process.
            let _ = before.join();
        }
        std::mem::forget(guard);
    }

    /// Makes the calling thread this one for good, without letting it look for work.
    fn stay(mut self) {
        let admission = self.admission.take().expect("enters once");
        // The thread goes its own ways.
        self.shared.ledger().set_unpinned(self.index, true);
        self.shared.worker(self.index).position.unpinned.set(true);
        std::mem::forget(Membership::enter(self.shared.clone(), admission));
    }

    /// Runs on a thread of its own, called `name`.
    ///
    /// # Errors
    /// The system refuses the thread.
    pub fn start(self, name: String) -> io::Result<()> {
        let (shared, index) = (self.shared.clone(), self.index);
        let handle = thread::start(name, shared.options.stack_size, move || self.run())?;
        shared.threads.lock().running.push((Some(index), handle));
        Ok(())
    }

    /// Runs on a thread of its own, called after the pool.
    fn start_named(self) -> io::Result<()> {
        let name = format!("{}-{}", self.shared.options.name, self.index);
        self.start(name)
    }
}

impl Drop for UnstartedThread {
    fn drop(&mut self) {
        if self.admission.is_some() {
            members::refuse(&self.shared, self.index);
        }
    }
}

/// Lets go of a pool whose threads could not all be made.
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

    /// A pool with its threads, or with as many as the system has let it have.
    pub(crate) fn start(options: Arc<Options>) -> Arc<Self> {
        let shared = Self::new(options);
        // All are admitted before one runs, which could wake or start others.
        let mut unstarted = shared.recruit().into_iter();
        if let Err(error) = unstarted.try_for_each(UnstartedThread::start_named) {
            drop(unstarted);
            shared.tell_of_refusal(&error);
        }
        shared
    }

    /// A pool whose threads `start` starts, all but the first if `with_caller`: that is the calling thread. A forgiving pool goes on
    /// with those that were started before one was refused.
    ///
    /// # Errors
    /// The first of `start`; the threads that run already end.
    pub(crate) fn start_by(
        options: Arc<Options>,
        with_caller: bool,
        mut start: impl FnMut(UnstartedThread) -> io::Result<()>,
    ) -> io::Result<Arc<Self>> {
        let shared = Self::new(options);
        let mut unstarted = shared.recruit().into_iter();
        let caller = unstarted.by_ref().take(usize::from(with_caller)).next();
        // Also if `start` panics. The pool ends before the threads that do not start leave it.
        let let_go = LetGo(&shared);
        if let Err(error) = unstarted.try_for_each(&mut start) {
            let some = unstarted.len() + 1 < shared.options.workers;
            if !(some && shared.options.is_forgiving()) {
                return Err(error);
            }
            drop(unstarted);
            shared.tell_of_refusal(&error);
        }
        if let Some(thread) = caller {
            thread.stay();
        }
        std::mem::forget(let_go);
        Ok(shared)
    }

    /// The pool's first threads, each with a slot.
    fn recruit(self: &Arc<Self>) -> Vec<UnstartedThread> {
        watch_forks(leave_in_child);
        barrier::prepare();
        let admitted = members::admit_all(self, self.options.workers).into_iter();
        admitted
            .map(|index| UnstartedThread::new(self.clone(), index))
            .collect()
    }

    /// The end of the pool waits for this thread, which is none of its workers.
    pub(crate) fn add_thread(&self, handle: thread::JoinHandle<()>) {
        self.threads.lock().running.push((None, handle));
    }

    /// Starts thread `t`, which the ledger has given a slot, if the system lets us.
    pub(crate) fn start_thread(&self, t: usize) {
        if let Err(error) = UnstartedThread::new(self.as_arc(), t).start_named() {
            self.tell_of_refusal(&error);
        }
    }

    fn tell_of_refusal(&self, error: &io::Error) {
        let threads = members::thread_count(self);
        print_line(format_args!(
            "pool {}: the system refused thread {}: {error}; going on with {threads}",
            self.options.name,
            threads + 1,
        ));
    }

    /// The life of a thread of the pool, from handler to handler.
    fn live(&self, current: WorkerThread<'_>, handles_exit: bool) {
        events::start(self.name(), current.index);
        place::take_cpu_slot(current);
        if let Some(handler) = &self.options.on_start {
            // Its waker counts on a search, and the handler may take long: another thread has to come.
            wake::rouse_unreported(self);
            self.call_handler("on_start", || handler(current.index));
            memory::leave(current);
        }
        if !self.options.bind {
            current.sleeper.wake_affinity.arrive();
        }
        let on_exit = self.options.on_exit.as_ref().filter(|_| handles_exit);
        current.membership.has_exited.set(on_exit.is_none());
        Search::new(current).live();
        if let Some(handler) = on_exit {
            sleep::resume_running(current, Waiting::Owed);
            // A publisher may have woken this thread, which calls its handler first: another one has to come.
            wake::rouse_unreported(self);
            inbox::run(current);
            current.forget_base();
            self.call_handler("on_exit", || handler(current.index));
            memory::leave(current);
            current.membership.has_exited.set(true);
            Search::new(current).live();
        }
        place::leave_cpu_slot(current);
        current.sleeper.wake_affinity.depart();
        events::stop(self.name(), current.index);
    }

    /// Lets go for the pool's handle, and waits for the threads to end if pools of its kind do.
    pub(crate) fn end(self: &Arc<Self>) {
        self.let_go();
        if WorkerThread::of(self).is_some() || !self.kind().end_waits() {
            // One of its own tasks, for which the threads may wait: they end by themselves.
            return;
        }
        enter::work_off_alone(self);
        while let Some(handle) = { self.threads.lock().pop() } {
            // A thread that panicked has aborted the process.
            let _ = handle.join();
        }
    }
}
