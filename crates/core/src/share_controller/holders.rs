//! The threads that hold slots. In each cycle, the share controller checks which of them are stuck,
//! and which must give their slot to another thread.

use crate::pool::{PoolInner, signal};
use crate::sleep::wake;
use crate::worker::Worker;
use tidegate_policy::Nanos;
use tidegate_policy::share::{beside_long_tasks, is_next_turn, is_stuck};
use tidegate_policy::slots::{Ledger, Status};

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
        let preempts = pool.preempts();
        let (mut running, mut judged, mut stuck) = (0, 0, 0);
        for t in ledger.running() {
            // If the pool does not preempt, a thread that runs without a slot would get a lent one
            // before a waiting task does.
            let counts = if preempts {
                ledger.status(t) == Status::Running
            } else {
                needs_slot(pool, t)
            };
            if !counts {
                continue;
            }
            running += 1;
            if let Some(is_stuck) = self.threads.get(t).and_then(|it| it.as_ref()?.stuck) {
                judged += 1;
                stuck += usize::from(is_stuck);
            }
        }
        if preempts {
            (stuck, judged)
        } else {
            (beside_long_tasks(judged, running, waits), 0)
        }
    }

    /// Continues to observe the threads that run and need slots.
    fn observe(&mut self, pool: &PoolInner, ledger: &Ledger, waits: bool, now: Nanos) {
        let before = std::mem::take(&mut self.threads);
        self.threads.resize(pool.worker_count(), None);
        // A thread that has just been given a slot may have no worker yet.
        for t in ledger.running() {
            let worker = pool.worker_if(t);
            let Some(worker) = worker.filter(|worker| !worker.sleeper.needs_no_slot()) else {
                continue;
            };
            let is_silent = |silence: &Silence| {
                if pool.preempts() {
                    worker.deque.raised() & signal::PROBE != 0
                } else {
                    worker.tally.base_tasks.get() == silence.begun
                }
            };
            let silence = match before.get(t) {
                Some(Some(silence)) if is_silent(silence) => silence.go_on(pool, worker, now),
                _ if waits => {
                    if pool.preempts() {
                        worker.deque.raise(signal::PROBE);
                    }
                    Silence::begin(worker, now)
                }
                _ => continue,
            };
            if let Some(place) = self.threads.get_mut(t) {
                *place = Some(silence);
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
        let mut owed = ledger.owed();
        for part in [self.next..usize::MAX, 0..self.next] {
            for t in ledger.holders() {
                if owed > 0 && part.contains(&t) {
                    (owed, self.next) = (owed - 1, t + 1);
                    wake::raise_at(pool, std::iter::once(t), signal::TURN);
                }
            }
        }
    }
}

/// Whether a thread that runs has a slot, or would get a free one. A thread that rose for its part
/// of a broadcast gets none, so a slot lent for it would go to another thread.
fn needs_slot(pool: &PoolInner, t: usize) -> bool {
    let worker = pool.worker_if(t);
    worker.is_none_or(|worker| !worker.sleeper.needs_no_slot())
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
        let spent = if pool.preempts() {
            self.computed.and_then(since).unwrap_or(Nanos::MAX)
        } else {
            // The thread keeps its slot until its task ends, whether it computes or not.
            0
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
