//! A pool's counters, and how they are read.
//!
//! Each worker has its own counters. Its thread writes them with plain stores while it steals,
//! sleeps or wakes, or begins a task that was spawned from outside. Forking a task and running it
//! count nothing and read no clock. [`Stats`] are read without stopping any thread, so related
//! numbers may be a few events apart.

mod display;
mod histogram;
mod wait_sampler;

pub(crate) use histogram::Durations;
pub use histogram::Histogram;
pub(crate) use wait_sampler::WaitSampler;

use tidegate_sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use tidegate_sync::clock;

/// A counter with a single writer.
#[derive(Default, Debug)]
pub(crate) struct Count(AtomicU64);

impl Count {
    /// Adds `n`. Only the worker that owns the counter may call this.
    pub(crate) fn add(&self, n: u64) {
        // Relaxed, and no read-modify-write: there is one writer, and readers only want a recent
        // value.
        self.0
            .store(self.0.load(Ordering::Relaxed) + n, Ordering::Relaxed);
    }

    /// Raises the counter to `n` if it is lower.
    pub(crate) fn raise_to(&self, n: u64) {
        if n > self.get() {
            // Relaxed: as in `add`.
            self.0.store(n, Ordering::Relaxed);
        }
    }

    pub(crate) fn get(&self) -> u64 {
        // Relaxed: as in `add`.
        self.0.load(Ordering::Relaxed)
    }
}

/// What a worker spends its time on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// No thread acts as this worker.
    Away,
    Busy,
    Stealing,
    /// Woken, or ready to run, but not running yet.
    Switching,
    NoWork,
    Latch,
    /// Waiting for memory, or for its turn in the order in which tasks get memory.
    Memory,
    Blocked,
    /// A timed sleep of the idle policy, which keeps the slot.
    Nap,
}

impl Phase {
    /// Every phase, in the order of the variants, with its name in traces.
    pub(crate) const ALL: [(Self, &'static str); 9] = [
        (Self::Away, "away"),
        (Self::Busy, "busy"),
        (Self::Stealing, "stealing"),
        (Self::Switching, "ready_not_running"),
        (Self::NoWork, "no work"),
        (Self::Latch, "waiting"),
        (Self::Memory, "waiting for memory"),
        (Self::Blocked, "blocked"),
        (Self::Nap, "napping"),
    ];
}

/// A worker's time, by phase.
#[derive(Default, Debug)]
pub(crate) struct Phases {
    phase: AtomicUsize,
    since: AtomicU64,
    totals: [AtomicU64; Phase::ALL.len()],
    /// The largest time of each phase that was ever returned to a reader.
    shown: [AtomicU64; Phase::ALL.len()],
}

impl Phases {
    /// Begins `phase` now, and returns the previous phase. Only the worker's own thread may call
    /// this.
    pub(crate) fn enter(&self, phase: Phase) -> Phase {
        self.enter_at(phase, clock::now())
    }

    /// Like `enter`, but at a time between the last change and now.
    pub(crate) fn enter_at(&self, phase: Phase, now: u64) -> Phase {
        // Relaxed: there is one writer.
        let before = self.phase.load(Ordering::Relaxed);
        let since = self.since.load(Ordering::Relaxed);
        let total = &self.totals[before];
        let sum = total.load(Ordering::Relaxed) + now.saturating_sub(since);
        self.since.store(now.max(since), Ordering::Relaxed);
        // Release pairs with the Acquire in `nanos`, here and below: a reader that sees the new
        // total or the new phase also sees the new start, and counts no time twice.
        total.store(sum, Ordering::Release);
        self.phase.store(phase as usize, Ordering::Release);
        Phase::ALL[before].0
    }

    /// Returns the total time in this phase so far, in nanoseconds. Never returns less than before.
    pub(crate) fn nanos(&self, phase: Phase) -> u64 {
        let place = phase as usize;
        // Read first: a phase that begins later counts nothing.
        let now = clock::now();
        // Acquire, here and below: as in `enter_at`.
        let mut nanos = self.totals[place].load(Ordering::Acquire);
        if self.phase.load(Ordering::Acquire) == place {
            // Relaxed: ordered by the loads above.
            nanos += now.saturating_sub(self.since.load(Ordering::Relaxed));
        }
        // A phase may turn out to have ended before it was read, because a sleeper learns only
        // later when it was woken; and a reader may mix the values of two changes.
        // Relaxed: publishes no other data.
        let shown = self.shown[place].fetch_max(nanos, Ordering::Relaxed);
        nanos.max(shown)
    }

    #[inline]
    fn seconds(&self, phase: Phase) -> f64 {
        seconds(self.nanos(phase))
    }
}

#[inline]
fn seconds(nanos: u64) -> f64 {
    nanos as f64 / 1e9
}

/// One worker's counters.
#[derive(Default, Debug)]
pub(crate) struct Tally {
    pub(crate) tasks: Count,
    /// How many of `tasks` did not run on top of another task.
    pub(crate) base_tasks: Count,
    pub(crate) stolen_joins: Count,
    pub(crate) attempts: Count,
    /// How many tasks the victims had, summed over attempts. Only counted if the desire policy uses
    /// it.
    pub(crate) lengths_seen: Count,
    pub(crate) takes: Count,
    pub(crate) failed_takes: Count,
    pub(crate) steals: Count,
    pub(crate) stolen_tasks: Count,
    pub(crate) failed_busy: Count,
    pub(crate) failed_empty: Count,
    pub(crate) sleeps: Count,
    pub(crate) handovers: Count,
    pub(crate) overcommitted: Count,
    pub(crate) rescues: Count,
    pub(crate) max_depth: Count,
    pub(crate) phases: Phases,
    pub(crate) queue_wait: Durations,
    pub(crate) steal_latency: Durations,
}

/// Counts of events, of one worker or summed over all workers of a pool.
///
/// ```
/// let pool = tidegate::Pool::builder().workers(2).build()?;
/// pool.install(|| 1 + 1);
/// assert!(pool.stats().counters.dispatched >= 1);
/// # Ok::<(), tidegate::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Counters {
    /// Tasks that went through a scheduler loop. The half of a join that its own worker runs is not
    /// counted.
    pub dispatched: u64,
    /// Joins whose second half was stolen.
    pub stolen_joins: u64,
    /// Attempts by workers to take a task from their own queue. Only counted if that queue is
    /// neither the split deque ([`Choose::queue`](crate::policy::Choose::queue)) nor a shared queue.
    /// A worker that stops and leaves its tasks to others, or that yields, makes no attempt.
    pub takes: u64,
    /// Attempts counted in `takes` that found no task.
    pub failed_takes: u64,
    /// Attempts to steal or rob.
    pub attempts: u64,
    /// Attempts to steal or rob that succeeded.
    pub steals: u64,
    /// Attempts that failed although the victim had work, or because another thief won the race.
    pub failed_busy: u64,
    /// Attempts that failed because the victim was itself out of work.
    pub failed_empty: u64,
    /// Tasks taken per successful attempt; 0 if no attempt succeeded.
    pub tasks_per_steal: f64,
    /// How often a worker went to sleep.
    pub sleeps: u64,
    /// How long workers slept or were in [`blocking`](fn@crate::blocking) calls, in seconds, summed
    /// over all workers.
    pub asleep_seconds: f64,
    /// How often a sleeping worker was woken.
    pub wakes: u64,
    /// Slots that were handed to a waiting worker when its latch opened.
    pub handovers: u64,
    /// The largest number of forks that were open at once on one stack.
    pub max_depth: u64,
    /// How often a thread ran without a slot because its grace period had expired.
    pub overcommitted: u64,
    /// Unrelated tasks that ran on top of a waiting frame because no other thread could run them.
    pub rescues: u64,
}

/// Time by activity, in seconds.
///
/// ```
/// let pool = tidegate::Pool::builder().workers(2).build()?;
/// pool.install(|| (0..1000).sum::<u64>());
/// assert!(pool.stats().breakdown.busy > 0.0);
/// # Ok::<(), tidegate::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Breakdown {
    /// Time spent running tasks.
    pub busy: f64,
    /// Time spent looking for work.
    pub stealing: f64,
    /// Time spent asleep, for any reason, or in [`blocking`](fn@crate::blocking) calls.
    pub asleep: f64,
    /// Time spent able to continue but not running: just woken, or without a slot because the
    /// pool's share of the machine is used up.
    pub ready_not_running: f64,
}

/// Time without a slot by reason, in seconds.
///
/// ```
/// use std::time::Duration;
///
/// let pool = tidegate::Pool::builder().workers(1).build()?;
/// pool.install(|| tidegate::blocking(|| std::thread::sleep(Duration::from_millis(2))));
/// assert!(pool.stats().waiting.blocked >= 0.002);
/// # Ok::<(), tidegate::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Waiting {
    /// Time during which the worker found no work.
    pub no_work: f64,
    /// Time during which the worker waited for a task to end.
    pub latch: f64,
    /// Time during which a task had requested memory and waited for it, or for its turn
    /// ([`MemoryPolicy`](crate::policy::MemoryPolicy)).
    pub memory: f64,
    /// Time spent in [`blocking`](fn@crate::blocking) calls.
    pub blocked: f64,
    /// Time during which the worker was ready to continue but not running.
    pub ready: f64,
}

/// The [`Stats`] of one worker.
///
/// ```
/// let pool = tidegate::Pool::builder().workers(2).build()?;
/// pool.join(|| 1, || 2);
/// let stats = pool.stats();
/// let steals: u64 = stats.per_worker.iter().map(|worker| worker.counters.steals).sum();
/// assert_eq!(steals, stats.counters.steals);
/// # Ok::<(), tidegate::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct WorkerStats {
    /// The worker's counters.
    pub counters: Counters,
    /// The worker's time by activity.
    pub breakdown: Breakdown,
    /// The worker's time without a slot, by reason.
    pub waiting: Waiting,
    /// Like [`Stats::queue_wait`], but only for tasks that this worker began.
    pub queue_wait: Histogram,
    /// Like [`Stats::steal_latency`], but only for this worker's steals.
    pub steal_latency: Histogram,
}

/// The memory that tasks have declared with [`memory::reserve`](crate::memory::reserve), in bytes.
///
/// ```
/// use tidegate::{Pool, memory};
///
/// let pool = Pool::builder().workers(2).build()?;
/// pool.install(|| drop(memory::reserve(4096)));
/// let stats = pool.stats().memory;
/// assert_eq!((stats.declared, stats.peak, stats.sleeps), (0, 4096, 0));
/// # Ok::<(), tidegate::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct MemoryStats {
    /// The sum of all current reservations.
    pub declared: u64,
    /// The largest value of `declared` so far.
    pub peak: u64,
    /// How often a task has slept to wait for a reservation.
    pub sleeps: u64,
}

/// What a pool has done since it was created; returned by [`Pool::stats`](crate::Pool::stats) and
/// [`stats`](fn@crate::stats).
///
/// Printing it with `{}` gives a summary of a few lines. With the feature `serde`, it can be
/// serialized.
///
/// ```
/// let pool = tidegate::Pool::builder().workers(2).build()?;
/// pool.join(|| 1, || 2);
/// let stats = pool.stats();
/// assert_eq!((stats.workers, stats.panics), (2, 0));
/// assert!(stats.to_string().starts_with("workers: 2"));
/// # Ok::<(), tidegate::BuildError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Stats {
    /// How many workers may run at once if no other job needs the CPUs.
    pub workers: usize,
    /// How many of these workers may run now, given the other jobs.
    pub allotment: usize,
    /// How many workers the pool could use now, as it has last told the other jobs. `None` if it
    /// does not [share](crate::Builder::share) the machine.
    pub desire: Option<usize>,
    /// How many tasks wait in the queues of the pool. Tasks that workers have forked and keep
    /// themselves are not counted.
    pub queued: usize,
    /// The sums over all workers, except for `max_depth`, which is the maximum.
    pub counters: Counters,
    /// Time by activity, summed over all workers.
    pub breakdown: Breakdown,
    /// Time without a slot by reason, summed over all workers.
    pub waiting: Waiting,
    /// How long tasks waited in the pool's queue until a worker began them. Only tasks that are
    /// spawned from outside the pool pass through this queue, and polls of a future that is woken
    /// from outside. One task in n is measured; `tidegate tunables` prints n as
    /// `queue-wait-sample`.
    ///
    /// If `tidegate::Handle::join` runs a task, the task's entry stays in the queue and is measured
    /// when a worker removes it.
    pub queue_wait: Histogram,
    /// How long idle workers took to steal a task, from the first attempt of a search until an
    /// attempt succeeded, including the pauses between attempts. Parking ends a search. Workers
    /// that steal while they wait in a join or scope are not measured.
    pub steal_latency: Histogram,
    /// Panics that no join, scope or handle could return to a caller.
    pub panics: u64,
    /// How often a task was ready and a slot was free, but every thread that could have run it was
    /// in a [`blocking`](fn@crate::blocking) call; see
    /// [`max_blocking_threads`](crate::Builder::max_blocking_threads).
    pub blocking_limit_hits: u64,
    /// The declared memory.
    pub memory: MemoryStats,
    /// All workers that the pool has had: its threads, spare threads and guests.
    pub per_worker: Vec<WorkerStats>,
}

impl Tally {
    /// Called when a thread becomes this worker.
    pub(crate) fn arrive(&self) {
        let _ = self.phases.enter(Phase::Busy);
    }

    /// Called when the thread is no longer this worker.
    pub(crate) fn depart(&self) {
        let _ = self.phases.enter(Phase::Away);
    }

    #[inline]
    fn asleep(&self) -> f64 {
        use Phase::{Blocked, Latch, Memory, Nap, NoWork};
        let mut asleep = 0.0;
        for phase in [NoWork, Latch, Memory, Blocked, Nap] {
            asleep += self.phases.seconds(phase);
        }
        asleep
    }
}

impl WorkerStats {
    /// Converts a worker's tally. `deepest` is the largest number of tasks that its deque ever
    /// held.
    #[inline]
    pub(crate) fn of(tally: &Tally, wakes: u64, deepest: u64) -> Self {
        let steals = tally.steals.get();
        // Read before the sleeps, so that each sleep whose time it has is counted.
        let asleep_seconds = tally.asleep();
        let counters = Counters {
            dispatched: tally.tasks.get(),
            stolen_joins: tally.stolen_joins.get(),
            takes: tally.takes.get(),
            failed_takes: tally.failed_takes.get(),
            attempts: tally.attempts.get(),
            steals,
            failed_busy: tally.failed_busy.get(),
            failed_empty: tally.failed_empty.get(),
            tasks_per_steal: ratio(tally.stolen_tasks.get() as f64, steals),
            sleeps: tally.sleeps.get(),
            asleep_seconds,
            wakes,
            handovers: tally.handovers.get(),
            max_depth: tally.max_depth.get().max(deepest),
            overcommitted: tally.overcommitted.get(),
            rescues: tally.rescues.get(),
        };
        let breakdown = Breakdown {
            busy: tally.phases.seconds(Phase::Busy),
            stealing: tally.phases.seconds(Phase::Stealing),
            asleep: counters.asleep_seconds,
            ready_not_running: tally.phases.seconds(Phase::Switching),
        };
        let waiting = Waiting {
            no_work: tally.phases.seconds(Phase::NoWork),
            latch: tally.phases.seconds(Phase::Latch),
            memory: tally.phases.seconds(Phase::Memory),
            blocked: tally.phases.seconds(Phase::Blocked),
            ready: breakdown.ready_not_running,
        };
        Self {
            counters,
            breakdown,
            waiting,
            queue_wait: tally.queue_wait.read(),
            steal_latency: tally.steal_latency.read(),
        }
    }
}

#[inline]
fn ratio(a: f64, b: u64) -> f64 {
    if b == 0 { 0.0 } else { a / b as f64 }
}

impl Counters {
    #[inline]
    pub(crate) fn add(&mut self, other: &Self) {
        let stolen =
            self.tasks_per_steal * self.steals as f64 + other.tasks_per_steal * other.steals as f64;
        self.dispatched += other.dispatched;
        self.stolen_joins += other.stolen_joins;
        self.takes += other.takes;
        self.failed_takes += other.failed_takes;
        self.attempts += other.attempts;
        self.steals += other.steals;
        self.tasks_per_steal = ratio(stolen, self.steals);
        self.failed_busy += other.failed_busy;
        self.failed_empty += other.failed_empty;
        self.sleeps += other.sleeps;
        self.asleep_seconds += other.asleep_seconds;
        self.wakes += other.wakes;
        self.handovers += other.handovers;
        self.max_depth = self.max_depth.max(other.max_depth);
        self.overcommitted += other.overcommitted;
        self.rescues += other.rescues;
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::Pool;
    use tidegate_policy::SharePolicy;

    /// A thread may sleep from its start to the pool's end.
    #[test]
    fn unfinished_sleeps_are_counted() {
        let builder = Pool::builder().workers(1).share(SharePolicy::Off);
        let pool = builder.build().unwrap();
        let stats = std::iter::repeat_with(|| pool.stats());
        let mut asleep = stats.filter(|stats| stats.counters.asleep_seconds > 0.0);
        assert!(asleep.next().unwrap().counters.sleeps > 0);
    }

    /// A sleeper learns after a reader has counted its sleep that it was woken before.
    #[test]
    fn phases_never_shrink() {
        let phases = Phases::default();
        let start = clock::now();
        let _ = phases.enter_at(Phase::NoWork, start);
        let seen = phases.nanos(Phase::NoWork);
        let _ = phases.enter_at(Phase::Switching, start);
        assert_eq!(phases.nanos(Phase::NoWork), seen);
        let _ = phases.enter_at(Phase::NoWork, start + 1);
        let _ = phases.enter_at(Phase::Busy, start + 1 + 2 * seen);
        assert_eq!(phases.nanos(Phase::NoWork), 2 * seen);
    }
}
