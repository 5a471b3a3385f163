//! Prints a pool's counters as JSON and as text. The names are those of the fields of [`Stats`].

use std::fmt;

use serde_json::{Map, Value, json};
use tidegate::{Breakdown, Counters, Stats, Waiting};

use tidegate_cli_support::output::{WIDTH, show_count, show_seconds, show_value};

pub fn counters(counters: &Counters) -> Value {
    json!({
        "dispatched": counters.dispatched,
        "stolen_joins": counters.stolen_joins,
        "takes": counters.takes,
        "failed_takes": counters.failed_takes,
        "attempts": counters.attempts,
        "steals": counters.steals,
        "failed_busy": counters.failed_busy,
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

/// Returns the seconds that were spent on each activity, in total and by each worker.
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

/// Returns the seconds that workers spent without a slot, for each reason.
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

/// Writes the sums of all workers' counters and times.
pub fn write(stats: &Stats, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if let Value::Object(counters) = counters(&stats.counters) {
        let words = counters.iter();
        let words = words.map(|(name, value)| format!("{name}={}", show_value(value)));
        wrapped(f, "counters", words)?;
    }
    let split = split(&stats.breakdown);
    let words = split.iter().map(|(name, seconds)| {
        let seconds = show_seconds(seconds.as_f64().unwrap_or_default());
        format!("{name} {seconds},")
    });
    // The number of threads can exceed the number of slots: it includes spare threads, guests and
    // waiters without a slot.
    let threads = show_count(stats.per_worker.len(), "thread");
    let total = format!("total of {threads}, with or without a slot");
    wrapped(f, "time split", words.chain([total]))
}

/// Writes words in lines of at most 80 characters. The first line begins with the label.
fn wrapped(
    f: &mut fmt::Formatter<'_>,
    label: &str,
    words: impl Iterator<Item = String>,
) -> fmt::Result {
    let mut line = format!("{label:<11}");
    for word in words {
        if line.len() + 1 + word.len() > WIDTH {
            writeln!(f, "{line}")?;
            line = " ".repeat(11);
        }
        line = format!("{line} {word}");
    }
    writeln!(f, "{line}")
}
