//! What a worker tells of itself. Each event goes to its counters, to the recorded trace, and to
//! the `tracing` crate.

use super::{Worker, WorkerThread};
use crate::events;
use crate::pool::PoolInner;
use crate::stats::Phase;
use crate::trace::Event;

/// Enters a phase and returns the previous one.
pub(crate) fn enter_phase(worker: WorkerThread<'_>, phase: Phase) -> Phase {
    worker.notes.note(Event::Phase, &[phase as u64]);
    worker.tally.phases.enter(phase)
}

/// Tells that the worker has taken tasks from `victim`.
pub(crate) fn stole(worker: WorkerThread<'_>, victim: &Worker, tasks: u64) {
    worker.tally.steals.add(1);
    worker.tally.stolen_tasks.add(tasks);
    worker
        .notes
        .note(Event::Stole, &[victim.index as u64, tasks]);
    events::steal(worker.pool().name(), worker.index, victim.index, tasks);
}

/// Tells that the worker goes to sleep in phase `why`. Returns the phase in which it was.
pub(crate) fn parks(worker: WorkerThread<'_>, why: Phase) -> Phase {
    events::park(worker.pool().name(), worker.index, why);
    enter_phase(worker, why)
}

/// Tells that the calling thread wakes worker `t`.
pub(crate) fn wakes(pool: &PoolInner, t: usize) {
    events::wake(pool.name(), t);
}

/// Tells that the worker has given its slot to worker `to`, whose latch it has opened.
pub(crate) fn hands_over(worker: WorkerThread<'_>, to: usize) {
    worker.tally.handovers.add(1);
    events::hand_over(worker.pool().name(), worker.index, to);
}
