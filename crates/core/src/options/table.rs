//! The table of a pool's options. One row is all that is declared of an option; what the pool does
//! with it is decided in [`Options`](super::Options).

/// Passes all options to the macro `$make`. There are three tiers of options: two `impl` blocks of
/// the builder, and a trait.
///
/// A row of the table names the setter with its argument, then the type and the value that it
/// stores. If the builder does not call the setter, the tunable after `or` has the option's
/// environment variable and its default; it also has the range to which the option is checked.
macro_rules! options {
($make:ident) => { $make! {

/// # What most programs set
///
/// The number of threads, their names, stacks and handlers, and how the pool shares the machine.
impl {
    /// Sets the number of workers, i.e. how many tasks may run at once: 1 to 4096
    /// (`TIDEGATE_WORKERS`).
    ///
    /// The default is the number of CPUs that this process may keep busy, by its affinity, its
    /// cgroups' quotas and the batch system that started it (HyperQueue, Slurm); see
    /// [`Machine::default_workers`](crate::machine::Machine::default_workers).
    ///
    /// ```
    /// let pool = tidegate::Pool::builder().workers(3).build()?;
    /// assert_eq!(pool.workers(), 3);
    /// # Ok::<(), tidegate::BuildError>(())
    /// ```
    workers(workers: usize) sets Option<usize> = Some(workers), or WORKERS;

    /// Sets the name of the pool. Each thread of the pool is named after the pool and its own
    /// number, like `render-0`. The default is `tidegate`; in the table of jobs, an unnamed pool is
    /// listed under its program's name. An empty name counts as none. [`build`](Self::build)
    /// returns an error if the name contains control characters.
    ///
    /// ```
    /// let pool = tidegate::Pool::builder().workers(1).name("render").build()?;
    /// let name = pool.install(|| std::thread::current().name().map(str::to_owned));
    /// assert_eq!(name.as_deref(), Some("render-0"));
    /// # Ok::<(), tidegate::BuildError>(())
    /// ```
    name(name: impl Into<String>) sets String = name.into();

    /// Sets the size of each thread's stack, in bytes: 64 KiB to 64 GiB (1 GiB on 32-bit machines),
    /// by default 16 MiB (`TIDEGATE_STACK_SIZE`). Only the pages that are touched use memory.
    ///
    /// ```
    /// let pool = tidegate::Pool::builder().workers(2).stack_size(64 << 20).build()?;
    /// assert_eq!(pool.join(|| 1, || 2), (1, 2));
    /// # Ok::<(), tidegate::BuildError>(())
    /// ```
    stack_size(bytes: usize) sets usize = bytes, or STACK_SIZE;

    /// Sets how many threads the pool may have, guests included (`TIDEGATE_MAX_THREADS`). The range
    /// is from the number of workers to 32768. The default is four per worker: the threads beyond
    /// one per worker are spare threads, which run tasks while workers wait.
    /// [`workers`](Self::workers) sets how many run tasks at once.
    ///
    /// Threads in [`blocking`](fn@crate::blocking) calls don't count, up to
    /// [`max_blocking_threads`](Self::max_blocking_threads).
    ///
    /// ```
    /// let builder = tidegate::Pool::builder().workers(2);
    /// assert!(builder.max_threads(1).build().is_err());
    /// ```
    max_threads(threads: usize) sets Option<usize> = Some(threads), or MAX_THREADS;

    /// Sets whether the pool shares the machine's CPUs with other jobs of the same user
    /// (`TIDEGATE_SHARE`).
    ///
    /// With [`SharePolicy::Auto`], the default, a pool uses all its workers while no other job is
    /// active. Otherwise it gets its fair share within milliseconds, but no more than it can put to
    /// good use. Jobs find each other through a file; see [`tidegate_share`] for its path. A job
    /// that cannot use the file runs as if it had [`SharePolicy::Off`].
    ///
    /// ```
    /// let pool = tidegate::Pool::builder().workers(2).share("off".parse()?).build()?;
    /// assert_eq!(pool.stats().allotment, 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    share(share: SharePolicy) sets SharePolicy = share, or SHARE;

    /// Sets whether the pool prints a line to standard error when it is first used: its number of
    /// workers, the reason for that number, and the options that differ from their defaults
    /// (`TIDEGATE_EXPLAIN`, 0 or 1). The default is false. It also prints a line for each
    /// environment variable whose name begins with `TIDEGATE_` and is unknown. A pool that shares
    /// the machine also prints where it finds the other jobs.
    explain(on: bool) sets usize = on.into(), or EXPLAIN;

    /// Sets a function that each thread of the pool calls with its number when it starts. By
    /// default, there is no such function. If `f` panics, the panic is logged to standard error.
    /// While `f` delays a thread that a task needs, the pool may start further threads, but no more
    /// than could run at once.
    ///
    /// ```
    /// let log = |number| println!("thread {number} starts");
    /// tidegate::Pool::builder().workers(2).on_start(log).build()?.shutdown();
    /// # Ok::<(), tidegate::BuildError>(())
    /// ```
    on_start(f: impl Fn(usize) + Send + Sync + 'static) sets ThreadHandler = Box::new(f);

    /// Sets a function that each thread of the pool calls with its number when it ends. By default,
    /// there is no such function. If `f` panics, the panic is logged to standard error.
    ///
    /// ```
    /// let log = |number| println!("thread {number} ends");
    /// tidegate::Pool::builder().workers(2).on_exit(log).build()?.shutdown();
    /// # Ok::<(), tidegate::BuildError>(())
    /// ```
    on_exit(f: impl Fn(usize) + Send + Sync + 'static) sets ThreadHandler = Box::new(f);

    /// Sets a function to call with each panic that no join, scope or handle can return to a
    /// caller. See [`PanicReport`].
    ///
    /// By default, such panics are logged to standard error and counted. If `f` panics, that panic
    /// is logged to standard error.
    ///
    /// ```
    /// let (sender, panics) = std::sync::mpsc::channel();
    /// let pool = tidegate::Pool::builder()
    ///     .workers(1)
    ///     .on_panic(move |report| sender.send(report).expect("the receiver exists"))
    ///     .build()?;
    /// drop(pool.spawn(|| -> u32 { panic!("oh") }));
    /// let report = panics.recv()?;
    /// assert_eq!((report.number, report.payload.downcast_ref()), (1, Some(&"oh")));
    /// assert!(report.origin.is_some());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    on_panic(f: impl Fn(PanicReport) + Send + Sync + 'static) sets PanicHandler = Box::new(f);
}

/// # What some programs set
///
/// How many threads may block and how many tasks may wait, classes of tasks, the pool's weight,
/// memory, places, and traces.
impl {
    /// Sets how many threads may be in [`blocking`](fn@crate::blocking) calls without counting
    /// towards [`max_threads`](Self::max_threads) (`TIDEGATE_MAX_BLOCKING_THREADS`). The default is
    /// 512 and the range is 0 to 16384; together with `max_threads` it must not exceed 32768.
    ///
    /// While fewer threads block, the pool starts another thread whenever a task waits and a
    /// worker's slot is free. At the limit, or if the operating system refuses to start a thread,
    /// tasks may have to wait until a blocking call returns. The pool then prints one line to
    /// standard error, and counts the event in
    /// [`Stats::blocking_limit_hits`](crate::Stats::blocking_limit_hits).
    ///
    /// Threads beyond `max_threads` end after they have been idle for a second. A default that does
    /// not fit beside a large `max_threads` is lowered.
    ///
    /// ```
    /// let pool = tidegate::Pool::builder().workers(2).max_blocking_threads(8).build()?;
    /// assert_eq!(pool.install(|| tidegate::blocking(|| "from a slow disk")), "from a slow disk");
    /// # Ok::<(), tidegate::BuildError>(())
    /// ```
    max_blocking_threads(threads: usize) sets usize = threads, or MAX_BLOCKING_THREADS;

    /// Sets how many tasks spawned by callers outside the pool may wait in the queue until a worker
    /// begins them: at least 1. By default there is no bound.
    ///
    /// If a call to `tidegate::Pool::spawn` exceeds the bound, it queues its task and blocks;
    /// `tidegate::TaskBuilder::spawn_if_room` returns the closure instead. Each time a worker
    /// begins a task, the caller that has waited longest continues. So the queue has at most this
    /// many tasks, plus one for each waiting caller. A task of the pool itself never waits, because
    /// the queue might not drain meanwhile. For the same reason, no task of the pool should wait
    /// for a thread that spawns into it. The bound is for the tasks of all classes together, and
    /// the callers continue in the order in which they came, whatever the class of their tasks. It
    /// does not apply to futures.
    ///
    /// ```
    /// let pool = tidegate::Pool::builder().workers(2).max_queued(16).build()?;
    /// let parts: Vec<_> = (0..100).map(|i| pool.spawn(move || i)).collect();
    /// assert_eq!(parts.into_iter().map(|part| part.join()).sum::<u32>(), 4950);
    /// # Ok::<(), tidegate::BuildError>(())
    /// ```
    max_queued(tasks: usize) sets usize = tasks;

    /// Sets the class of the tasks that threads outside all pools spawn into this pool
    /// (`TIDEGATE_PRIORITY`), and of what these tasks spawn in turn. The default is
    /// [`Priority::Normal`]. A task of another pool passes its own class on, and
    /// `tidegate::TaskBuilder::priority` chooses one.
    ///
    /// The class orders the tasks of this pool among themselves. How pools and programs divide the
    /// processors depends on their [weights](Self::weight).
    ///
    /// ```
    /// use tidegate::Priority;
    ///
    /// let pool = tidegate::Pool::builder().workers(1).priority(Priority::Background).build()?;
    /// let cleanup = pool.spawn(|| "cleaned up");
    /// // If the worker has not begun the cleanup, this task overtakes it.
    /// let answer = pool.task().priority(Priority::Normal).spawn(|| 6 * 7);
    /// assert_eq!((answer.join(), cleanup.join()), (42, "cleaned up"));
    /// # Ok::<(), tidegate::BuildError>(())
    /// ```
    priority(priority: Priority) sets Priority = priority, or PRIORITY;

    /// Sets within how many dispatches the pool begins a task of each class that has tasks: 3 to
    /// 1000000, by default 64 (`TIDEGATE_PRIORITY_AGING`). Each time that a worker with no task in
    /// progress begins one, that is a dispatch.
    ///
    /// A small number gives less urgent tasks more of the pool while it is busy. With 3, each of
    /// three classes with endless tasks gets a third.
    ///
    /// ```
    /// let error = tidegate::Pool::builder().priority_aging(2).build().unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "invalid value 2 for Builder::priority_aging: expected an integer from 3 to 1000000"
    /// );
    /// ```
    priority_aging(dispatches: usize) sets usize = dispatches, or PRIORITY_AGING;

    /// Sets the pool's weight relative to other jobs: 1 to 10000, by default 100
    /// (`TIDEGATE_WEIGHT`). A job with twice the weight gets twice as many CPUs.
    ///
    /// ```
    /// let pool = tidegate::Pool::builder().workers(2).weight(200).build()?;
    /// assert_eq!(pool.join(|| 1, || 2), (1, 2));
    /// # Ok::<(), tidegate::BuildError>(())
    /// ```
    weight(weight: usize) sets usize = weight, or WEIGHT;

    /// Sets which tasks get the memory they request, and which must wait for it
    /// (`TIDEGATE_MEMORY`); see [`memory::reserve`](crate::memory::reserve).
    ///
    /// The default, [`MemoryPolicy::None`], grants every request immediately and adds no cost to a
    /// fork; nor does [`MemoryPolicy::Hybrid`]. The other policies keep the order of the serial
    /// run: each fork takes a lock of the pool, and tasks [spawned at a
    /// place](crate::Scope::spawn_at) come after all others.
    ///
    /// A waiting task keeps its thread. Once the pool has [`max_threads`](Self::max_threads)
    /// threads, new tasks therefore begin only when all running tasks have reached a wait.
    ///
    /// ```
    /// use tidegate::{Pool, memory};
    ///
    /// let policy = "budget:bytes=64MiB,serial=8MiB".parse()?;
    /// let pool = Pool::builder().workers(2).memory(policy).build()?;
    /// assert!(pool.install(|| memory::reserve(65 << 20)).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    memory(memory: MemoryPolicy) sets MemoryPolicy = memory, or SPACE;

    /// Sets what the workers of a place share (`TIDEGATE_PLACES`); see [`PlaceId`](crate::PlaceId).
    /// The default is [`PlaceBy::Cache`], the last-level cache. [`PlaceBy::Each`] accepts 1 to 4096
    /// workers per place.
    ///
    /// Worker `i` is assumed to run on the `i`-th usable CPU, counting every core once before any
    /// core's second hardware thread, and wrapping around after the last CPU. The worker only stays
    /// there if the pool [binds](Self::bind) its threads.
    ///
    /// ```
    /// let pool = tidegate::Pool::builder().workers(4).places("each:2".parse()?).build()?;
    /// assert_eq!(pool.places().len(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    places(places: PlaceBy) sets PlaceBy = places, or PLACES;

    /// Sets whether each running thread of the pool is bound to one CPU (`TIDEGATE_BIND`). The
    /// default is false, so that the kernel can move threads off CPUs that other programs need.
    ///
    /// Threads are bound only to CPUs that the process may use. A running thread's CPU slot
    /// determines its CPU. Guests, and threads beyond the number of CPU slots, are not bound. A
    /// thread that a task starts inherits the CPU of the worker running the task.
    ///
    /// ```
    /// let pool = tidegate::Pool::builder().workers(2).bind(true).build()?;
    /// assert_eq!(pool.join(|| 1, || 2), (1, 2));
    /// # Ok::<(), tidegate::BuildError>(())
    /// ```
    bind(bind: bool) sets bool = bind, or BIND;

    /// Sets after how many seconds of standstill the pool prints one line to standard error: 0 to
    /// 86400, and 0 for never (`TIDEGATE_STALL_REPORT`). The default is 5.
    ///
    /// A pool stands still while a task is in a call that sleeps, or tasks wait, but no task begins
    /// and the pool uses no CPU. The line says which workers sleep in a task, where that task was
    /// spawned if it was spawned by itself, and what waits. It is printed at most once. Calls in
    /// [`blocking`](fn@crate::blocking) may take as long as they like. After the same time, a task
    /// that waits for [memory](crate::memory) has a line of its own.
    ///
    /// ```
    /// let pool = tidegate::Pool::builder().workers(2).stall_report(30).build()?;
    /// assert_eq!(pool.join(|| 1, || 2), (1, 2));
    /// # Ok::<(), tidegate::BuildError>(())
    /// ```
    stall_report(seconds: usize) sets usize = seconds, or STALL_REPORT;

    /// Sets whether the pool records its scheduling decisions, for
    /// [`Pool::trace`](crate::Pool::trace). The default is false. Each worker records up to 16 MiB
    /// (`trace.bytes` in `tidegate tunables`); what doesn't fit is dropped.
    ///
    /// ```
    /// let pool = tidegate::Pool::builder().workers(2).trace(true).build()?;
    /// assert!(pool.trace().is_some());
    /// # Ok::<(), tidegate::BuildError>(())
    /// ```
    trace(on: bool) sets bool = on;
}

/// The options of a [`Builder`] for research: how a pool steals, waits, idles and estimates its
/// desire, and the topology that it assumes.
///
/// The defaults suit programs that do not study schedulers. `docs/choosing.md` compares them with
/// the other values. Only [`Builder`] implements this trait.
trait {
    /// Sets what a worker does when it finds no work (`TIDEGATE_IDLE`).
    ///
    /// The default is [`IdlePolicy::Elastic`]: yield for a while, then park. An idle policy cannot
    /// be combined with [`backoff`](Self::backoff).
    ///
    /// ```
    /// use tidegate::policy::Choose;
    ///
    /// let pool = tidegate::Pool::builder().workers(2).idle("yield".parse()?).build()?;
    /// assert_eq!(pool.join(|| 1, || 2), (1, 2));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    idle(idle: IdlePolicy) sets IdlePolicy = idle, or IDLE;

    /// Sets custom code that decides what a worker does when it finds no work, in place of
    /// [`idle`](Self::idle). `TIDEGATE_IDLE` is then ignored.
    ///
    /// Each thread of the pool has its own backoff, created when the thread starts and dropped when
    /// it ends. Whenever the thread has looked everywhere and found no task, its backoff decides
    /// how it rests; once it has found a task, it resets the backoff. A backoff does not slow down
    /// forks. If every worker without a task sleeps, new tasks wait until the first sleep ends. A
    /// sleep ends early in the same cases as under a built-in idle policy, and lasts at most
    /// [`LONGEST_SLEEP`](crate::policy::idle::LONGEST_SLEEP).
    ///
    /// The code that creates the backoff runs after the [start handler](Builder::on_start) and may
    /// do anything that the handler may do. The backoff itself must not block or wait for a task:
    /// its worker counts as searching, so the pool wakes no other thread for new tasks meanwhile.
    /// It may spawn tasks; the worker runs them itself unless another one is faster. The code that
    /// drops the backoff must not call into the pool: its thread is ending and would not run tasks
    /// that this code spawned.
    ///
    /// If the backoff, or the code that creates or drops it, panics, the panic is logged to
    /// standard error. From then on the worker parks whenever it finds no work.
    ///
    /// [`build`](Builder::build) returns an error if `idle` is set as well. The backoff has no text
    /// form: `TIDEGATE_EXPLAIN` and traces call it `custom`. Replaying a trace doesn't need the
    /// backoff's code, because the trace contains its decisions.
    ///
    /// ```
    /// use tidegate::Pool;
    /// use tidegate::policy::Choose;
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
    backoff(backoff: BackoffFactory) sets BackoffFactory = backoff;

    /// Sets how many tasks one steal takes (`TIDEGATE_STEAL`). The default is [`StealAmount::One`].
    ///
    /// A different amount requires [`QueueKind::Split`], and a [`memory`](Builder::memory) policy
    /// that doesn't keep the order of the serial run; otherwise [`build`](Builder::build) returns
    /// an error, because thieves then take one task at a time.
    ///
    /// ```
    /// use tidegate::Pool;
    /// use tidegate::policy::{Choose, QueueKind, StealAmount};
    ///
    /// let builder = Pool::builder().workers(2).steal(StealAmount::Half);
    /// assert_eq!(builder.build()?.join(|| 1, || 2), (1, 2));
    /// let builder = Pool::builder().steal(StealAmount::Half).queue(QueueKind::ChaseLev);
    /// assert!(builder.build().is_err());
    /// # Ok::<(), tidegate::BuildError>(())
    /// ```
    steal(amount: StealAmount) sets StealAmount = amount, or STEAL;

    /// Sets how a thief chooses its victims (`TIDEGATE_VICTIM`). The default is
    /// [`VictimPolicy::Hierarchical`], which prefers near victims.
    ///
    /// That policy computes distances from the machine's caches and nodes, and assumes that workers
    /// run on the CPUs that [`places`](Builder::places) describes.
    ///
    /// ```
    /// use tidegate::policy::Choose;
    ///
    /// let pool = tidegate::Pool::builder().workers(2).victim("last-victim".parse()?).build()?;
    /// assert_eq!(pool.join(|| 1, || 2), (1, 2));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    victim(victim: VictimPolicy) sets VictimPolicy = victim, or VICTIM;

    /// Sets which tasks a waiting worker may run (`TIDEGATE_WAIT`).
    ///
    /// The default is [`WaitPolicy::Descendants`]: only tasks that it is waiting for. rayon waits
    /// like [`WaitPolicy::HelpAny`]. The default is the only wait policy allowed with a
    /// [`memory`](Builder::memory) policy other than [`MemoryPolicy::None`].
    ///
    /// ```
    /// use tidegate::policy::Choose;
    ///
    /// let pool = tidegate::Pool::builder().workers(2).wait("help-any".parse()?).build()?;
    /// assert_eq!(pool.join(|| 1, || 2), (1, 2));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    wait(wait: WaitPolicy) sets WaitPolicy = wait, or WAIT;

    /// Sets the kind of queue in which a worker keeps its tasks (`TIDEGATE_QUEUE`). The default is
    /// [`QueueKind::Split`].
    ///
    /// The other kinds are for comparison. They have these disadvantages:
    ///
    /// * Forks are slower, and a worker waiting for the other half of a join sleeps instead of
    ///   helping.
    /// * With [`QueueKind::Blocks`] and [`QueueKind::Duplicating`], a task may stay with its owner
    ///   until the owner forks again, so tasks that wait for each other may deadlock. In a pool
    ///   without spare threads, they may deadlock with every kind except [`QueueKind::Split`].
    /// * Thieves take one task at a time, so [`build`](Builder::build) returns an error for any
    ///   [`steal`](Self::steal) but [`StealAmount::One`].
    ///
    /// ```
    /// use tidegate::policy::Choose;
    ///
    /// let pool = tidegate::Pool::builder().workers(2).queue("chase-lev".parse()?).build()?;
    /// assert_eq!(pool.join(|| 1, || 2), (1, 2));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    queue(queue: QueueKind) sets QueueKind = queue, or QUEUE;

    /// Sets how the pool estimates its desire, i.e. how many CPUs it could put to good use
    /// (`TIDEGATE_DESIRE`). The default is [`DesirePolicy::Steady`].
    ///
    /// ```
    /// use tidegate::policy::Choose;
    ///
    /// let pool = tidegate::Pool::builder().workers(2).desire("wsap:eta=0.75".parse()?).build()?;
    /// assert_eq!(pool.join(|| 1, || 2), (1, 2));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    desire(desire: DesirePolicy) sets DesirePolicy = desire, or DESIRE;

    /// Sets the time between two estimates of the pool's desire: 100 us to 100 ms, by default 5 ms
    /// (`TIDEGATE_EST_CYCLE`).
    ///
    /// A shorter cycle follows the program's parallelism sooner but costs more: each estimate takes
    /// about 20 us of CPU time. While estimates don't change anything, the pool lengthens its
    /// cycles, up to fourfold. Jobs that share a machine should have the same cycle, or some of
    /// them notice changes later than others (Siddhartha Sen, "Dynamic processor allocation for
    /// adaptively parallel work-stealing jobs", 2004, section 6.1).
    ///
    /// [`build`](Builder::build) returns an error if the time is out of range. A pool that doesn't
    /// share the machine ([`SharePolicy::Off`]) makes no estimates.
    ///
    /// ```
    /// use std::time::Duration;
    /// use tidegate::Pool;
    /// use tidegate::policy::Choose;
    ///
    /// let pool = Pool::builder().workers(2).est_cycle(Duration::from_millis(10)).build()?;
    /// assert_eq!(pool.join(|| 1, || 2), (1, 2));
    ///
    /// let refused = Pool::builder().est_cycle(Duration::from_secs(2)).build().err();
    /// let error = "invalid value 2s for Builder::est_cycle: expected a time such as 5ms (ns, us, ms, s) from 100us to 100ms";
    /// assert_eq!(refused.map(|refused| refused.to_string()), Some(error.to_owned()));
    /// # Ok::<(), tidegate::BuildError>(())
    /// ```
    est_cycle(time: Duration) sets Nanos = nanos(time), or EST_CYCLE;

    /// Uses this topology instead of the machine's. Places and distances are computed from it. The
    /// default is the topology that the operating system reports.
    ///
    /// This is for tests, and for machines that report an incorrect topology.
    /// [`build`](Builder::build) returns an error if the topology has no CPUs, or if the pool
    /// [binds](Builder::bind) its threads and the process may not use all of the topology's CPUs.
    ///
    /// ```
    /// use tidegate::policy::Choose;
    ///
    /// let topology = "cpus 0-3\nL3 0-1 2-3 size=16M".parse()?;
    /// let pool = tidegate::Pool::builder().workers(4).topology(topology).build()?;
    /// assert_eq!(pool.places().len(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    topology(topology: Topology) sets Topology = topology;
}

}};
}
pub(crate) use options;
