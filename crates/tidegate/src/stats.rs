//! What a pool counts, and how it is read.
//!
//! Each worker has counters of its own, written with plain stores by its thread while it steals, sleeps or wakes; the
//! working path counts nothing and reads no clock. [`Stats`] is taken without stopping anybody: numbers that belong together
//! may be a few events apart.

use tidegate_sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use tidegate_sync::clock;

/// One counter with a single writer.
#[derive(Default, Debug)]
pub(crate) struct Count(AtomicU64);

impl Count {
    /// Adds `n`. Only the worker that owns the counter may call this.
    pub(crate) fn add(&self, n: u64) {
        // Relaxed, and no read-modify-write: one writer; readers want a recent value only.
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
    /// No thread is this worker.
    Away,
    Busy,
    Stealing,
    /// Woken, or ready to run, and not yet running.
    Switching,
    NoWork,
    Latch,
    /// It waits for memory, or for its turn in the order in which tasks may have it.
    Memory,
    Blocked,
    /// A timed sleep of the idle policy, the slot kept.
    Nap,
}

impl Phase {
    pub(crate) const ALL: [Self; 9] = [
        Self::Away,
        Self::Busy,
        Self::Stealing,
        Self::Switching,
        Self::NoWork,
        Self::Latch,
        Self::Memory,
        Self::Blocked,
        Self::Nap,
    ];
}

/// A worker's time, by phase.
#[derive(Default, Debug)]
pub(crate) struct Phases {
    phase: AtomicUsize,
    since: AtomicU64,
    totals: [Count; Phase::ALL.len()],
}

impl Phases {
    /// Begins `phase`, now; what it was before. Only by the worker's own thread.
    pub(crate) fn enter(&self, phase: Phase) -> Phase {
        self.enter_at(phase, clock::now())
    }

    /// The same at a time between the last change and now.
    pub(crate) fn enter_at(&self, phase: Phase, now: u64) -> Phase {
        // Relaxed, here and below: one writer; a reader that mixes two changes is off by their distance.
        let before = self.phase.load(Ordering::Relaxed);
        let since = self.since.load(Ordering::Relaxed);
        self.totals[before].add(now.saturating_sub(since));
        self.since.store(now.max(since), Ordering::Relaxed);
        self.phase.store(phase as usize, Ordering::Relaxed);
        Phase::ALL[before]
    }

    /// How long so far, in nanoseconds.
    pub(crate) fn nanos(&self, phase: Phase) -> u64 {
        let mut nanos = self.totals[phase as usize].get();
        // Relaxed: as in `enter_at`.
        if self.phase.load(Ordering::Relaxed) == phase as usize {
            nanos += clock::now().saturating_sub(self.since.load(Ordering::Relaxed));
        }
        nanos
    }

    fn seconds(&self, phase: Phase) -> f64 {
        seconds(self.nanos(phase))
    }
}

fn seconds(nanos: u64) -> f64 {
    nanos as f64 / 1e9
}

/// One worker's counters.
#[derive(Default, Debug)]
pub(crate) struct Tally {
    pub(crate) tasks: Count,
    pub(crate) stolen_joins: Count,
    pub(crate) attempts: Count,
    /// How many tasks the victims had, summed over attempts; counted only where the estimate of the desire asks for it.
    pub(crate) lengths_seen: Count,
    pub(crate) takes: Count,
    pub(crate) failed_takes: Count,
    pub(crate) steals: Count,
    pub(crate) stolen_tasks: Count,
    pub(crate) failed_lost_race: Count,
    pub(crate) failed_empty: Count,
    pub(crate) sleeps: Count,
    pub(crate) handovers: Count,
    pub(crate) overcommitted: Count,
    pub(crate) rescues: Count,
    pub(crate) max_depth: Count,
    pub(crate) phases: Phases,
}

/// How often things happened.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Counters {
    /// Tasks that went through a scheduler loop; the half of a join that its own worker runs is not counted.
    pub dispatched: u64,
    /// Joins whose second half was stolen.
    pub stolen_joins: u64,
    /// Attempts of workers to take a task out of their own queue, where that is not the split deque
    /// ([`Builder::queue`](crate::Builder::queue)) or a shared one. A worker that stops and leaves
    /// its tasks to others, or that yields, makes none.
    pub takes: u64,
    /// Those that found no task.
    pub failed_takes: u64,
    /// Attempts to steal or rob.
    pub attempts: u64,
    /// Attempts that succeeded.
    pub steals: u64,
    /// Attempts that failed on a victim that had work of its own, or was lost to another thief.
    pub failed_lost_race: u64,
    /// Attempts that failed on a victim that was itself out of work.
    pub failed_empty: u64,
    /// Tasks taken per successful attempt; 0 if there was none.
    pub tasks_per_steal: f64,
    /// How often a worker slept.
    pub sleeps: u64,
    /// How long, in seconds, all workers together.
    pub asleep_seconds: f64,
    /// How often a sleeping worker was woken.
    pub wakes: u64,
    /// Slots that went to a waiter together with its latch.
    pub handovers: u64,
    /// The most forks that were open at once on one stack.
    pub max_depth: u64,
    /// How often a thread ran without a slot because its grace was over.
    pub overcommitted: u64,
    /// Unrelated tasks that ran on top of a waiting frame because no other thread could run them.
    pub rescues: u64,
}

/// Where the time went, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Breakdown {
    /// Running tasks.
    pub busy: f64,
    /// Looking for work.
    pub stealing: f64,
    /// Asleep, for any reason.
    pub asleep: f64,
    /// Able to go on and not yet running: woken, or without a slot because the pool's share of the machine is used up.
    pub ready_not_running: f64,
}

/// Time without a slot, in seconds, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Waiting {
    /// There was nothing to do.
    pub no_work: f64,
    /// A latch was shut: the worker waited for a task.
    pub latch: f64,
    /// The task had asked for memory, and waited for it or for its turn ([`MemoryPolicy`](crate::policy::MemoryPolicy)).
    pub memory: f64,
    /// The task had declared a blocking call.
    pub blocked: f64,
    /// The worker was ready and no slot was free.
    pub ready: f64,
}

/// One worker's share of [`Stats`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct WorkerStats {
    /// Its counters.
    pub counters: Counters,
    /// Its time.
    pub breakdown: Breakdown,
    /// Its time without a slot.
    pub waiting: Waiting,
}

/// What tasks have declared with [`memory::reserve`](crate::memory::reserve), in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryStats {
    /// By all reservations that there are.
    pub declared: u64,
    /// The most that it was.
    pub peak: u64,
    /// How often somebody has slept for a reservation.
    pub sleeps: u64,
}

/// What a pool has done since it was made; from [`Pool::stats`](crate::Pool::stats) or [`stats`](fn@crate::stats).
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Stats {
    /// How many workers may run at once if no other job wants the processors.
    pub workers: usize,
    /// How many of them may run at this moment, beside other jobs.
    pub allotment: usize,
    /// The sum over workers; of `max_depth` the largest.
    pub counters: Counters,
    /// The sum over workers.
    pub breakdown: Breakdown,
    /// The sum over workers.
    pub waiting: Waiting,
    /// Panics that no join, scope or handle could carry.
    pub panics: u64,
    /// How often a task was ready and a slot was free, but every thread that could have run it was in a
    /// [`blocking`](fn@crate::blocking) call; see
    /// [`max_blocking_threads`](crate::Builder::max_blocking_threads).
    pub blocking_limit_hits: u64,
    /// The declared memory.
    pub memory: MemoryStats,
    /// Each worker that there has been: threads of the pool, spare ones and guests.
    pub per_worker: Vec<WorkerStats>,
}

impl Tally {
    /// The worker's own time begins.
    pub(crate) fn arrive(&self) {
        let _ = self.phases.enter(Phase::Busy);
    }

    /// The thread is no longer this worker.
    pub(crate) fn depart(&self) {
        let _ = self.phases.enter(Phase::Away);
    }

    fn asleep(&self) -> f64 {
        let asleep = [
            Phase::NoWork,
            Phase::Latch,
            Phase::Memory,
            Phase::Blocked,
            Phase::Nap,
        ];
        asleep
            .into_iter()
            .map(|phase| self.phases.seconds(phase))
            .sum()
    }
}

impl WorkerStats {
    /// `deepest`: the most tasks that the deque ever held.
    pub(crate) fn of(tally: &Tally, wakes: u64, deepest: u64) -> Self {
        let steals = tally.steals.get();
        let counters = Counters {
            dispatched: tally.tasks.get(),
            stolen_joins: tally.stolen_joins.get(),
            takes: tally.takes.get(),
            failed_takes: tally.failed_takes.get(),
            attempts: tally.attempts.get(),
            steals,
            failed_lost_race: tally.failed_lost_race.get(),
            failed_empty: tally.failed_empty.get(),
            tasks_per_steal: ratio(tally.stolen_tasks.get(), steals),
            sleeps: tally.sleeps.get(),
            asleep_seconds: tally.asleep(),
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
        }
    }
}

fn ratio(a: u64, b: u64) -> f64 {
    if b == 0 { 0.0 } else { a as f64 / b as f64 }
}

impl Counters {
    pub(crate) fn add(&mut self, other: &Self) {
        let stolen =
            self.tasks_per_steal * self.steals as f64 + other.tasks_per_steal * other.steals as f64;
        self.dispatched += other.dispatched;
        self.stolen_joins += other.stolen_joins;
        self.takes += other.takes;
        self.failed_takes += other.failed_takes;
        self.attempts += other.attempts;
        self.steals += other.steals;
        self.tasks_per_steal = if self.steals == 0 {
            0.0
        } else {
            stolen / self.steals as f64
        };
        self.failed_lost_race += other.failed_lost_race;
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
