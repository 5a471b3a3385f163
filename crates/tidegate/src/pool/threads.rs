//! The threads of a pool: how they start, live and end.
//!
//! A pool lives until its handle is gone and every task that was spawned into it has run: both *hold* it. Whoever lets go last
//! ends it; then its threads leave when they see no more work.

use super::Shared;
use crate::events;
use crate::explain::tell;
use crate::options::Options;
use crate::steward::{self, Bell, Steward};
use crate::unwind;
use crate::worker::{Admission, Current, Membership, leave_in_child};
use std::io;
use std::sync::Arc;
use tidegate_share::Location;
use tidegate_sync::atomic::Ordering;
use tidegate_sync::thread::watch_forks;
use tidegate_sync::{barrier, thread};

/// A thread of a pool that has its number and a slot, and does not run yet. Dropped without having run it leaves the pool.
pub struct UnstartedThread {
    shared: Arc<Shared>,
    /// None once it runs.
    admission: Option<Admission>,
    index: usize,
}

impl UnstartedThread {
    fn new(shared: Arc<Shared>, index: usize) -> Self {
        shared.worker_or_new(index).set_guest(false);
        shared.ledger().set_roaming(index, false);
        shared.worker(index).set_roams(false);
        Self {
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
        self.shared.live(membership.current());
        drop(membership);
        self.shared.dismiss(self.index);
        std::mem::forget(guard);
    }

    /// Makes the calling thread this one for good, without letting it look for work.
    fn stay(mut self) {
        let admission = self.admission.take().expect("enters once");
        // The thread goes its own ways.
        self.shared.ledger().set_roaming(self.index, true);
        self.shared.worker(self.index).set_roams(true);
        std::mem::forget(Membership::enter(self.shared.clone(), admission));
    }

    /// Runs on a thread of its own, called `name`.
    ///
    /// # Errors
    /// The system refuses the thread.
    pub fn start(self, name: String) -> io::Result<()> {
        let shared = self.shared.clone();
        let handle = thread::start(name, shared.options.stack_size, move || self.run())?;
        shared.threads.lock().push(handle);
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
            self.shared.refuse(self.index);
        }
    }
}

/// Lets go of a pool whose threads could not all be made.
struct LetGo<'a>(&'a Shared);

impl Drop for LetGo<'_> {
    fn drop(&mut self) {
        self.0.let_go();
    }
}

impl Shared {
    /// A pool with its threads, or with as many as the system has let it have.
    pub(super) fn start(options: Arc<Options>) -> Arc<Self> {
        let shared = Self::new(options);
        // All are admitted before one runs, which could wake or start others.
        let mut unstarted = shared.recruit().into_iter();
        if let Err(error) = unstarted.try_for_each(UnstartedThread::start_named) {
            drop(unstarted);
            shared.tell_of_refusal(&error);
        }
        shared.start_steward();
        shared
    }

    /// A pool whose threads `start` starts, all but the first if `with_caller`: that is the calling thread. A forgiving pool goes on
    /// with those that were started before one was refused.
    ///
    /// # Errors
    /// The first of `start`; the threads that run already end.
    pub(super) fn start_by(
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
        shared.start_steward();
        Ok(shared)
    }

    /// Starts the pool's steward, if it is to have one. Without it the pool takes no part in dividing the machine.
    fn start_steward(self: &Arc<Self>) {
        if self.bell.is_none() {
            return;
        }
        let name = format!("{}-steward", self.options.name);
        // Here, and not when a seat is taken: who changes the environment must not do so beside a thread that reads it.
        let location = Location::find();
        let shared = self.clone();
        let steward = move || {
            let guard = unwind::AbortOnUnwind;
            Steward::new(shared, location).run();
            std::mem::forget(guard);
        };
        match thread::start(name, steward::STACK, steward) {
            Ok(handle) => self.threads.lock().push(handle),
            Err(error) => tell(format_args!(
                "pool {}: the system refused the steward: {error}; the machine is not shared",
                self.options.name,
            )),
        }
    }

    /// The pool's first threads, each with a slot.
    fn recruit(self: &Arc<Self>) -> Vec<UnstartedThread> {
        watch_forks(leave_in_child);
        barrier::prepare();
        let admitted = self.admit_all(self.options.workers).into_iter();
        admitted
            .map(|index| UnstartedThread::new(self.clone(), index))
            .collect()
    }

    /// Starts thread `t`, which the ledger has given a slot, if the system lets us.
    pub(crate) fn start_thread(&self, t: usize) {
        if let Err(error) = UnstartedThread::new(self.as_arc(), t).start_named() {
            self.tell_of_refusal(&error);
        }
    }

    fn tell_of_refusal(&self, error: &io::Error) {
        let threads = self.thread_count();
        tell(format_args!(
            "pool {}: the system refused thread {}: {error}; going on with {threads}",
            self.options.name,
            threads + 1,
        ));
    }

    /// The life of a thread of the pool, from handler to handler.
    fn live(&self, current: Current<'_>) {
        events::start(self, current.index);
        current.arrive_at_stand();
        if let Some(handler) = &self.options.on_start {
            self.call_handler("on_start", || handler(current.index));
            current.plan_leaves();
        }
        if !self.options.bind {
            current.elsewhere.arrive();
        }
        current.live();
        current.leave_stand();
        current.elsewhere.depart();
        // What was delivered before the thread said that it leaves.
        current.run_mail();
        current.forget_base();
        if let Some(handler) = &self.options.on_exit {
            self.call_handler("on_exit", || handler(current.index));
            current.plan_leaves();
        }
        while current.comes_back() {
            current.live();
            current.run_mail();
        }
        events::stop(self, current.index);
    }

    /// One reason more for the pool to live. The caller has one itself.
    pub(crate) fn hold(&self) {
        // Relaxed: the caller's own hold keeps the count above 0.
        self.holds.fetch_add(1, Ordering::Relaxed);
    }

    /// One reason less; the last one ends the pool.
    pub(crate) fn let_go(&self) {
        // AcqRel: whatever was done under a hold happens before the end.
        if self.is_inherited() || self.holds.fetch_sub(1, Ordering::AcqRel) > 1 {
            return;
        }
        // Release pairs with `is_ending`.
        self.ending.store(true, Ordering::Release);
        drop(self.ledger.lock());
        self.workers().for_each(|worker| {
            worker.parker.unpark();
        });
        self.bell.iter().for_each(Bell::pool_ends);
    }

    /// Lets go for the pool's handle, and waits for the threads to end unless the pool is closed.
    pub(super) fn end(self: &Arc<Self>) {
        self.let_go();
        if Current::of(self).is_some() || self.is_closed() {
            // One of its own tasks, for which the threads may wait: they end by themselves.
            return;
        }
        self.work_off_alone();
        while let Some(handle) = { self.threads.lock().pop() } {
            // A thread that panicked has aborted the process.
            let _ = handle.join();
        }
    }
}
