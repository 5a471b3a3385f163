//! Reports a pool that stands still; docs/sleep.md says when it does, and who looks.

use crate::cells::Hint;
use crate::options::Options;
use crate::pool::PoolInner;
use crate::worker::Worker;
use std::fmt;
use std::time::Duration;
use tidegate_policy::slots::Status;
use tidegate_policy::{Nanos, WaitPolicy, stall};
use tidegate_sync::clock;
use tidegate_sync::lock::Mutex;
use tidegate_sync::park::Parker;
use tidegate_sync::stderr::print_line;

/// What the looks at a pool have found.
pub(crate) struct Stall {
    /// After how long to report; `None` if the pool never reports.
    after: Option<Nanos>,
    /// Whether the pool has reported.
    has_reported: Hint<bool>,
    watch: Mutex<stall::Watch>,
}

impl Stall {
    pub(crate) fn new(options: &Options) -> Self {
        Self {
            after: options.stall_report(),
            has_reported: Hint::default(),
            watch: Mutex::default(),
        }
    }

    /// Returns after how long to report, unless the pool has reported or never does.
    pub(crate) fn after(&self) -> Option<Nanos> {
        self.after.filter(|_| !self.has_reported.get())
    }
}

/// Returns how long a thread that waits parks until it looks at the pool. `None` if it need not
/// look.
pub(super) fn pause(pool: &PoolInner) -> Option<Nanos> {
    pool.stall.after().map(|after| after / 2)
}

/// Parks a thread outside the pool that waits for one of its tasks.
pub(crate) fn park(pool: &PoolInner, parker: &Parker) {
    match pause(pool).map(Duration::from_nanos) {
        Some(pause) if !parker.park_timeout(pause) => look(pool),
        Some(_) => {}
        None => parker.park(),
    }
}

/// Looks whether the pool stands still. If so, reports it, once.
pub(crate) fn look(pool: &PoolInner) {
    let Some(after) = pool.stall.after() else {
        return;
    };
    let now = clock::now();
    let mut watch = pool.stall.watch.lock();
    if !watch.is_due(now, after) {
        return;
    }
    let times = pool.workers().filter_map(|worker| worker.computed.read());
    // The system may not report processor times.
    let Some(computed) = times.reduce(|a, b| a + b) else {
        return;
    };
    let begun = pool.workers().map(|worker| worker.tally.tasks.get()).sum();
    let stands_for = watch.look(now, begun, computed, after);
    drop(watch);
    if stands_for < after {
        return;
    }
    let report = Report::of(pool, after);
    let holds_up = report.tasks + report.sleeping.len() > 0;
    if holds_up && !pool.stall.has_reported.swap(true) {
        print_line(format_args!(
            "pool {}: {report}",
            pool.name().escape_debug()
        ));
    }
}

/// What the tasks and threads of a pool do that stands still.
struct Report<'a> {
    after: Nanos,
    /// The workers that run a task.
    sleeping: Vec<&'a Worker>,
    /// How many tasks have not begun.
    tasks: usize,
    /// How many threads wait for tasks, for memory or for a slot.
    waiting: usize,
    /// How many threads are in calls of `blocking`.
    blocked: usize,
    helps_any: bool,
    /// In a closed pool, `blocking` lets no other thread work.
    is_closed: bool,
}

impl<'a> Report<'a> {
    fn of(pool: &'a PoolInner, after: Nanos) -> Self {
        let kept = |worker: &Worker| worker.deque.waiting() as usize + worker.stolen_batch.len();
        let ledger = pool.ledger();
        let count = |counts: &[Status]| {
            let members = ledger.members();
            members
                .filter(|(_, status)| counts.contains(status))
                .count()
        };
        // Other workers hold a slot while they search, or nap between two looks.
        let runs_task =
            |worker: &&Worker| worker.membership.is_guest.get() || worker.victim.is_busy.get();
        let running = ledger.running().filter_map(|t| pool.worker_if(t));
        Self {
            after,
            sleeping: running.filter(runs_task).collect(),
            tasks: pool.queued() + pool.workers().map(kept).sum::<usize>(),
            waiting: count(&[Status::Waiting, Status::Owed]),
            blocked: count(&[Status::Blocked]),
            helps_any: pool.options.wait == WaitPolicy::HelpAny,
            is_closed: pool.options.closed.is_some(),
        }
    }
}

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "nothing has moved for {} s", self.after / 1_000_000_000)?;
        for worker in &self.sleeping {
            write!(f, "; worker {} sleeps in ", worker.index)?;
            match worker.spawned_at() {
                Some(at) => write!(f, "the task spawned at {at}")?,
                None => f.write_str("a future, or a task of a scope, a loop, a join or install")?,
            }
        }
        let counts = [
            (self.tasks, "tasks that have not begun"),
            (self.waiting, "threads of the pool that wait for tasks"),
            (self.blocked, "threads in tidegate::blocking"),
        ];
        for (count, what) in counts.into_iter().filter(|(count, _)| *count > 0) {
            write!(f, "; {what}: {count}")?;
        }
        f.write_str(". ")?;
        if !self.is_closed {
            f.write_str(
                "Wrap calls that block in tidegate::blocking, so that other tasks can run. ",
            )?;
        }
        if !self.helps_any {
            f.write_str(
                "If a task waits for another one that gets no thread, set \
                TIDEGATE_WAIT=help-any. ",
            )?;
        }
        f.write_str("TIDEGATE_STALL_REPORT=0 turns this line off")
    }
}
