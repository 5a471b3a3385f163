//! A pool: its shared part, and the handle that users hold.

use crate::builder::{BuildError, Builder};
use crate::events;
use crate::explain::tell;
use crate::job::{Installed, Task};
use crate::latch::Event;
use crate::options::Options;
use crate::queue::Queue;
use crate::scope::Scope;
use crate::spawn::Handle;
use crate::stats::Stats;
use crate::unwind::{self, Payload};
use crate::wait::Awaited;
use crate::worker::{Admission, Current, Membership, Worker, leave_in_child};
use std::fmt;
use std::sync::{Arc, OnceLock};
use tidegate_policy::search::may_expose;
use tidegate_policy::slots::Ledger;
use tidegate_policy::tunables::{self, Tunable};
use tidegate_sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use tidegate_sync::lock::Mutex;
use tidegate_sync::thread::{PerProcess, Process, watch_forks};
use tidegate_sync::{barrier, serial, thread};

/// What others ask of a worker through its signal word.
pub(crate) mod signal {
    /// A thief wants work that is private.
    pub(crate) const FLAG: u32 = 1;
    /// Somebody sleeps for lack of work: publish at the next push and wake it.
    pub(crate) const HUNGRY: u32 = 2;
    /// The slot is wanted back.
    pub(crate) const GIVE_UP: u32 = 4;
}

/// What the threads of a pool share.
pub(crate) struct Shared {
    /// Distinguishes this pool from all others of this program.
    pub(crate) serial: u64,
    /// The process that has this pool's threads.
    pub(crate) process: Process,
    /// Shared with the pools that take this one's place in children made by `fork`.
    pub(crate) options: Arc<Options>,
    /// The pool has yet to explain itself, see [`crate::explain`].
    pub(crate) unexplained: AtomicBool,
    /// The system has refused a thread.
    pub(crate) refused: AtomicBool,
    pub(crate) ledger: Mutex<Ledger>,
    workers: Box<[OnceLock<Box<Worker>>]>,
    /// One more than the highest number that a worker has had.
    worker_count: AtomicUsize,
    /// Mirror of `Ledger::has_vacancy`.
    pub(crate) vacancy: AtomicBool,
    pub(crate) searching: AtomicUsize,
    slots: AtomicUsize,
    pub(crate) injector: Queue,
    /// The queues of scopes that have one.
    queues: Mutex<Vec<Arc<Queue>>>,
    queue_count: AtomicUsize,
    ending: AtomicBool,
    last_exposure: AtomicU64,
    panics: AtomicU64,
    threads: Mutex<Vec<thread::JoinHandle<()>>>,
    me: std::sync::Weak<Shared>,
}

/// Drops what a panic carried. A payload whose drop panics too is let go of: nothing may unwind from here.
fn let_go(payload: Payload) {
    if let Err(payload) = unwind::catch(|| drop(payload)) {
        std::mem::forget(payload);
    }
}

/// A pool has room for at least so many threads, so that `set_workers` may raise their number.
const ROOM: usize = 1024;

impl Shared {
    /// A pool with its threads.
    fn start(options: Arc<Options>) -> Arc<Self> {
        watch_forks(leave_in_child);
        let shared = Self::new(options);
        shared.start_all();
        shared
    }

    fn new(options: Arc<Options>) -> Arc<Self> {
        let slots = options.workers;
        let max_threads = options.max_threads;
        Arc::new_cyclic(|me| Self {
            serial: serial::next(),
            process: Process::this(),
            unexplained: AtomicBool::new(options.explain),
            refused: AtomicBool::new(false),
            ledger: Mutex::new(Ledger::new(slots, max_threads)),
            workers: (0..max_threads.max(ROOM))
                .map(|_| OnceLock::new())
                .collect(),
            worker_count: AtomicUsize::new(0),
            vacancy: AtomicBool::new(true),
            searching: AtomicUsize::new(0),
            slots: AtomicUsize::new(slots),
            injector: Queue::default(),
            queues: Mutex::default(),
            queue_count: AtomicUsize::new(0),
            ending: AtomicBool::new(false),
            last_exposure: AtomicU64::new(0),
            panics: AtomicU64::new(0),
            threads: Mutex::default(),
            options,
            me: me.clone(),
        })
    }

    pub(crate) fn slots(&self) -> usize {
        // Relaxed: a hint for how many may search.
        self.slots.load(Ordering::Relaxed)
    }

    pub(crate) fn is_ending(&self) -> bool {
        // Acquire pairs with the Release in `end`.
        self.ending.load(Ordering::Acquire)
    }

    /// How many workers there can be.
    pub(crate) fn room(&self) -> usize {
        self.workers.len()
    }

    pub(crate) fn worker_count(&self) -> usize {
        // Acquire pairs with the Release in `worker_or_new`.
        self.worker_count.load(Ordering::Acquire)
    }

    /// A worker that exists.
    pub(crate) fn worker(&self, index: usize) -> &Worker {
        self.worker_if(index).expect("a worker that was admitted")
    }

    pub(crate) fn worker_if(&self, index: usize) -> Option<&Worker> {
        self.workers.get(index)?.get().map(|worker| &**worker)
    }

    pub(crate) fn workers(&self) -> impl Iterator<Item = &Worker> {
        (0..self.worker_count()).filter_map(|index| self.worker_if(index))
    }

    pub(crate) fn worker_or_new(&self, index: usize) -> &Worker {
        let worker = self.workers[index].get_or_init(|| Box::new(Worker::new(index)));
        // Release pairs with `worker_count`.
        self.worker_count.fetch_max(index + 1, Ordering::Release);
        worker
    }

    /// Whether a thread that stops running leaves nobody to run in its place.
    pub(crate) fn has_no_spares(&self) -> bool {
        self.options.max_threads <= self.options.workers
    }

    /// How far apart two workers are; guests and spare threads beyond the tree are near everybody.
    pub(crate) fn distance(&self, a: usize, b: usize) -> u32 {
        let tree = &self.options.places;
        if a < tree.workers() && b < tree.workers() {
            tree.distance(a, b)
        } else {
            1
        }
    }

    /// Whether a thief may expose by force now: the barrier interrupts everybody, so not too often in one pool.
    pub(crate) fn expose_turn(&self, now: u64) -> bool {
        // Relaxed: a rate limit, no data.
        let last = self.last_exposure.load(Ordering::Relaxed);
        may_expose((last > 0).then_some(last), now)
            && self
                .last_exposure
                .compare_exchange(last, now.max(1), Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
    }

    /// A queue that searchers look into until it is forgotten.
    pub(crate) fn new_queue(&self) -> Arc<Queue> {
        let queue = Arc::new(Queue::default());
        let mut queues = self.queues.lock();
        queues.push(queue.clone());
        // Release: as in `Queue::len`.
        self.queue_count.store(queues.len(), Ordering::Release);
        queue
    }

    pub(crate) fn forget_queue(&self, queue: &Arc<Queue>) {
        let mut queues = self.queues.lock();
        queues.retain(|other| !Arc::ptr_eq(other, queue));
        // Release: as in `Queue::len`.
        self.queue_count.store(queues.len(), Ordering::Release);
    }

    /// Takes a task from the injector or a scope's queue.
    pub(crate) fn pop_queued(&self) -> Option<Task> {
        self.injector.pop().or_else(|| {
            // Acquire: as in `Queue::len`.
            if self.queue_count.load(Ordering::Acquire) == 0 {
                return None;
            }
            self.queues.lock().iter().find_map(|queue| queue.pop())
        })
    }

    pub(crate) fn has_queued(&self) -> bool {
        // Acquire: as in `Queue::len`.
        self.injector.len() > 0
            || (self.queue_count.load(Ordering::Acquire) > 0
                && self.queues.lock().iter().any(|queue| queue.len() > 0))
    }

    pub(crate) fn panics(&self) -> u64 {
        // Relaxed: a statistic.
        self.panics.load(Ordering::Relaxed)
    }

    /// A panic that no join, scope or handle can carry.
    pub(crate) fn report_panic(&self, payload: Payload) {
        // Relaxed: a statistic.
        let number = self.panics.fetch_add(1, Ordering::Relaxed) + 1;
        match &self.options.on_panic {
            Some(handler) => {
                let ended = unwind::catch(|| handler(payload, number));
                self.check_handler("on_panic", ended);
            }
            None => {
                let message = unwind::message(&payload);
                tell(format_args!(
                    "pool {}: panic {number} of a detached task: {message}",
                    self.options.name
                ));
                let_go(payload);
            }
        }
    }

    /// A handler for the start or end of a thread, or for panics, is nobody's task: its own panic is told and goes no
    /// further.
    fn check_handler(&self, handler: &str, ended: Result<(), Payload>) {
        let Err(payload) = ended else {
            return;
        };
        let message = unwind::message(&payload);
        tell(format_args!(
            "pool {}: the handler {handler} panicked: {message}",
            self.options.name
        ));
        let_go(payload);
    }

    /// Starts thread `t`, which the ledger has given a slot, if the system lets us.
    pub(crate) fn start_thread(&self, t: usize) {
        if let Err(error) = self.try_start(t) {
            self.threads_refused(&[t], &error);
        }
    }

    fn try_start(&self, t: usize) -> std::io::Result<()> {
        let shared = self.as_arc();
        let name = format!("{}-{t}", self.options.name);
        self.worker_or_new(t).set_guest(false);
        let body = move || {
            // User code is caught wherever it runs: what unwinds to here is a bug of the runtime.
            let guard = unwind::AbortOnUnwind;
            barrier::register();
            let membership = Membership::enter(shared.clone(), Admission::granted(t));
            shared.live(membership.current());
            drop(membership);
            shared.dismiss(t);
            std::mem::forget(guard);
        };
        let handle = thread::start(name, self.options.stack_size, body)?;
        self.threads.lock().push(handle);
        Ok(())
    }

    /// The life of a thread of the pool, from handler to handler.
    fn live(&self, current: Current<'_>) {
        events::start(self, current.index);
        if let Some(handler) = &self.options.on_start {
            self.check_handler("on_start", unwind::catch(|| handler(current.index)));
        }
        current.elsewhere.arrive();
        current.live();
        current.elsewhere.depart();
        // What was delivered before the thread said that it leaves.
        current.run_mail();
        current.forget_base();
        if let Some(handler) = &self.options.on_exit {
            self.check_handler("on_exit", unwind::catch(|| handler(current.index)));
        }
        while current.comes_back() {
            current.live();
            current.run_mail();
        }
        events::stop(self, current.index);
    }

    /// These threads were admitted; the first was refused by the system, and the others are not tried.
    fn threads_refused(&self, refused: &[usize], error: &std::io::Error) {
        let mut threads = 0;
        for t in refused {
            threads = self.refuse(*t);
            while let Some(part) = self.worker(*t).mail.pop() {
                self.injector.push(part);
            }
        }
        // Their slots are free.
        self.rouse(None);
        tell(format_args!(
            "pool {}: the system refused thread {}: {error}; going on with {threads}",
            self.options.name,
            threads + 1,
        ));
    }

    fn set_workers(&self, workers: usize) -> Result<(), BuildError> {
        let named = Tunable {
            name: "Pool::set_workers",
            variable: None,
            ..tunables::WORKERS
        };
        let allowed = named.check(Some(workers))?;
        let workers = allowed.filter(|n| *n <= self.room()).ok_or_else(|| {
            BuildError::new(format!(
                "Pool::set_workers: {workers} is out of range; allowed: 1 to {}, the threads that this pool has room for",
                self.room()
            ))
        })?;
        // Relaxed: a hint.
        self.slots.store(workers, Ordering::Relaxed);
        self.resize(workers);
        Ok(())
    }

    fn start_all(&self) {
        // All are admitted before one runs, which could wake or start others.
        let admitted = self.admit_all(self.options.workers);
        for (started, t) in admitted.iter().enumerate() {
            if let Err(error) = self.try_start(*t) {
                return self.threads_refused(&admitted[started..], &error);
            }
        }
    }

    fn end(self: &Arc<Self>) {
        // Release pairs with `is_ending`.
        self.ending.store(true, Ordering::Release);
        drop(self.ledger.lock());
        self.workers().for_each(|worker| {
            worker.parker.unpark();
        });
        if Current::get().is_some_and(|current| std::ptr::eq(current.shared(), &**self)) {
            // Dropped by one of its own tasks, for which the threads may wait: they end by themselves.
            return;
        }
        self.work_off_alone();
        while let Some(handle) = { self.threads.lock().pop() } {
            // A thread that panicked has aborted the process.
            let _ = handle.join();
        }
    }

    /// A counted reference to a pool that is borrowed.
    pub(crate) fn as_arc(&self) -> Arc<Self> {
        self.me.upgrade().expect("alive while borrowed")
    }

    /// Runs `f` on a thread of this pool and waits for it.
    pub(crate) fn install<R: Send>(self: &Arc<Self>, f: impl FnOnce() -> R + Send) -> R {
        if let Some(current) = Current::in_pool(self) {
            return current.call(|_| f());
        }
        if let Some(t) = self.admit_if_alone() {
            return self.visit(t, |_| f());
        }
        match Current::get() {
            Some(current) => self.inject(f, |done| current.wait(Awaited::Outside(done))),
            None => self.inject(f, Event::park_thread),
        }
    }

    /// Where the system has refused every thread, the caller runs what was spawned.
    pub(crate) fn work_off_alone(self: &Arc<Self>) {
        if let Some(t) = self.admit_if_alone() {
            self.visit(t, |_| ());
        }
    }

    fn inject<R: Send>(&self, f: impl FnOnce() -> R + Send, wait: impl FnOnce(&Event)) -> R {
        let offer = |task| {
            self.injector.push(task);
            self.work_visible(None);
        };
        let result = Installed::new(f, Event::for_this_thread()).run(offer, wait);
        result.unwrap_or_else(|payload| unwind::resume(payload))
    }

    /// Runs `f` on the caller's stack if it is a worker of this pool or can become a guest, else on a thread of the pool.
    #[inline]
    pub(crate) fn take_part<R: Send>(
        self: &Arc<Self>,
        f: impl FnOnce(Current<'_>) -> R + Send,
    ) -> R {
        match Current::get() {
            Some(current) if std::ptr::eq(current.shared(), &**self) => f(current),
            Some(_) => self.install_with(f),
            None => match self.admit_guest() {
                Some(t) => self.visit(t, f),
                None => self.install_with(f),
            },
        }
    }

    fn install_with<R: Send>(self: &Arc<Self>, f: impl FnOnce(Current<'_>) -> R + Send) -> R {
        self.install(|| f(Current::get().expect("install runs on a worker")))
    }

    /// Makes the caller worker `t`, which was admitted as a guest, for the length of `f`.
    fn visit<R>(self: &Arc<Self>, t: usize, f: impl FnOnce(Current<'_>) -> R) -> R {
        struct Visit(Membership);
        impl Drop for Visit {
            fn drop(&mut self) {
                let current = self.0.current();
                if current.shared().is_inherited() {
                    return;
                }
                if current.shared().is_alone() {
                    current.finish();
                }
                current.clear_above(0);
                current.set_must_stop(false);
            }
        }
        struct Leave<'a>(&'a Shared, usize);
        impl Drop for Leave<'_> {
            fn drop(&mut self) {
                if !self.0.is_inherited() {
                    self.0.dismiss(self.1);
                }
            }
        }
        let _leave = Leave(self, t);
        let visit = Visit(Membership::enter(self.clone(), Admission::granted(t)));
        f(visit.0.current())
    }
}

/// A pool of workers; see [`Pool::builder`].
///
/// Dropping a pool finishes the tasks that were spawned into it and joins its threads. In a child made by `fork` it has
/// threads of its own from its first use there on.
///
/// ```
/// let pool = tidegate::Pool::builder().workers(2).build()?;
/// let (a, b) = pool.join(|| 1, || 2);
/// let sum = pool.install(|| tidegate::map_reduce(0..100, |i| i, |a, b| a + b));
/// assert_eq!((a, b, sum), (1, 2, Some(4950)));
/// # Ok::<(), tidegate::BuildError>(())
/// ```
pub struct Pool {
    options: Arc<Options>,
    shared: PerProcess<Arc<Shared>>,
}

impl Pool {
    /// How to make a pool with other than the default options.
    #[must_use]
    pub fn builder() -> Builder {
        Builder::new()
    }

    pub(crate) fn start(options: Options) -> Self {
        let pool = Self {
            options: Arc::new(options),
            shared: PerProcess::new(),
        };
        pool.shared();
        pool
    }

    /// The pool's threads in this process; in a child made by `fork` they are made at first use.
    pub(crate) fn shared(&self) -> &Arc<Shared> {
        self.shared
            .get_or_init(|| Shared::start(self.options.clone()))
    }

    /// The same, to run something in it.
    fn used(&self) -> &Arc<Shared> {
        let shared = self.shared();
        shared.announce();
        shared
    }

    /// Runs `f` on a thread of the pool and waits for it; inside, the free functions of this crate use this pool.
    ///
    /// Called from a task of this very pool it is a plain call. A caller that is a worker of another pool leaves its place
    /// there to another thread while it waits.
    ///
    /// # Panics
    /// With the panic of `f`.
    pub fn install<R: Send>(&self, f: impl FnOnce() -> R + Send) -> R {
        self.used().install(f)
    }

    /// [`join`](crate::join) on this pool.
    pub fn join<RA: Send, RB: Send>(
        &self,
        a: impl FnOnce() -> RA + Send,
        b: impl FnOnce() -> RB + Send,
    ) -> (RA, RB) {
        self.used().take_part(|current| current.join(a, b))
    }

    /// [`scope`](fn@crate::scope) on this pool.
    pub fn scope<'scope, R: Send>(&self, f: impl FnOnce(&Scope<'scope>) -> R + Send) -> R {
        self.used().take_part(|current| current.scope(f))
    }

    /// [`spawn`](fn@crate::spawn) on this pool.
    pub fn spawn<T: Send + 'static>(&self, f: impl FnOnce() -> T + Send + 'static) -> Handle<T> {
        self.used().spawn(f)
    }

    /// [`broadcast`](fn@crate::broadcast) on this pool.
    pub fn broadcast<R: Send>(&self, f: impl Fn(usize) -> R + Sync) -> Vec<R> {
        let f = &f;
        self.used().take_part(move |current| current.broadcast(f))
    }

    /// What the pool has done so far.
    #[must_use]
    pub fn stats(&self) -> Stats {
        Stats::of(self.shared())
    }

    /// Changes the number of workers while the pool runs.
    ///
    /// More: new threads are started when there is work for them. Fewer: workers stop at their next fork, steal or
    /// [`yield_point`](crate::yield_point); what they leave stays stealable.
    ///
    /// # Errors
    /// `workers` is 0, or more than this pool can ever have threads; nothing changes then.
    pub fn set_workers(&self, workers: usize) -> Result<(), BuildError> {
        self.shared().set_workers(workers)
    }

    /// Finishes the tasks that were spawned into the pool and joins its threads, as dropping it does.
    pub fn shutdown(self) {}
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.options.name;
        f.debug_struct("Pool")
            .field("name", name)
            .finish_non_exhaustive()
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        if let Some(shared) = self.shared.take() {
            shared.end();
        }
    }
}

/// The pool that free functions use outside of any other, made at first use.
pub(crate) fn global() -> &'static Arc<Shared> {
    static GLOBAL: PerProcess<Arc<Shared>> = PerProcess::new();
    let shared = GLOBAL.get_or_init(|| Shared::start(Arc::new(Options::global())));
    shared.announce();
    shared
}
