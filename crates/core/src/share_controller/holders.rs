//! The threads that hold slots. In each cycle, the share controller checks which of them are stuck,
//! and which must give their slot to another thread.

use crate::pool::{PoolInner, signal};
use crate::sleep::wake;
use crate::worker::Worker;
use tidegate_policy::Nanos;
use tidegate_policy::share::{beside_long_tasks, is_next_turn, is_stuck};
use tidegate_policy::slots::Ledger;

#[derive(Default)]
pub(super) struct Holders {
    threads: Vec<Option<Silence>>,
    /// When the last turn ended. `None` if no thread is owed a slot.
    turned: Option<Nanos>,
    /// The number of the thread from which the next turn begins to choose holders.
    next: usize,
}

/// A thread that has not answered the probe sent to it or, in a pool that does not preempt, has not
/// begun another task.
#[derive(Clone, Copy)]
struct Silence {
    since: Nanos,
    /// How many tasks the thread had begun at `since`.
    begun: u64,
    /// The thread's processor time at `since`.
    computed: Option<Nanos>,
    /// The result of the last check whether the thread is stuck; `None` before the first one.
    stuck: Option<bool>,
}

impl Holders {
    /// Returns how many holders of slots are stuck, and how many have stopped polling. If `waits`
    /// is set, a task or thread needs a slot, and all running threads are sent a probe.
    pub(super) fn look(
        &mut self,
        pool: &PoolInner,
        ledger: &Ledger,
        waits: bool,
        now: Nanos,
    ) -> (usize, usize) {
        self.observe(pool, ledger, waits, now);
        let judged = |t: usize| {
            let silence = self.threads.get(t).copied().flatten();
            silence.and_then(|silence| silence.stuck)
        };
        if !pool.preempts() {
            // A thread that runs without a slot would get a lent one before a waiting task does.
            let long = candidates(pool, ledger).filter_map(judged).count();
            let running = candidates(pool, ledger).count();
            return (beside_long_tasks(long, running, waits), 0);
        }
        let (mut stuck, mut silent) = (0, 0);
        for is_stuck in ledger.holders().filter_map(judged) {
            stuck += usize::from(is_stuck);
            silent += 1;
        }
        (stuck, silent)
    }

    /// Continues to observe the threads that run and need slots.
    fn observe(&mut self, pool: &PoolInner, ledger: &Ledger, waits: bool, now: Nanos) {
        let before = std::mem::take(&mut self.threads);
        self.threads.resize(pool.worker_count(), None);
        // A thread that has just been given a slot may have no worker yet.
        for worker in candidates(pool, ledger).filter_map(|t| pool.worker_if(t)) {
            let silence = before.get(worker.index).copied().flatten();
            let silence = silence.filter(|silence| match pool.preempts() {
                true => worker.deque.raised() & signal::PROBE != 0,
                false => worker.tally.base_tasks.get() == silence.begun,
            });
            if waits && silence.is_none() && pool.preempts() {
                worker.deque.raise(signal::PROBE);
            }
            let silence = silence.map_or_else(
                || waits.then(|| Silence::begin(worker, now)),
                |silence| Some(silence.go_on(pool, worker, now)),
            );
            if let Some(place) = self.threads.get_mut(worker.index) {
                *place = silence;
            }
        }
    }

    /// If a turn has ended, asks as many holders to give up their slots as there are threads that
    /// are owed one.
    pub(super) fn take_turns(&mut self, pool: &PoolInner, ledger: &Ledger, now: Nanos) {
        if !ledger.owes() {
            self.turned = None;
            return;
        }
        let last = *self.turned.get_or_insert(now);
        if !is_next_turn(last, now) {
            return;
        }
        self.turned = Some(now);
        let (first, second): (Vec<usize>, Vec<usize>) =
            ledger.holders().partition(|t| *t >= self.next);
        let chosen = first.into_iter().chain(second).take(ledger.owed());
        wake::raise_at(pool, chosen.inspect(|t| self.next = t + 1), signal::TURN);
    }
}

/// Returns the threads that run and hold slots, or would get free ones. A thread that rose for its
/// part of a broadcast gets none, so a slot lent for it would go to another thread.
fn candidates(pool: &PoolInner, ledger: &Ledger) -> impl Iterator<Item = usize> {
    let needs_slot = |worker: &Worker| !worker.sleeper.needs_no_slot();
    ledger
        .running()
        .filter(move |t| pool.worker_if(*t).is_none_or(needs_slot))
}

impl Silence {
    fn begin(worker: &Worker, now: Nanos) -> Self {
        Self {
            since: now,
            begun: worker.tally.base_tasks.get(),
            computed: worker.computed.read(),
            stuck: None,
        }
    }

    /// Checks again whether the thread is stuck, if enough time has passed since the last check.
    fn go_on(self, pool: &PoolInner, worker: &Worker, now: Nanos) -> Self {
        let computed = worker.computed.read();
        // If the system does not report processor times, or another thread has this number now, the
        // thread counts as computing.
        let since = |then| computed.and_then(|computed| computed.checked_sub(then));
        let spent = match pool.preempts() {
            true => self.computed.and_then(since).unwrap_or(Nanos::MAX),
            // The thread keeps its slot until its task ends, whether it computes or not.
            false => 0,
        };
        match is_stuck(now.saturating_sub(self.since), spent) {
            None => self,
            stuck => Self {
                since: now,
                computed,
                stuck,
                ..self
            },
        }
    }
}
