//! What a pool counted, as JSON and as text.
//!
//! The names are those of [`Stats`]; whatever else reads these numbers finds them under the same.

use std::fmt;

use serde_json::{Map, Value, json};
use tidegate::{Breakdown, Counters, Stats, Waiting};

use tidegate_command::output::{show_count, show_fields, show_seconds};

/// How often things happened.
pub fn counters(counters: &Counters) -> Value {
    json!({
        "dispatched": counters.dispatched,
        "stolen_joins": counters.stolen_joins,
        "takes": counters.takes,
        "failed_takes": counters.failed_takes,
        "attempts": counters.attempts,
        "steals": counters.steals,
        "failed_lost_race": counters.failed_lost_race,
        "failed_empty": counters.failed_empty,
        "tasks_per_steal": counters.tasks_per_steal,
        "sleeps": counters.sleeps,
        "asleep_seconds": counters.asleep_seconds,
        "wakes": counters.wakes,
        "handovers": counters.handovers,
        "max_depth": counters.max_depth,
        "overcommitted": counters.overcommitted,
        "rescues": counters.rescues,
    })
}

/// Where the time went, in seconds, summed and by worker.
pub fn breakdown(stats: &Stats) -> Value {
    let mut sum = split(&stats.breakdown);
    let workers = stats.per_worker.iter();
    let each = workers.map(|worker| split(&worker.breakdown).into());
    sum.insert("per_worker".into(), Value::Array(each.collect()));
    sum.into()
}

fn split(breakdown: &Breakdown) -> Map<String, Value> {
    times([
        ("busy", breakdown.busy),
        ("stealing", breakdown.stealing),
        ("asleep", breakdown.asleep),
        ("ready_not_running", breakdown.ready_not_running),
    ])
}

/// Time without a slot, in seconds, by reason.
pub fn waiting(waiting: &Waiting) -> Value {
    times([
        ("no_work", waiting.no_work),
        ("latch", waiting.latch),
        ("memory", waiting.memory),
        ("blocked", waiting.blocked),
        ("ready", waiting.ready),
    ])
    .into()
}

fn times<const N: usize>(times: [(&str, f64); N]) -> Map<String, Value> {
    times
        .into_iter()
        .map(|(name, seconds)| (name.to_owned(), seconds.into()))
        .collect()
}

/// Writes counters and the split of time, summed over workers.
pub fn write(stats: &Stats, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if let Value::Object(counters) = counters(&stats.counters) {
        writeln!(f, "counters    {}", show_fields(&counters))?;
    }
    let split = split(&stats.breakdown);
    let words = split.iter().map(|(name, seconds)| {
        let seconds = show_seconds(seconds.as_f64().unwrap_or_default());
        format!("{name} {seconds}")
    });
    let words: Vec<_> = words.collect();
    // More than the slots: spare threads, guests, and who sleeps without a slot.
    let threads = show_count(stats.per_worker.len(), "thread");
    let words = words.join(", ");
    writeln!(
        f,
        "time split  {words}, summed over {threads}, also while without a slot"
    )
}
