//! A pool: the state that its threads share.

mod bound;
pub(crate) mod end;
pub mod enter;
pub(crate) mod members;
pub(crate) mod observe;
mod threads;

pub use bound::SpawnBound;
use threads::Threads;
pub use threads::UnstartedThread;

use crate::alt_queue::AltQueue;
use crate::cells::Hint;
use crate::controller_handle::ControllerHandle;
use crate::job::Task;
use crate::layout::Layout;
use crate::memory::Memory;
use crate::options::{BuildError, Kind, Options, Source};
use crate::panics::PanicReporter;
use crate::place::Places;
use crate::priority::ClassQueues;
use crate::queue::Queue;
use crate::simulated;
use crate::sleep::wake;
use crate::sleep::{Change, Look, Sleep};
use crate::stats::WaitSampler;
use crate::trace::{Notes, OriginTable, recorder};
use crate::worker::Worker;
use end::Stage;
use std::sync::Arc;
use tidegate_policy::Priority;
use tidegate_policy::search::may_expose;
use tidegate_policy::slots::Ledger;
use tidegate_policy::tunables;
use tidegate_sync::OnceBox;
use tidegate_sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use tidegate_sync::lock::Mutex;
use tidegate_sync::park::Parker;
use tidegate_sync::serial;
use tidegate_sync::simulation::{self, Observer};
use tidegate_sync::thread::{Process, abort_child};

/// The requests that other threads leave in a worker's signal word.
pub(crate) mod signal {
    /// A thief wants some of the worker's private tasks.
    pub(crate) const FLAG: u32 = 1;
    /// A thread sleeps for lack of work: the worker must publish at its next push and wake that
    /// thread.
    pub(crate) const HUNGRY: u32 = 2;
    /// The pool wants the worker's slot back.
    pub(crate) const GIVE_UP: u32 = 4;
    /// Another thread checks whether this worker still polls. The worker only has to clear the
    /// flag.
    pub(crate) const PROBE: u32 = 8;
    /// Other threads have waited long for a slot, so one of them gets the worker's slot
    /// temporarily.
    pub(crate) const TURN: u32 = 16;
    /// The worker must leave its slot, because of `GIVE_UP` or `TURN`.
    pub(crate) const LEAVE: u32 = GIVE_UP | TURN;
}

/// The queue of a scope, with the scope's address.
struct ScopeQueue {
    scope: usize,
    queue: Arc<Queue>,
}

/// The state that the threads of a pool share.
pub struct PoolInner {
    /// Distinguishes this pool from all others in this program.
    pub(crate) serial: u64,
    /// The simulation to which the pool's threads belong, if the pool is simulated.
    pub(crate) simulation: Option<Observer>,
    /// The process in which the pool's threads run.
    pub(crate) process: Process,
    /// Shared with the pools that replace this one in children made by `fork`.
    pub options: Arc<Options>,
    /// Whether the pool has yet to print its options; see [`crate::explain`].
    pub(crate) unexplained: AtomicBool,
    /// Whether the system has refused to start a thread.
    pub(crate) refused: AtomicBool,
    /// See [`Stats::blocking_limit_hits`](crate::Stats::blocking_limit_hits).
    pub(crate) blocking_limit_hits: AtomicU64,
    pub(crate) sleep: Sleep,
    /// The memory that tasks have declared, and the policy for it.
    pub(crate) memory: Memory,
    workers: Box<[OnceBox<Worker>]>,
    /// One more than the highest number that a worker has had.
    worker_count: AtomicUsize,
    /// The number of slots that the user wants.
    wanted: Hint<usize>,
    /// Whether `set_workers` has set the number of workers.
    chosen: Hint<bool>,
    pub(crate) controller: Option<ControllerHandle>,
    pub(crate) injector: Queue,
    /// The queues of the tasks that have a class of their own.
    pub classes: ClassQueues,
    /// See [`Builder::max_queued`](crate::Builder::max_queued).
    pub spawn_bound: Option<SpawnBound>,
    pub(crate) wait_sampler: WaitSampler,
    /// The queues of the tasks that were spawned at a place.
    pub(crate) places: Places,
    /// The scopes' own queues; not every scope has one.
    queues: Mutex<Vec<ScopeQueue>>,
    queue_count: AtomicUsize,
    /// The number of holds on the pool; see [`end`].
    holds: AtomicUsize,
    /// The [`Stage`] of the pool, as a number.
    stage: AtomicU32,
    /// Parks the thread in `wait_until_over`.
    over: Parker,
    last_exposure: AtomicU64,
    /// Passes panics that no caller gets to the pool's handler.
    pub panics: PanicReporter,
    /// Empty unless the pool records a trace.
    pub(crate) origins: OriginTable,
    threads: Mutex<Threads>,
    me: std::sync::Weak<PoolInner>,
}

/// A pool that may grow has room for at least this many threads, so that `set_workers` can raise
/// their number.
const ROOM: usize = 1024;

impl PoolInner {
    fn new(options: Arc<Options>) -> Arc<Self> {
        let slots = options.workers;
        let max_threads = options.max_threads;
        let room = match options.kind.may_grow() {
            true => max_threads.max(ROOM),
            false => max_threads,
        } + options.max_blocking_threads;
        Arc::new_cyclic(|me| Self {
            serial: serial::next(),
            simulation: simulation::here(),
            process: Process::this(),
            unexplained: AtomicBool::new(options.explain),
            refused: AtomicBool::new(false),
            blocking_limit_hits: AtomicU64::new(0),
            sleep: Sleep::new(
                Ledger::new(slots, max_threads)
                    .with_blocking(options.max_blocking_threads)
                    .with_cpu_slots(options.layout.cpu_slots()),
                slots,
            ),
            memory: Memory::new(options.memory, options.workers, recorder(&options)),
            places: Places::new(&options.layout),
            workers: (0..room).map(|_| OnceBox::new()).collect(),
            worker_count: AtomicUsize::new(0),
            wanted: Hint::new(slots),
            chosen: Hint::default(),
            controller: options
                .share
                .as_ref()
                .map(|_| ControllerHandle::new(&options)),
            injector: Queue::beside(options.queue),
            classes: ClassQueues::new(&options),
            spawn_bound: options.max_queued.map(SpawnBound::new),
            wait_sampler: WaitSampler::default(),
            queues: Mutex::default(),
            queue_count: AtomicUsize::new(0),
            holds: AtomicUsize::new(1),
            stage: AtomicU32::new(Stage::Open as u32),
            over: Parker::new(),
            last_exposure: AtomicU64::new(0),
            panics: PanicReporter::new(options.clone()),
            origins: OriginTable::default(),
            threads: Mutex::default(),
            options,
            me: me.clone(),
        })
    }

    /// Whether this pool's threads run in an ancestor of this process, and not here.
    pub fn is_inherited(&self) -> bool {
        self.process != Process::this()
    }

    /// Aborts the process if the pool's threads belong to an ancestor process.
    #[inline]
    pub fn check_process(&self) {
        if self.is_inherited() {
            self.abort_child();
        }
    }

    /// Aborts this process, because the pool's threads belong to an ancestor process.
    #[cold]
    pub fn abort_child(&self) -> ! {
        abort_child(format_args!(
            "pool {}: a child made by fork() needs this pool, which only the parent has",
            self.options.name.escape_debug()
        ));
    }

    pub(crate) fn kind(&self) -> &Kind {
        &self.options.kind
    }

    /// Aborts the process if the pool's threads belong to an ancestor process, or to another
    /// simulation than the calling thread.
    #[inline]
    pub fn check_thread(&self) {
        self.check_process();
        simulated::check_thread(self.name(), self.simulation.as_ref());
    }

    /// Locks the ledger for a look at it.
    pub(crate) fn ledger(&self) -> Look<'_> {
        self.check_thread();
        self.sleep.lock()
    }

    /// Locks the ledger for a change.
    pub(crate) fn change(&self) -> Change<'_> {
        self.check_thread();
        self.sleep.change(self.controller.as_ref())
    }

    pub(crate) fn layout(&self) -> &Layout {
        &self.options.layout
    }

    pub(crate) fn name(&self) -> &str {
        &self.options.name
    }

    /// Creates a pool without threads, for tests.
    #[cfg(all(test, not(any(loom, miri))))]
    pub(crate) fn bare(options: Options) -> Arc<Self> {
        Self::new(Arc::new(options))
    }

    /// Returns how many workers may run at once if no other process wants the processors.
    pub fn wanted(&self) -> usize {
        self.wanted.get()
    }

    /// Returns the largest possible number of workers.
    pub(crate) fn room(&self) -> usize {
        self.workers.len()
    }

    pub(crate) fn worker_count(&self) -> usize {
        // Acquire pairs with the Release in `worker_or_new`.
        self.worker_count.load(Ordering::Acquire)
    }

    /// Returns worker `index`, which must exist.
    pub(crate) fn worker(&self, index: usize) -> &Worker {
        self.worker_if(index).expect("a worker that was admitted")
    }

    pub(crate) fn worker_if(&self, index: usize) -> Option<&Worker> {
        self.workers.get(index)?.get()
    }

    pub(crate) fn workers(&self) -> impl Iterator<Item = &Worker> {
        (0..self.worker_count()).filter_map(|index| self.worker_if(index))
    }

    pub(crate) fn worker_or_new(&self, index: usize) -> &Worker {
        let worker = self.workers[index].get_or_init(|| {
            let notes = Notes::new(&self.options);
            Worker::new(index, self.alt_queue(), notes)
        });
        // Release pairs with the Acquire in `worker_count`.
        self.worker_count.fetch_max(index + 1, Ordering::Release);
        worker
    }

    /// Creates the queue that a worker has instead of its deque. Returns `None` if workers use
    /// deques.
    fn alt_queue(&self) -> Option<AltQueue> {
        let planned = self.memory.is_ordered().then_some(AltQueue::Planned);
        planned.or_else(|| AltQueue::of(self.options.queue))
    }

    /// Whether a thread in the middle of a task may have to wait for a slot. In a closed pool that
    /// does not share the machine, threads wait only between tasks.
    pub(crate) fn preempts(&self) -> bool {
        self.kind().may_preempt() || self.options.shares()
    }

    /// Whether the pool has no spare thread that could run in place of a thread that stops.
    pub(crate) fn has_no_spares(&self) -> bool {
        self.options.max_threads <= self.options.workers
    }

    /// Whether the pool can start another thread while one of its threads blocks.
    pub fn replaces_threads(&self) -> bool {
        // Relaxed: see `members::is_alone`.
        !self.has_no_spares() && !self.refused.load(Ordering::Relaxed)
    }

    /// Whether a thief may expose a victim's tasks by force now. Such an exposure needs a barrier
    /// that interrupts all running threads, so its rate is limited.
    pub(crate) fn expose_turn(&self, now: u64) -> bool {
        // Relaxed: a rate limit that guards no data.
        let last = self.last_exposure.load(Ordering::Relaxed);
        may_expose((last > 0).then_some(last), now)
            && self
                .last_exposure
                .compare_exchange(last, now.max(1), Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
    }

    /// Puts a task into the queue of its class.
    pub(crate) fn inject(&self, class: Option<Priority>, task: Task) {
        match self.classes.other(class) {
            Some(class) => self.classes.push(class, task),
            None => self.injector.push(task),
        }
    }

    /// Creates the queue of the scope at this address, in which searchers look for tasks until
    /// `forget_queue` is called.
    pub(crate) fn new_queue(&self, scope: usize) -> Arc<Queue> {
        let queue = Arc::new(Queue::beside(self.options.queue));
        let mut queues = self.queues.lock();
        queues.push(ScopeQueue {
            scope,
            queue: queue.clone(),
        });
        // Release: as in `Queue::push`; pairs with the Acquires in `pop_of_scopes` and
        // `has_unplanned`.
        self.queue_count.store(queues.len(), Ordering::Release);
        queue
    }

    pub(crate) fn forget_queue(&self, queue: &Arc<Queue>) {
        let mut queues = self.queues.lock();
        queues.retain(|other| !Arc::ptr_eq(&other.queue, queue));
        // Release: as in `new_queue`.
        self.queue_count.store(queues.len(), Ordering::Release);
    }

    /// Takes a task from a scope's queue.
    pub(crate) fn pop_of_scopes(&self) -> Option<Task> {
        // Acquire pairs with the Release in `new_queue`.
        if self.queue_count.load(Ordering::Acquire) == 0 {
            return None;
        }
        self.queues.lock().iter().find_map(|of| of.queue.pop())
    }

    pub(crate) fn has_queued(&self) -> bool {
        self.memory.has_work() || self.has_unplanned()
    }

    /// Returns the addresses of the scopes that have tasks in their own queues.
    pub(crate) fn scopes_with_queued(&self) -> Vec<usize> {
        // Acquire pairs with the Release in `new_queue`.
        if self.queue_count.load(Ordering::Acquire) == 0 {
            return Vec::new();
        }
        let queues = self.queues.lock();
        let queued = queues.iter().filter(|of| of.queue.len() > 0);
        queued.map(|of| of.scope).collect()
    }

    /// Whether a queued task could rescue the pool when every thread waits.
    pub(crate) fn can_rescue(&self) -> bool {
        self.memory.can_rescue() || self.has_unplanned()
    }

    /// Whether a task is in the injector, in the queue of a class or in a scope's queue.
    fn has_unplanned(&self) -> bool {
        // Acquire pairs with the Release in `new_queue`.
        self.injector.len() > 0
            || self.classes.len() > 0
            || (self.queue_count.load(Ordering::Acquire) > 0
                && self.queues.lock().iter().any(|of| of.queue.len() > 0))
    }

    /// Returns the number of tasks in the plan, the injector, and the queues of classes, scopes and
    /// places.
    pub(crate) fn queued(&self) -> usize {
        let queues = self.queues.lock();
        let scopes = queues.iter().map(|of| of.queue.len());
        let planned = self.memory.unstarted();
        let injected = self.injector.len() + self.classes.len();
        planned + injected + self.places.len() + scopes.sum::<usize>()
    }

    /// Returns a counted reference to this borrowed pool.
    pub fn as_arc(&self) -> Arc<Self> {
        self.me.upgrade().expect("alive while borrowed")
    }

    pub(crate) fn set_workers(&self, workers: usize) -> Result<(), BuildError> {
        let allowed = tunables::WORKERS.check_as("Pool::set_workers", Some(workers))?;
        let most = self.room() - self.options.max_blocking_threads;
        let workers = allowed.filter(|n| *n <= most).ok_or_else(|| {
            BuildError::new(format!(
                "invalid value {workers} for Pool::set_workers: expected 1 to {}, the threads that this pool has room for",
                most
            ))
        })?;
        self.want(workers, true);
        Ok(())
    }

    /// Changes the number of wanted slots. A number that the user has `chosen` can only be
    /// overridden by another number that the user has chosen.
    pub(crate) fn want(&self, workers: usize, chosen: bool) {
        {
            let _ledger = self.ledger();
            if !chosen && self.workers_are_chosen() {
                return;
            }
            // Ordered by the ledger's lock.
            self.chosen.set(chosen);
            self.wanted.set(workers);
        }
        wake::resize(self);
    }

    /// Returns the largest number of slots that the pool may ever have. If the machine determines
    /// the number of workers, that is the current or the original number, whichever is larger.
    pub(crate) fn most(&self) -> usize {
        if self.workers_are_chosen() {
            self.wanted()
        } else {
            self.wanted().max(self.options.workers)
        }
    }

    /// Whether the user, rather than the machine, has determined the number of workers.
    pub(crate) fn workers_are_chosen(&self) -> bool {
        self.options.workers_from != Source::Default || self.chosen.get()
    }
}
