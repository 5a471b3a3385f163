//! What a pool reports about itself: counters and traces.
//!
//! All functions are `#[inline]`, and so is what only they call: few programs call them, and the
//! others should not have to compile them.

use super::PoolInner;
use crate::stats::{Stats, WorkerStats};
use crate::trace::Trace;
use tidegate_policy::trace::Source;
use tidegate_sync::atomic::Ordering;

/// Returns the pool's statistics since its creation.
#[inline]
pub(crate) fn stats(pool: &PoolInner) -> Stats {
    let controller = pool.controller.as_ref();
    let mut sum = Stats {
        memory: pool.memory.stats(),
        workers: pool.wanted(),
        allotment: pool.sleep.slots(),
        desire: controller.map(|controller| controller.desire.get()),
        queued: pool.queued(),
        panics: pool.panics.count(),
        // Relaxed: a counter.
        blocking_limit_hits: pool.blocking_limit_hits.load(Ordering::Relaxed),
        ..Stats::default()
    };
    for worker in pool.workers() {
        let (wakes, deepest) = (worker.sleeper.wakes(), worker.deque.deepest());
        let worker = WorkerStats::of(&worker.tally, wakes, deepest);
        sum.counters.add(&worker.counters);
        sum.breakdown.busy += worker.breakdown.busy;
        sum.breakdown.stealing += worker.breakdown.stealing;
        sum.breakdown.asleep += worker.breakdown.asleep;
        sum.breakdown.ready_not_running += worker.breakdown.ready_not_running;
        sum.waiting.no_work += worker.waiting.no_work;
        sum.waiting.latch += worker.waiting.latch;
        sum.waiting.memory += worker.waiting.memory;
        sum.waiting.blocked += worker.waiting.blocked;
        sum.waiting.ready += worker.waiting.ready;
        sum.queue_wait.add(&worker.queue_wait);
        sum.steal_latency.add(&worker.steal_latency);
        sum.per_worker.push(worker);
    }
    sum
}

/// Returns the trace so far, if the pool records one.
#[inline]
pub(crate) fn trace(pool: &PoolInner) -> Option<Trace> {
    let options = &pool.options;
    options.trace.then(|| {
        let workers = pool
            .workers()
            .filter_map(|worker| worker.notes.stream(Source::Worker(worker.index)));
        let controller = pool.controller.as_ref();
        let controller =
            controller.and_then(|controller| controller.notes.stream(Source::ShareController));
        let plan = pool.memory.trace();
        let streams = workers.chain(controller).chain(plan).collect();
        Trace {
            rules: options.rules(),
            // Read after the streams, so that it has all origins to which they refer.
            origins: pool.origins.table(),
            streams,
        }
    })
}
