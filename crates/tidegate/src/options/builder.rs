//! How a pool is configured: builder, then environment, then defaults.
//!
//! The builder only collects. What it collected is checked and completed in [`super`] when the pool is built, so
//! that methods may be called in any order and an error names everything that it is about.

use super::{Closed, PanicHandler, ThreadHandler};
use std::time::Duration;
use tidegate_machine::Topology;
use tidegate_policy::idle::BackoffFactory;
use tidegate_policy::{
    DesirePolicy, IdlePolicy, MemoryPolicy, PlaceBy, QueueKind, SharePolicy, StealAmount,
    VictimPolicy, WaitPolicy,
};

/// Collects the options of a pool; from [`Pool::builder`](crate::Pool::builder).
///
/// What is not set here is taken from the environment variable that the method names, else it is the default. All is
/// checked in [`build`](Self::build).
///
/// ```
/// use tidegate::Pool;
/// use tidegate::policy::StealAmount;
///
/// let pool = Pool::builder()
///     .workers(2)
///     .steal(StealAmount::Half)
///     .idle("linear:min=10us,max=500us".parse()?)
///     .name("render")
///     .build()?;
/// assert_eq!(pool.install(|| std::thread::current().name().map(|name| name.starts_with("render-"))), Some(true));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Default)]
pub struct Builder {
    pub(crate) workers: Option<usize>,
    pub(crate) idle: Option<IdlePolicy>,
    pub(crate) backoff: Option<BackoffFactory>,
    pub(crate) amount: Option<StealAmount>,
    pub(crate) victim: Option<VictimPolicy>,
    pub(crate) wait: Option<WaitPolicy>,
    pub(crate) queue: Option<QueueKind>,
    pub(crate) memory: Option<MemoryPolicy>,
    pub(crate) places: Option<PlaceBy>,
    pub(crate) bind: Option<bool>,
    pub(crate) topology: Option<Topology>,
    pub(crate) spare_threads: Option<usize>,
    pub(crate) max_threads: Option<usize>,
    pub(crate) max_blocking_threads: Option<usize>,
    pub(crate) share: Option<SharePolicy>,
    pub(crate) weight: Option<usize>,
    pub(crate) desire: Option<DesirePolicy>,
    pub(crate) est_cycle: Option<Duration>,
    pub(crate) name: Option<String>,
    pub(crate) stack_size: Option<usize>,
    pub(crate) trace: bool,
    pub(crate) on_start: Option<ThreadHandler>,
    pub(crate) on_exit: Option<ThreadHandler>,
    pub(crate) on_panic: Option<PanicHandler>,
    pub(crate) closed: Option<Closed>,
}

impl Builder {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// How many workers may run at once (`TIDEGATE_WORKERS`).
    ///
    /// By default as many as this process may keep busy, see [`Machine::default_workers`](crate::machine::Machine::default_workers).
    #[must_use]
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = Some(workers);
        self
    }

    /// How a worker rests that finds no work (`TIDEGATE_IDLE`).
    #[must_use]
    pub fn idle(mut self, idle: IdlePolicy) -> Self {
        self.idle = Some(idle);
        self
    }

    /// How a worker rests that finds no work, decided by code of yours in place of [`idle`](Self::idle) and
    /// `TIDEGATE_IDLE`.
    ///
    /// Each thread of the pool has a backoff of its own, made when the thread starts. The thread asks it for a rest
    /// each time it has looked everywhere and found nothing, and resets it when it has found a task. No task is
    /// delayed by that, nor does a fork get slower. A sleep ends early whenever one of an idle policy would, and lasts
    /// at most [`LONGEST_SLEEP`](crate::policy::idle::LONGEST_SLEEP).
    ///
    /// The backoff runs on a worker that counts as searching. So it must not block, and must not call into the pool: a
    /// task that it spawned might wait until another worker takes it.
    ///
    /// A panic of the backoff, or of the code that makes or drops it, is logged to standard error. The worker then
    /// continues without its backoff: from then on it parks whenever it finds no work.
    ///
    /// [`build`](Self::build) returns an error if `idle` is set as well. The backoff has no text form: the line of
    /// `TIDEGATE_EXPLAIN` and traces call it `custom`. A replay needs none of its code: the rests are in the trace.
    ///
    /// ```
    /// use tidegate::Pool;
    /// use tidegate::policy::idle::{BackoffFactory, CustomBackoff, Rest};
    ///
    /// /// Sleeps for 20 us at first, and twice as long each time, then parks.
    /// struct Doubling { sleep: u64 }
    ///
    /// const FIRST: u64 = 20_000;
    ///
    /// impl CustomBackoff for Doubling {
    ///     fn backoff(&mut self, _draw: u64) -> Rest {
    ///         let sleep = self.sleep;
    ///         self.sleep *= 2;
    ///         match sleep {
    ///             ..=1_000_000 => Rest::Sleep(sleep),
    ///             _ => Rest::Park,
    ///         }
    ///     }
    ///
    ///     fn reset(&mut self) {
    ///         self.sleep = FIRST;
    ///     }
    /// }
    ///
    /// let backoff = BackoffFactory::new(|_worker| Doubling { sleep: FIRST });
    /// let pool = Pool::builder().workers(2).backoff(backoff).build()?;
    /// assert_eq!(pool.join(|| 1, || 2), (1, 2));
    /// # Ok::<(), tidegate::BuildError>(())
    /// ```
    #[must_use]
    pub fn backoff(mut self, backoff: BackoffFactory) -> Self {
        self.backoff = Some(backoff);
        self
    }

    /// How many tasks one steal takes (`TIDEGATE_STEAL`).
    ///
    /// Any but [`StealAmount::One`] needs [`QueueKind::Split`], and no [`memory`](Self::memory) that keeps the
    /// order of the serial run: thieves take one task at a time from other queues, and the pool is
    /// refused.
    #[must_use]
    pub fn steal(mut self, amount: StealAmount) -> Self {
        self.amount = Some(amount);
        self
    }

    /// Whom a thief robs (`TIDEGATE_VICTIM`).
    ///
    /// [`VictimPolicy::Hierarchical`] takes what is near from the machine's caches and nodes, and takes workers to stand where
    /// [`places`](Self::places) says.
    #[must_use]
    pub fn victim(mut self, victim: VictimPolicy) -> Self {
        self.victim = Some(victim);
        self
    }

    /// What a waiting worker may run (`TIDEGATE_WAIT`).
    #[must_use]
    pub fn wait(mut self, wait: WaitPolicy) -> Self {
        self.wait = Some(wait);
        self
    }

    /// In which queue a worker keeps its tasks (`TIDEGATE_QUEUE`).
    ///
    /// Any but [`QueueKind::Split`] is for comparison: each fork goes the long way, and a worker that waits for a half helps nobody and sleeps. With [`QueueKind::Blocks`]
    /// and [`QueueKind::Duplicating`] a task may stay with its owner until that forks again, so tasks that wait for each other may wait for ever; with any of them
    /// they may do so in a pool without spare threads. Thieves take one task at a time, so any
    /// [`steal`](Self::steal) but [`StealAmount::One`] is refused.
    #[must_use]
    pub fn queue(mut self, queue: QueueKind) -> Self {
        self.queue = Some(queue);
        self
    }

    /// Which tasks may have memory, and which wait for it (`TIDEGATE_MEMORY`); see [`memory::reserve`](crate::memory::reserve).
    ///
    /// [`MemoryPolicy::None`] grants everything and costs a fork nothing, nor does [`MemoryPolicy::Hybrid`]. The others keep the order of the serial run: each fork
    /// takes a lock of the pool, and tasks that are [spawned at a place](crate::Scope::spawn_at) come behind all others. A task that waits keeps its
    /// thread: at the limit of [`max_threads`](Self::max_threads) new tasks begin only when all who run have come to a wait.
    #[must_use]
    pub fn memory(mut self, memory: MemoryPolicy) -> Self {
        self.memory = Some(memory);
        self
    }

    /// What the workers of a place share (`TIDEGATE_PLACES`); see [`PlaceId`](crate::PlaceId).
    ///
    /// Worker `i` is taken to stand on the `i`-th CPU that may be used, on every core once before on any core's second hardware thread,
    /// counting round. It stays there only if the pool is made to [`bind`](Self::bind).
    #[must_use]
    pub fn places(mut self, places: PlaceBy) -> Self {
        self.places = Some(places);
        self
    }

    /// Whether each running thread of the pool keeps to one CPU (`TIDEGATE_BIND`).
    ///
    /// Only CPUs are used that the process may use. Which of them a thread has goes along with its place among those that run; a thread that runs
    /// beyond their number keeps to none, nor does a guest. Threads that a task starts inherit the CPU of the worker that runs it.
    #[must_use]
    pub fn bind(mut self, bind: bool) -> Self {
        self.bind = Some(bind);
        self
    }

    /// Takes the machine to be another one: places and distances follow from that.
    ///
    /// For tests and for machines that tell wrong things of themselves.
    #[must_use]
    pub fn topology(mut self, topology: Topology) -> Self {
        self.topology = Some(topology);
        self
    }

    /// How many threads there may be beyond one per worker, for workers that wait and for guests
    /// (`TIDEGATE_SPARE_THREADS`).
    ///
    /// The same limit as [`max_threads`](Self::max_threads), counted from the number of workers; it need not be said
    /// twice.
    #[must_use]
    pub fn spare_threads(mut self, threads: usize) -> Self {
        self.spare_threads = Some(threads);
        self
    }

    /// How many threads the pool may have, guests included (`TIDEGATE_MAX_THREADS`); at least one per worker. The default is
    /// four per worker.
    ///
    /// Threads in [`blocking`](fn@crate::blocking) calls do not count, up to
    /// [`max_blocking_threads`](Self::max_blocking_threads).
    #[must_use]
    pub fn max_threads(mut self, threads: usize) -> Self {
        self.max_threads = Some(threads);
        self
    }

    /// How many threads may stand in [`blocking`](fn@crate::blocking) calls without counting towards
    /// [`max_threads`](Self::max_threads) (`TIDEGATE_MAX_BLOCKING_THREADS`). The default is 512.
    ///
    /// While fewer threads block, the pool starts another thread whenever a task waits and a worker's slot is free.
    /// At the limit, or if the operating system refuses a thread, tasks may have to wait until a blocking call returns. The pool
    /// then prints one line to standard error, and counts it in [`Stats::blocking_limit_hits`](crate::Stats::blocking_limit_hits).
    ///
    /// A thread that was started for this ends after it has been idle for a second.
    #[must_use]
    pub fn max_blocking_threads(mut self, threads: usize) -> Self {
        self.max_blocking_threads = Some(threads);
        self
    }

    /// Whether the pool divides the machine's processors with other jobs of the same user (`TIDEGATE_SHARE`).
    ///
    /// With [`SharePolicy::Auto`], the default, a pool that finds no other job at work has all its workers; beside others it has its fair share,
    /// at most what it can put to good use, within milliseconds. Jobs find each other through a file ([`tidegate_share`] says which, and
    /// what becomes of jobs that cannot use it: they run as with [`SharePolicy::Off`]).
    #[must_use]
    pub fn share(mut self, share: SharePolicy) -> Self {
        self.share = Some(share);
        self
    }

    /// How much the pool counts beside other jobs (`TIDEGATE_WEIGHT`): one of twice the weight gets twice the processors.
    #[must_use]
    pub fn weight(mut self, weight: usize) -> Self {
        self.weight = Some(weight);
        self
    }

    /// How the pool estimates how many processors it could use (`TIDEGATE_DESIRE`).
    #[must_use]
    pub fn desire(mut self, desire: DesirePolicy) -> Self {
        self.desire = Some(desire);
        self
    }

    /// The time between two estimates of how many processors the pool could use (`TIDEGATE_EST_CYCLE`); the default is 5 ms.
    ///
    /// A shorter cycle follows the program's parallelism sooner and costs more: each estimate takes some 20 us of a processor. While
    /// estimates change nothing, the pool lengthens its cycles, up to four times. Jobs that share a machine should have the same cycle, or
    /// some of them notice changes later than others (Siddhartha Sen, "Dynamic processor allocation for adaptively parallel work-stealing
    /// jobs", 2004, section 6.1).
    ///
    /// [`build`](Self::build) returns an error unless the time is from 100 us to 100 ms. A pool that does not share the machine
    /// ([`SharePolicy::Off`]) estimates nothing.
    ///
    /// ```
    /// use std::time::Duration;
    /// use tidegate::Pool;
    ///
    /// let pool = Pool::builder().workers(2).est_cycle(Duration::from_millis(10)).build()?;
    /// assert_eq!(pool.join(|| 1, || 2), (1, 2));
    ///
    /// let refused = Pool::builder().est_cycle(Duration::from_secs(2)).build().err();
    /// let error = "Builder::est_cycle: 2s is out of range; allowed: 100us to 100ms";
    /// assert_eq!(refused.map(|refused| refused.to_string()), Some(error.to_owned()));
    /// # Ok::<(), tidegate::BuildError>(())
    /// ```
    #[must_use]
    pub fn est_cycle(mut self, time: Duration) -> Self {
        self.est_cycle = Some(time);
        self
    }

    /// What the pool is called, and its threads, followed by their number. In the table of jobs a pool without a name, or with an empty
    /// one, is called like its program. A name with control characters is refused.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into()).filter(|name| !name.is_empty());
        self
    }

    /// Address space of each thread's stack, in bytes (`TIDEGATE_STACK_SIZE`).
    #[must_use]
    pub fn stack_size(mut self, bytes: usize) -> Self {
        self.stack_size = Some(bytes);
        self
    }

    /// Takes notes of what the pool asks its rules and what they decide, for [`Pool::trace`](crate::Pool::trace). Each worker notes up to
    /// `trace.bytes` (`tidegate tunables`), and what no longer fits is left out.
    #[must_use]
    pub fn trace(mut self, on: bool) -> Self {
        self.trace = on;
        self
    }

    /// Called by each thread of the pool when it starts, with its number. A panic of `f` is logged to standard error. If a task needs a
    /// new thread, the pool may start one for every free slot, because the handler delays the first.
    #[must_use]
    pub fn on_start(mut self, f: impl Fn(usize) + Send + Sync + 'static) -> Self {
        self.on_start = Some(Box::new(f));
        self
    }

    /// Called by each thread of the pool when it ends, with its number. A panic of `f` is logged to standard error.
    #[must_use]
    pub fn on_exit(mut self, f: impl Fn(usize) + Send + Sync + 'static) -> Self {
        self.on_exit = Some(Box::new(f));
        self
    }

    /// Called with the payload of each panic that no join, scope or handle can carry, and its number in this pool.
    ///
    /// Without it such panics are logged to standard error and counted. A panic of
    /// the handler is logged to standard error.
    #[must_use]
    pub fn on_panic(
        mut self,
        f: impl Fn(Box<dyn std::any::Any + Send>, u64) + Send + Sync + 'static,
    ) -> Self {
        self.on_panic = Some(Box::new(f));
        self
    }
}
