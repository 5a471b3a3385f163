//! The metrics, with their names and the sources of their values.

use super::{Family, Part, Values};
use tidegate_core::Histogram;
use tidegate_core::Stats;

const fn counter(name: &'static str, help: &'static str, values: Values) -> Family {
    Family {
        name,
        kind: "counter",
        help,
        values,
    }
}

const fn gauge(name: &'static str, help: &'static str, values: Values) -> Family {
    Family {
        kind: "gauge",
        ..counter(name, help, values)
    }
}

const fn histogram(name: &'static str, help: &'static str, of: fn(&Stats) -> &Histogram) -> Family {
    Family {
        kind: "histogram",
        ..counter(name, help, Values::Histogram(of))
    }
}

const ACTIVITIES: &[Part] = &[
    ("busy", |worker| worker.breakdown.busy),
    ("stealing", |worker| worker.breakdown.stealing),
    ("asleep", |worker| worker.breakdown.asleep),
    ("ready_not_running", |worker| {
        worker.breakdown.ready_not_running
    }),
];

const REASONS_TO_WAIT: &[Part] = &[
    ("no_work", |worker| worker.waiting.no_work),
    ("latch", |worker| worker.waiting.latch),
    ("memory", |worker| worker.waiting.memory),
    ("blocked", |worker| worker.waiting.blocked),
    ("ready", |worker| worker.waiting.ready),
];

const REASONS_TO_FAIL: &[Part] = &[
    ("busy", |worker| worker.counters.failed_busy as f64),
    ("empty", |worker| worker.counters.failed_empty as f64),
];

/// In the order of the table in the module's documentation.
#[rustfmt::skip]
pub(super) const FAMILIES: &[Family] = &[
    gauge("tidegate_workers", "Workers that may run at once if no other job needs the CPUs.", Values::OfPool(|stats| stats.workers as f64)),
    gauge("tidegate_allotment", "Workers that may run now, given the other jobs.", Values::OfPool(|stats| stats.allotment as f64)),
    gauge("tidegate_desire", "Workers that the pool could use now.", Values::OfSomePools(|stats| stats.desire.map(|desire| desire as f64))),
    gauge("tidegate_queued_tasks", "Tasks that wait in the queues of the pool.", Values::OfPool(|stats| stats.queued as f64)),
    counter("tidegate_unhandled_panics_total", "Panics that no join, scope or handle could return to a caller.", Values::OfPool(|stats| stats.panics as f64)),
    counter("tidegate_blocking_limit_hits_total", "Times that a ready task waited because too many threads were in blocking calls.", Values::OfPool(|stats| stats.blocking_limit_hits as f64)),
    gauge("tidegate_memory_declared_bytes", "Memory that tasks have reserved.", Values::OfPool(|stats| stats.memory.declared as f64)),
    gauge("tidegate_memory_peak_bytes", "Largest amount of memory that tasks have had reserved.", Values::OfPool(|stats| stats.memory.peak as f64)),
    counter("tidegate_memory_sleeps_total", "Times that a task slept to wait for a reservation.", Values::OfPool(|stats| stats.memory.sleeps as f64)),
    histogram("tidegate_queue_wait_seconds", "Time that spawned tasks waited in the pool's queue, for one in 64 of them.", |stats| &stats.queue_wait),
    histogram("tidegate_steal_latency_seconds", "Time that workers without a task took to steal one.", |stats| &stats.steal_latency),
    counter("tidegate_activity_seconds_total", "Time of the worker by activity.", Values::By("activity", ACTIVITIES)),
    counter("tidegate_waiting_seconds_total", "Time of the worker without a slot, by reason.", Values::By("reason", REASONS_TO_WAIT)),
    counter("tidegate_dispatched_tasks_total", "Tasks that went through a scheduler loop.", Values::OfWorkers(|worker| worker.counters.dispatched as f64)),
    counter("tidegate_stolen_joins_total", "Joins whose second half was stolen.", Values::OfWorkers(|worker| worker.counters.stolen_joins as f64)),
    counter("tidegate_takes_total", "Attempts to take a task from the worker's own alternative queue.", Values::OfWorkers(|worker| worker.counters.takes as f64)),
    counter("tidegate_failed_takes_total", "Attempts to take a task from the worker's own alternative queue that found none.", Values::OfWorkers(|worker| worker.counters.failed_takes as f64)),
    counter("tidegate_steal_attempts_total", "Attempts to steal.", Values::OfWorkers(|worker| worker.counters.attempts as f64)),
    counter("tidegate_steals_total", "Attempts to steal that succeeded.", Values::OfWorkers(|worker| worker.counters.steals as f64)),
    counter("tidegate_failed_steals_total", "Attempts to steal that failed, by reason.", Values::By("reason", REASONS_TO_FAIL)),
    counter("tidegate_stolen_tasks_total", "Tasks taken by steals.", Values::OfWorkers(|worker| { let counters = &worker.counters; (counters.tasks_per_steal * counters.steals as f64).round() })),
    counter("tidegate_sleeps_total", "Times that the worker went to sleep.", Values::OfWorkers(|worker| worker.counters.sleeps as f64)),
    counter("tidegate_wakes_total", "Times that the worker was woken.", Values::OfWorkers(|worker| worker.counters.wakes as f64)),
    counter("tidegate_handovers_total", "Slots that were handed to a waiting worker when its latch opened.", Values::OfWorkers(|worker| worker.counters.handovers as f64)),
    counter("tidegate_overcommitted_total", "Times that a thread ran without a slot because its grace was over.", Values::OfWorkers(|worker| worker.counters.overcommitted as f64)),
    counter("tidegate_rescues_total", "Unrelated tasks that ran on top of a waiting frame because no other thread could run them.", Values::OfWorkers(|worker| worker.counters.rescues as f64)),
    gauge("tidegate_max_depth", "Largest number of forks that were open at once on one stack.", Values::OfWorkers(|worker| worker.counters.max_depth as f64)),
];
