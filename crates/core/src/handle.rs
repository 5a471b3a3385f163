//! The handle of a pool.

mod shutdown;

pub use shutdown::ShutdownTimeout;

use crate::broadcast;
use crate::builder::Builder;
use crate::explain;
use crate::options::{BuildError, Options, nanos};
use crate::place;
use crate::place::PlaceId;
use crate::pool::enter;
use crate::pool::{PoolInner, UnstartedThread, observe};
use crate::scope;
use crate::scope::Scope;
use crate::share_controller;
use crate::simulated;
use crate::start::start;
use crate::stats::Stats;
use crate::trace::Trace;
use crate::worker::WorkerThread;
use crate::worker::carry::{self, Carried};
use crate::worker::memory;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tidegate_machine::CpuList;
use tidegate_sync::simulation::Simulation;
use tidegate_sync::thread::PerProcess;

/// A pool of workers; created by [`Pool::builder`].
///
/// Dropping a pool runs the tasks that were spawned into it and joins its threads. If a task drops
/// its own pool, or a thread-local value of one of the pool's threads does, the drop returns
/// immediately and the threads end later. Any other drop waits for them; in a task of another pool,
/// it waits as in [`blocking`](fn@crate::blocking). So a thread must not drop a pool while a task
/// of that pool waits for the thread: if a task of pool A calls `b.install(|| drop(a))`, the
/// closure runs on a thread of pool B and waits for the threads of A, one of which waits for the
/// closure.
///
/// A child made by `fork` starts new threads for the pool when it first uses the pool.
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
    inner: PerProcess<Arc<PoolInner>>,
    /// Dropped after the pool has ended.
    #[cfg_attr(
        not(feature = "testing"),
        expect(dead_code, reason = "it is only dropped")
    )]
    simulation: Option<Simulation>,
}

impl Pool {
    /// Returns a builder, which sets the options of a new pool.
    ///
    /// ```
    /// let pool = tidegate::Pool::builder().workers(2).name("render").build()?;
    /// assert_eq!(pool.workers(), 2);
    /// # Ok::<(), tidegate::BuildError>(())
    /// ```
    #[must_use]
    pub fn builder() -> Builder {
        Builder::default()
    }

    pub(crate) fn with_options(options: Options) -> Result<Self, BuildError> {
        let simulation = simulated::begin(&options, WorkerThread::get().is_some())?;
        let options = Arc::new(options);
        Ok(Self::with(start(options.clone()), options, simulation))
    }

    /// Like `start`, but the given closure starts the threads; see [`PoolInner::start_by`].
    pub(crate) fn start_by(
        options: Options,
        with_caller: bool,
        start: impl FnMut(UnstartedThread) -> io::Result<()>,
    ) -> io::Result<Self> {
        let options = Arc::new(options);
        let pool = PoolInner::start_by(options.clone(), with_caller, start)?;
        share_controller::start(&pool);
        Ok(Self::with(pool, options, None))
    }

    fn with(
        started: Arc<PoolInner>,
        options: Arc<Options>,
        simulation: Option<Simulation>,
    ) -> Self {
        let inner = PerProcess::new();
        inner.get_or_init(|| started);
        Self {
            options,
            inner,
            simulation,
        }
    }

    /// Returns the current process's pool. In a child made by `fork`, the first call starts a new
    /// pool.
    pub(crate) fn inner(&self) -> &Arc<PoolInner> {
        self.inner.get_or_init(|| start(self.options.clone()))
    }

    /// Runs `f` on a thread of the pool and waits for `f` to return. Inside `f`, the free functions
    /// use this pool.
    ///
    /// If the caller is a task of this pool, this is a plain call. If the caller is a task of
    /// another pool, its worker gives its slot to another thread of that other pool while it waits.
    /// If no thread of the pool could be started, `f` runs on the caller's own stack.
    ///
    /// ```
    /// let pool = tidegate::Pool::builder().workers(2).build()?;
    /// let workers = pool.install(tidegate::current_num_workers);
    /// assert_eq!(workers, 2);
    /// # Ok::<(), tidegate::BuildError>(())
    /// ```
    ///
    /// # Panics
    /// Resumes a panic of `f`.
    pub fn install<R: Send>(&self, f: impl FnOnce() -> R + Send) -> R {
        let suspended = carry::carry_into(used(self));
        enter::install(used(self), suspended.carried.priority(), || {
            suspended.carried.run(f)
        })
    }

    /// Runs `f` on a worker of `place`, or on another worker that has nothing else to do, and waits
    /// for `f` to return; see [`PlaceId`].
    ///
    /// If the caller is a task of this pool on a worker of that place, this is a plain call. A
    /// caller on any other worker gives its slot to another thread while it waits.
    ///
    /// ```
    /// let pool = tidegate::Pool::builder().workers(2).places("each:1".parse()?).build()?;
    /// let there = pool.places()[1].strict();
    /// let place = pool.install_at(there, || tidegate::current_place());
    /// assert_eq!(place, Some(pool.places()[1]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// Resumes a panic of `f`. Also panics if the place belongs to another pool.
    pub fn install_at<R: Send>(&self, place: PlaceId, f: impl FnOnce() -> R + Send) -> R {
        let suspended = carry::carry_into(used(self));
        place::install_at(used(self), place, || suspended.carried.run(f))
    }

    /// Returns the smallest places of the pool. Together they contain all workers.
    /// [`Builder::places`] decides what the workers of a place share.
    ///
    /// ```
    /// let pool = tidegate::Pool::builder().workers(4).places("each:2".parse()?).build()?;
    /// assert_eq!(pool.places().len(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn places(&self) -> Vec<PlaceId> {
        place::places(self.inner())
    }

    /// Returns the next larger place that contains `place`. `None` for the place of all workers.
    ///
    /// ```
    /// let pool = tidegate::Pool::builder().workers(4).places("each:2".parse()?).build()?;
    /// let all = pool.parent_of(pool.places()[0]).unwrap();
    /// assert_eq!((pool.workers_at(all), pool.parent_of(all)), (4, None));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// If the place belongs to another pool.
    #[must_use]
    pub fn parent_of(&self, place: PlaceId) -> Option<PlaceId> {
        place::parent_of(self.inner(), place)
    }

    /// Returns the number of workers of a place.
    ///
    /// ```
    /// let pool = tidegate::Pool::builder().workers(3).places("each:2".parse()?).build()?;
    /// let sizes: Vec<usize> = pool.places().iter().map(|place| pool.workers_at(*place)).collect();
    /// assert_eq!(sizes, [2, 1]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// If the place belongs to another pool.
    #[must_use]
    pub fn workers_at(&self, place: PlaceId) -> usize {
        place::extent_of(self.inner(), place).0
    }

    /// Returns the CPUs on which the workers of a place run, or are assumed to run if the pool
    /// doesn't [bind](Builder::bind) its threads.
    ///
    /// ```
    /// use tidegate::Pool;
    /// use tidegate::policy::Choose;
    ///
    /// // A made-up machine, for the example: two last-level caches with two CPUs each.
    /// let topology = "cpus 0-3\nL3 0-1 2-3 size=16M".parse()?;
    /// let pool = Pool::builder().workers(4).topology(topology).build()?;
    /// assert_eq!(pool.cpus_at(pool.places()[1]).to_string(), "2-3");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// If the place belongs to another pool.
    #[must_use]
    pub fn cpus_at(&self, place: PlaceId) -> CpuList {
        place::extent_of(self.inner(), place).1
    }

    /// Like [`join`](crate::join), in this pool.
    ///
    /// ```
    /// let pool = tidegate::Pool::builder().workers(2).build()?;
    /// assert_eq!(pool.join(|| 1, || 2), (1, 2));
    /// # Ok::<(), tidegate::BuildError>(())
    /// ```
    ///
    /// # Panics
    /// Like [`join`](crate::join).
    pub fn join<RA: Send, RB: Send>(
        &self,
        a: impl FnOnce() -> RA + Send,
        b: impl FnOnce() -> RB + Send,
    ) -> (RA, RB) {
        inside(self, |current, carried| {
            current.join(|| carried.run(a), || carried.run(b))
        })
    }

    /// Like [`scope`](fn@crate::scope), in this pool.
    ///
    /// ```
    /// let pool = tidegate::Pool::builder().workers(2).build()?;
    /// let mut halves = [0, 0];
    /// let (left, right) = halves.split_at_mut(1);
    /// pool.scope(|scope| {
    ///     scope.spawn(|_| left[0] = 1);
    ///     scope.spawn(|_| right[0] = 2);
    /// });
    /// assert_eq!(halves, [1, 2]);
    /// # Ok::<(), tidegate::BuildError>(())
    /// ```
    ///
    /// # Panics
    /// Like [`scope`](fn@crate::scope).
    pub fn scope<'scope, R: Send>(&self, f: impl FnOnce(&Scope<'scope>) -> R + Send) -> R {
        inside(self, |current, carried| {
            scope::scope(current, |scope| carried.run(|| f(scope)))
        })
    }

    /// Like [`broadcast`](fn@crate::broadcast), in this pool.
    ///
    /// ```
    /// let pool = tidegate::Pool::builder().workers(2).build()?;
    /// assert_eq!(pool.broadcast(|number| number * 10), [0, 10]);
    /// # Ok::<(), tidegate::BuildError>(())
    /// ```
    ///
    /// # Panics
    /// Like [`broadcast`](fn@crate::broadcast).
    pub fn broadcast<R: Send>(&self, f: impl Fn(usize) -> R + Sync) -> Vec<R> {
        let suspended = carry::carry_into(used(self));
        broadcast::broadcast(used(self), |number, _| suspended.carried.run(|| f(number)))
    }

    /// Returns how many workers the pool may run at once: [`Builder::workers`], or the last number
    /// set with [`set_workers`](Self::set_workers).
    ///
    /// This costs one load. While the pool shares the machine with other programs, it may run fewer
    /// workers; see [`Stats::allotment`]. If the builder did not set the number of workers, the
    /// number follows changes in the process's CPU quota.
    ///
    /// ```
    /// let pool = tidegate::Pool::builder().workers(3).build()?;
    /// assert_eq!(pool.workers(), 3);
    /// # Ok::<(), tidegate::BuildError>(())
    /// ```
    #[must_use]
    pub fn workers(&self) -> usize {
        self.inner().wanted()
    }

    /// Returns what the pool has done so far.
    ///
    /// This stops no worker, but the call takes some hundred microseconds per worker, because it
    /// reads every slot of each deque to find the deque's peak length. So call it at the end of a
    /// phase, not in a loop. The time of a sleep that is still in progress is included up to now;
    /// the sleep itself is counted when it ends.
    ///
    /// ```
    /// let pool = tidegate::Pool::builder().workers(2).build()?;
    /// pool.join(|| 1, || 2);
    /// let stats = pool.stats();
    /// assert_eq!((stats.workers, stats.panics), (2, 0));
    /// println!("{stats}");
    /// # Ok::<(), tidegate::BuildError>(())
    /// ```
    #[must_use]
    #[inline]
    pub fn stats(&self) -> Stats {
        observe::stats(self.inner())
    }

    /// Returns the scheduling decisions of the pool so far, with the inputs that led to them.
    /// `None` unless [`Builder::trace`] was set.
    ///
    /// ```
    /// let pool = tidegate::Pool::builder().trace(true).build()?;
    /// pool.join(|| (), || ());
    /// let trace = pool.trace().expect("the pool records a trace");
    /// assert!(trace.streams.iter().all(|stream| stream.left_out == 0));
    /// # Ok::<(), tidegate::BuildError>(())
    /// ```
    #[must_use]
    #[inline]
    pub fn trace(&self) -> Option<Trace> {
        observe::trace(self.inner())
    }

    /// Changes the number of workers while the pool runs.
    ///
    /// If the number grows, new threads start as soon as there is work for them. If it falls,
    /// workers stop at their next fork, steal or [`yield_point`](crate::yield_point). Other workers
    /// can steal the tasks that the stopped workers leave behind.
    ///
    /// ```
    /// let pool = tidegate::Pool::builder().workers(2).build()?;
    /// pool.set_workers(4)?;
    /// assert_eq!(pool.workers(), 4);
    /// assert!(pool.set_workers(0).is_err());
    /// # Ok::<(), tidegate::BuildError>(())
    /// ```
    ///
    /// # Errors
    /// If `workers` is 0, above 4096, or more than the pool has room for, which is 1024 or
    /// [`Builder::max_threads`], whichever is larger. In that case, the number of workers does not
    /// change.
    pub fn set_workers(&self, workers: usize) -> Result<(), BuildError> {
        self.inner().set_workers(workers)
    }

    /// Changes the memory budget of the pool, in bytes, while it runs; see [`Builder::memory`].
    ///
    /// If tasks have already declared more than the new budget, they keep that memory until they
    /// release it. The leftmost path is the chain of running tasks that comes first in the order of
    /// the serial run. Until the reserve of this path and the memory declared by all other tasks
    /// fit into the new budget, requests on the path are granted up to the old budget, because
    /// nothing else could free memory.
    ///
    /// ```
    /// use tidegate::{Pool, memory};
    ///
    /// let policy = "budget:bytes=1MiB,serial=64KiB".parse()?;
    /// let pool = Pool::builder().workers(2).memory(policy).build()?;
    /// assert!(pool.install(|| memory::reserve(2 << 20)).is_err());
    /// pool.set_budget(4 << 20)?;
    /// assert!(pool.install(|| memory::reserve(2 << 20)).is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the pool has no budget, or the new budget is less than its `serial` value. In that case,
    /// the budget does not change.
    pub fn set_budget(&self, bytes: usize) -> Result<(), BuildError> {
        memory::set_budget(self.inner(), bytes).map_err(BuildError::new)
    }

    /// Runs the tasks that were spawned into the pool and joins its threads, as dropping the pool
    /// does, but waits at most `limit`.
    ///
    /// # Errors
    /// [`ShutdownTimeout`] if the pool has not ended by then. Its threads finish the remaining
    /// tasks and then end by themselves. If a task of the pool calls this function, or the
    /// destructor of a thread-local value of one of its threads, it gets the error immediately,
    /// because the pool cannot end before its caller does. The limit does not cover such
    /// destructors.
    pub fn shutdown_timeout(mut self, limit: Duration) -> Result<(), ShutdownTimeout> {
        let ended = |pool: Arc<PoolInner>| pool.end_within(nanos(limit));
        if self.inner.take().is_none_or(ended) {
            return Ok(());
        }
        let name = self.options.name.clone();
        Err(ShutdownTimeout { name, limit })
    }
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
        if let Some(pool) = self.inner.take() {
            pool.end();
        }
    }
}

/// Runs `f` in the pool, and passes it the context of the caller, which is suspended meanwhile.
pub fn inside<R: Send>(pool: &Pool, f: impl FnOnce(WorkerThread<'_>, &Carried) -> R + Send) -> R {
    let suspended = carry::carry_into(used(pool));
    let carried = &suspended.carried;
    enter::take_part(used(pool), carried.priority(), move |current| {
        f(current, carried)
    })
}

/// Returns the current process's pool, for a caller that runs something in it. The first such call
/// prints the explanation line if it was requested.
pub fn used(pool: &Pool) -> &Arc<PoolInner> {
    let pool = pool.inner();
    simulated::check_caller(pool.name(), pool.simulation.as_ref());
    explain::announce(pool);
    pool
}

/// Returns the simulation of a simulated pool.
#[cfg(all(feature = "testing", not(loom)))]
pub fn simulation(pool: &Pool) -> Option<&Simulation> {
    pool.simulation.as_ref()
}
