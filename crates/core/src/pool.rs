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

use crate::cells::Hint;
use crate::controller_handle::ControllerHandle;
use crate::layout::Layout;
use crate::options::{BuildError, Options, Source};
use crate::panics::PanicReporter;
use crate::simulated;
use crate::sleep::stall::Stall;
use crate::sleep::wake;
use crate::sleep::{Change, Look, Sleep};
use crate::sources::Sources;
use crate::sources::alt_queue::AltQueue;
use crate::stats::WaitSampler;
use crate::trace::{Notes, OriginTable, recorder};
use crate::worker::memory::Memory;
use crate::worker::{Event, Worker};
use end::Stage;
use std::sync::Arc;
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
    pub(crate) stall: Stall,
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
    /// Where tasks wait outside the workers.
    pub sources: Sources,
    /// See [`Builder::max_queued`](crate::Builder::max_queued).
    pub spawn_bound: Option<SpawnBound>,
    pub(crate) wait_sampler: WaitSampler,
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
        let least = if options.closed.is_none() { ROOM } else { 0 };
        let room = max_threads.max(least) + options.max_blocking_threads;
        let has_controller = options.share.is_some();
        Arc::new_cyclic(|me| Self {
            serial: serial::next(),
            simulation: simulation::here(),
            process: Process::this(),
            unexplained: AtomicBool::new(options.explain),
            refused: AtomicBool::new(false),
            blocking_limit_hits: AtomicU64::new(0),
            stall: Stall::new(&options),
            sleep: Sleep::new(
                Ledger::new(slots, max_threads)
                    .with_blocking(options.max_blocking_threads)
                    .with_cpu_slots(options.layout.cpu_slots()),
                slots,
            ),
            memory: Memory::new(options.memory, options.workers, recorder(&options), || {
                Arc::new(Event::for_this_thread())
            }),
            workers: (0..room).map(|_| OnceBox::new()).collect(),
            worker_count: AtomicUsize::new(0),
            wanted: Hint::new(slots),
            chosen: Hint::default(),
            controller: has_controller.then(|| ControllerHandle::new(&options)),
            sources: Sources::new(&options),
            spawn_bound: options.max_queued.map(SpawnBound::new),
            wait_sampler: WaitSampler::default(),
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
    #[inline]
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
            "pool {}: a child made by fork() continues a call of its parent; end it by exec or exit",
            self.options.name.escape_debug()
        ));
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.options.closed.is_some()
    }

    /// Aborts the process if the pool's threads belong to an ancestor process, or to another
    /// simulation than the calling thread.
    #[inline]
    pub fn check_thread(&self) {
        self.check_process();
        simulated::check_thread(self.name(), self.simulation.as_ref());
    }

    /// Locks the ledger for a look at it.
    // Not inlined, like `change`, for the same reason as `Mutex::lock`.
    #[inline(never)]
    pub(crate) fn ledger(&self) -> Look<'_> {
        self.check_thread();
        self.sleep.lock()
    }

    /// Locks the ledger for a change.
    #[inline(never)]
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
        !self.is_closed() || self.options.shares()
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

    /// Returns the number of tasks in the plan and in the pool's sources.
    pub(crate) fn queued(&self) -> usize {
        self.memory.unstarted() + self.sources.len()
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
                "invalid value {workers} for Pool::set_workers: expected 1 to {most}, the threads that this pool has room for"
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
