//! The handle of a pool.

use crate::broadcast;
use crate::explain;
use crate::interval::{self, Failure};
use crate::memory;
use crate::options::{BuildError, Builder, Options, nanos};
use crate::parallel_for::{self, ParallelItems};
use crate::place;
use crate::place::PlaceId;
use crate::pool::enter;
use crate::pool::{PoolInner, UnstartedThread, observe};
use crate::scope;
use crate::scope::Scope;
use crate::share_controller;
use crate::spawn::{self, Handle, QueueFull};
use crate::stats::Stats;
use crate::trace::Trace;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tidegate_machine::CpuList;
use tidegate_sync::thread::PerProcess;

/// A pool of workers; see [`Pool::builder`].
///
/// Dropping a pool finishes the tasks that were spawned into it and joins its threads. A task of the pool that drops it does
/// not wait: the threads end by themselves. Elsewhere the drop waits, so drop a pool where none of its tasks waits for the
/// thread that does it. The deadlock to avoid: a task of pool A calls `b.install(|| drop(a))`, and the closure, which runs on a thread of pool B,
/// waits for the threads of A, one of which waits for the closure.
///
/// In a child made by `fork` the pool has threads of its own from its first use there on.
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
    shared: PerProcess<Arc<PoolInner>>,
}

/// A pool with its threads, among them its share controller if it takes part in dividing the machine.
pub(crate) fn start(options: Arc<Options>) -> Arc<PoolInner> {
    let pool = PoolInner::start(options);
    share_controller::start(&pool);
    pool
}

impl Builder {
    /// Makes the pool and starts its threads.
    ///
    /// # Errors
    /// An option, or the environment variable that stands in for one, has a value that is not allowed, or two of them
    /// contradict each other; the error names them and what is allowed.
    ///
    /// ```
    /// let error = tidegate::Pool::builder().workers(4).max_threads(2).build().unwrap_err();
    /// assert!(error.to_string().starts_with("Builder::max_threads: 2 is less than the number of workers, 4"));
    /// ```
    pub fn build(self) -> Result<Pool, BuildError> {
        Ok(Pool::start(Options::of(self)?))
    }
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("workers", &self.workers)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl Pool {
    /// How to make a pool with other than the default options.
    #[must_use]
    pub fn builder() -> Builder {
        Builder::new()
    }

    pub(crate) fn start(options: Options) -> Self {
        let options = Arc::new(options);
        Self::with(start(options.clone()), options)
    }

    /// The same, its threads started by `start`; see [`PoolInner::start_by`].
    pub(crate) fn start_by(
        options: Options,
        with_caller: bool,
        start: impl FnMut(UnstartedThread) -> io::Result<()>,
    ) -> io::Result<Self> {
        let options = Arc::new(options);
        let shared = PoolInner::start_by(options.clone(), with_caller, start)?;
        share_controller::start(&shared);
        Ok(Self::with(shared, options))
    }

    fn with(started: Arc<PoolInner>, options: Arc<Options>) -> Self {
        let shared = PerProcess::new();
        shared.get_or_init(|| started);
        Self { options, shared }
    }

    /// The pool's threads in this process; in a child made by `fork` they are made at first use.
    pub(crate) fn shared(&self) -> &Arc<PoolInner> {
        self.shared.get_or_init(|| start(self.options.clone()))
    }

    /// The same, to run something in it.
    pub(crate) fn used(&self) -> &Arc<PoolInner> {
        let shared = self.shared();
        explain::announce(shared);
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
        enter::install(self.used(), f)
    }

    /// Runs `f` on a worker of `place`, or on one that has nothing else to do, and waits for it; see [`PlaceId`].
    ///
    /// Called from a task of this very pool on a worker that stands there it is a plain call. Any other worker leaves its place among those that
    /// run to another thread while it waits.
    ///
    /// # Panics
    /// With the panic of `f`; or if the place is one of another pool.
    pub fn install_at<R: Send>(&self, place: PlaceId, f: impl FnOnce() -> R + Send) -> R {
        place::install_at(self.used(), place, f)
    }

    /// The pool's places, the smallest that there are ([`Builder::places`]); together they hold all workers.
    #[must_use]
    pub fn places(&self) -> Vec<PlaceId> {
        place::places(self.shared())
    }

    /// The place that `place` is a part of; none for the place of all workers.
    ///
    /// # Panics
    /// The place is one of another pool.
    #[must_use]
    pub fn parent_of(&self, place: PlaceId) -> Option<PlaceId> {
        place::parent_of(self.shared(), place)
    }

    /// How many workers a place has.
    ///
    /// # Panics
    /// The place is one of another pool.
    #[must_use]
    pub fn workers_at(&self, place: PlaceId) -> usize {
        place::extent_of(self.shared(), place).0
    }

    /// On which CPUs the workers of a place stand.
    ///
    /// # Panics
    /// The place is one of another pool.
    #[must_use]
    pub fn cpus_at(&self, place: PlaceId) -> CpuList {
        place::extent_of(self.shared(), place).1
    }

    /// [`join`](crate::join) on this pool.
    pub fn join<RA: Send, RB: Send>(
        &self,
        a: impl FnOnce() -> RA + Send,
        b: impl FnOnce() -> RB + Send,
    ) -> (RA, RB) {
        enter::take_part(self.used(), |current| current.join(a, b))
    }

    /// [`scope`](fn@crate::scope) on this pool.
    pub fn scope<'scope, R: Send>(&self, f: impl FnOnce(&Scope<'scope>) -> R + Send) -> R {
        enter::take_part(self.used(), |current| scope::scope(current, f))
    }

    /// [`for_each`](crate::for_each) on this pool.
    ///
    /// ```
    /// let pool = tidegate::Pool::builder().workers(2).build()?;
    /// let mut squares: Vec<u64> = (0..100).collect();
    /// pool.for_each(&mut squares[..], |n| *n *= *n);
    /// assert_eq!(squares[9], 81);
    /// # Ok::<(), tidegate::BuildError>(())
    /// ```
    ///
    /// # Panics
    /// As [`for_each`](crate::for_each).
    pub fn for_each<I: ParallelItems>(&self, items: I, f: impl Fn(I::Item) + Sync) {
        let f = &f;
        enter::take_part(self.used(), move |current| {
            parallel_for::for_each_on(current, items, f);
        });
    }

    /// [`map_reduce`](crate::map_reduce) on this pool.
    ///
    /// ```
    /// let pool = tidegate::Pool::builder().workers(2).build()?;
    /// let longest = pool.map_reduce(vec!["ebb", "flow"], |word| word.len(), usize::max);
    /// assert_eq!(longest, Some(4));
    /// # Ok::<(), tidegate::BuildError>(())
    /// ```
    ///
    /// # Panics
    /// As [`map_reduce`](crate::map_reduce).
    pub fn map_reduce<I: ParallelItems, T: Send>(
        &self,
        items: I,
        map: impl Fn(I::Item) -> T + Sync,
        reduce: impl Fn(T, T) -> T + Sync,
    ) -> Option<T> {
        let (map, reduce) = (&map, &reduce);
        enter::take_part(self.used(), move |current| {
            parallel_for::map_reduce_on(current, items, map, reduce)
        })
    }

    /// [`interval::run`] on this pool; what is said there of calls inside of another interval holds here, too.
    ///
    /// # Errors
    /// As there.
    pub fn interval<'env, R, F>(&self, f: F) -> Result<R, Failure>
    where
        F: for<'scope> FnOnce(&interval::Scope<'scope, 'env>) -> R + Send,
        R: Send,
    {
        enter::take_part(self.used(), |current| interval::inline(current, None, f))
    }

    /// [`spawn`](fn@crate::spawn) on this pool.
    pub fn spawn<T: Send + 'static>(&self, f: impl FnOnce() -> T + Send + 'static) -> Handle<T> {
        spawn::spawn(self.used(), f)
    }

    /// Like [`spawn`](Self::spawn), unless the queue has reached the bound that
    /// [`Builder::max_queued`] sets. Without a bound, every task is accepted.
    ///
    /// # Errors
    /// [`QueueFull`], which contains `f`. A task of the pool itself never gets this error.
    pub fn try_spawn<T, F>(&self, f: F) -> Result<Handle<T>, QueueFull<F>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        spawn::try_spawn(self.used(), f)
    }

    /// [`broadcast`](fn@crate::broadcast) on this pool.
    pub fn broadcast<R: Send>(&self, f: impl Fn(usize) -> R + Sync) -> Vec<R> {
        broadcast::broadcast(self.used(), |number, _| f(number))
    }

    /// How many workers the pool may run at once: [`Builder::workers`], or what
    /// [`set_workers`](Self::set_workers) has changed it to.
    ///
    /// Costs one load. While the pool shares the machine with other programs it may run fewer, see
    /// [`Stats::allotment`]; a pool whose workers the builder did not fix follows changes of the
    /// process's CPU quota.
    ///
    /// ```
    /// let pool = tidegate::Pool::builder().workers(3).build()?;
    /// assert_eq!(pool.workers(), 3);
    /// # Ok::<(), tidegate::BuildError>(())
    /// ```
    #[must_use]
    pub fn workers(&self) -> usize {
        self.shared().wanted()
    }

    /// What the pool has done so far.
    ///
    /// Nobody is stopped for it. But it looks at every slot of each worker's deque to find the deepest that was ever filled, some hundred
    /// microseconds for each worker: it is for the end of a phase and not for a loop. A sleep that goes on is counted in the times by now,
    /// and in the number of sleeps when it is over.
    #[must_use]
    pub fn stats(&self) -> Stats {
        observe::stats(self.shared())
    }

    /// What the pool has asked its rules so far, and what they have decided, if [`Builder::trace`] says so.
    ///
    /// ```
    /// let pool = tidegate::Pool::builder().trace(true).build()?;
    /// pool.join(|| (), || ());
    /// let trace = pool.trace().expect("notes are taken");
    /// let replayed = tidegate::trace::replay(&trace).expect("the same rules decide the same");
    /// assert_eq!(replayed.left_out, 0);
    /// # Ok::<(), tidegate::BuildError>(())
    /// ```
    #[must_use]
    pub fn trace(&self) -> Option<Trace> {
        observe::trace(self.shared())
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

    /// Changes the budget for declared memory while the pool runs, see [`Builder::memory`].
    ///
    /// What is declared above a smaller one stays so until it is given back. Until what others than the leftmost path hold fits beside the reserve, that path is granted
    /// what it asks for up to the old budget: nothing else could make room.
    ///
    /// # Errors
    /// The pool has no budget, or the serial run needs more; nothing changes then.
    pub fn set_budget(&self, bytes: usize) -> Result<(), BuildError> {
        memory::set_budget(self.shared(), bytes).map_err(BuildError::new)
    }

    /// Finishes the tasks that were spawned into the pool and joins its threads, as dropping it does.
    pub fn shutdown(self) {}

    /// Like [`shutdown`](Self::shutdown), but waits at most `limit`.
    ///
    /// ```
    /// use std::sync::mpsc::channel;
    /// use std::time::Duration;
    ///
    /// let pool = tidegate::Pool::builder().workers(1).name("mail").build()?;
    /// let (go_on, may_go_on) = channel::<()>();
    /// let (ended, has_ended) = channel();
    /// pool.spawn(move || {
    ///     may_go_on.recv().unwrap();
    ///     ended.send(()).unwrap();
    /// });
    /// let error = pool.shutdown_timeout(Duration::from_millis(10)).unwrap_err();
    /// assert!(error.to_string().starts_with("pool mail has not ended within 10ms"));
    /// go_on.send(())?;
    /// has_ended.recv()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ShutdownTimeout`] if the pool has not ended by then. Its threads finish the tasks that are
    /// left, and end unaided. A task of the pool gets this error at once, because the pool cannot
    /// end before the task does.
    pub fn shutdown_timeout(mut self, limit: Duration) -> Result<(), ShutdownTimeout> {
        let ended = |shared: Arc<PoolInner>| shared.end_within(nanos(limit));
        if self.shared.take().is_none_or(ended) {
            return Ok(());
        }
        let name = self.options.name.clone();
        Err(ShutdownTimeout { name, limit })
    }
}

/// The error of [`Pool::shutdown_timeout`]: the pool has not ended within the limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShutdownTimeout {
    name: String,
    limit: Duration,
}

impl fmt::Display for ShutdownTimeout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, limit } = self;
        write!(
            f,
            "pool {name} has not ended within {limit:?}: its threads finish the tasks that are left"
        )
    }
}

impl std::error::Error for ShutdownTimeout {}

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
