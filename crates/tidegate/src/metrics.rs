//! Prints [`Stats`] in the text format of Prometheus, version 0.0.4. Needs the feature `metrics`.
//!
//! The program serves the text itself, with the content type `text/plain; version=0.0.4`. Tidegate
//! opens no port.
//!
//! A pool has some 70 series, and 24 more for each worker it has had, spare threads and guests
//! included. If that is too much for a large pool, let Prometheus drop the series with the label
//! `worker`, or sum them when it stores them.
//!
//! Every sample has the label `pool`. The samples of a single worker also have the label `worker`,
//! an index into [`Stats::per_worker`]. Counters and histograms start at 0 when the pool is
//! created. Times are in seconds.
//!
//! | name | type | further labels | value |
//! |---|---|---|---|
//! | `tidegate_workers` | gauge | | [`Stats::workers`] |
//! | `tidegate_allotment` | gauge | | [`Stats::allotment`] |
//! | `tidegate_desire` | gauge | | [`Stats::desire`], if the pool shares the machine |
//! | `tidegate_queued_tasks` | gauge | | [`Stats::queued`] |
//! | `tidegate_unhandled_panics_total` | counter | | [`Stats::panics`] |
//! | `tidegate_blocking_limit_hits_total` | counter | | [`Stats::blocking_limit_hits`] |
//! | `tidegate_memory_declared_bytes` | gauge | | [`MemoryStats::declared`] |
//! | `tidegate_memory_peak_bytes` | gauge | | [`MemoryStats::peak`] |
//! | `tidegate_memory_sleeps_total` | counter | | [`MemoryStats::sleeps`] |
//! | `tidegate_queue_wait_seconds` | histogram | | [`Stats::queue_wait`] |
//! | `tidegate_steal_latency_seconds` | histogram | | [`Stats::steal_latency`] |
//! | `tidegate_activity_seconds_total` | counter | `worker`, `activity` | a field of [`Breakdown`], which the label names |
//! | `tidegate_waiting_seconds_total` | counter | `worker`, `reason` | a field of [`Waiting`], which the label names |
//! | `tidegate_dispatched_tasks_total` | counter | `worker` | [`Counters::dispatched`] |
//! | `tidegate_stolen_joins_total` | counter | `worker` | [`Counters::stolen_joins`] |
//! | `tidegate_takes_total` | counter | `worker` | [`Counters::takes`] |
//! | `tidegate_failed_takes_total` | counter | `worker` | [`Counters::failed_takes`] |
//! | `tidegate_steal_attempts_total` | counter | `worker` | [`Counters::attempts`] |
//! | `tidegate_steals_total` | counter | `worker` | [`Counters::steals`] |
//! | `tidegate_failed_steals_total` | counter | `worker`, `reason` | `busy`: [`Counters::failed_busy`]; `empty`: [`Counters::failed_empty`] |
//! | `tidegate_stolen_tasks_total` | counter | `worker` | the tasks taken by these steals |
//! | `tidegate_sleeps_total` | counter | `worker` | [`Counters::sleeps`] |
//! | `tidegate_wakes_total` | counter | `worker` | [`Counters::wakes`] |
//! | `tidegate_handovers_total` | counter | `worker` | [`Counters::handovers`] |
//! | `tidegate_overcommitted_total` | counter | `worker` | [`Counters::overcommitted`] |
//! | `tidegate_rescues_total` | counter | `worker` | [`Counters::rescues`] |
//! | `tidegate_max_depth` | gauge | `worker` | [`Counters::max_depth`] |

mod families;

#[cfg(doc)]
use tidegate_core::{Breakdown, Counters, MemoryStats, Waiting};

use families::FAMILIES;
use std::collections::HashSet;
use std::fmt;
use tidegate_core::Histogram;
use tidegate_core::Stats;
use tidegate_core::WorkerStats;

/// Returns the statistics of these pools, each with a name, as one text.
///
/// A text may contain each metric only once, so a program with several pools passes all of them in
/// one call. [`Pool::stats`](crate::Pool::stats) describes what reading the statistics costs, which
/// is little if Prometheus fetches the text every few seconds.
///
/// ```
/// use tidegate::{Pool, metrics};
///
/// let pool = Pool::builder().workers(2).build()?;
/// let text = metrics::prometheus(&[("requests", pool.stats())]);
/// assert!(text.contains("\ntidegate_workers{pool=\"requests\"} 2\n"));
/// # Ok::<(), tidegate::BuildError>(())
/// ```
///
/// # Panics
/// If two pools have the same name. Their series would be the same, and Prometheus would reject the
/// whole text.
#[must_use]
#[track_caller]
pub fn prometheus(pools: &[(&str, Stats)]) -> String {
    let mut names = HashSet::new();
    for (name, _) in pools {
        assert!(
            names.insert(name),
            "prometheus: two pools have the name {name:?}"
        );
    }
    Exposition(pools).to_string()
}

struct Exposition<'a>(&'a [(&'a str, Stats)]);

impl fmt::Display for Exposition<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        FAMILIES.iter().try_for_each(|family| {
            let Family { name, help, .. } = family;
            writeln!(f, "# HELP {name} {help}")?;
            writeln!(f, "# TYPE {name} {}", family.kind)?;
            let mut pools = self.0.iter();
            pools.try_for_each(|(pool, stats)| family.write(Label(pool), stats, f))
        })
    }
}

/// A metric, with the samples of all pools.
struct Family {
    name: &'static str,
    kind: &'static str,
    help: &'static str,
    values: Values,
}

/// Where the values of a metric come from.
enum Values {
    OfPool(fn(&Stats) -> f64),
    OfSomePools(fn(&Stats) -> Option<f64>),
    Histogram(fn(&Stats) -> &Histogram),
    OfWorkers(fn(&WorkerStats) -> f64),
    /// One value for each value of a further label.
    By(&'static str, &'static [Part]),
}

type Part = (&'static str, fn(&WorkerStats) -> f64);

impl Family {
    fn write(&self, pool: Label<'_>, stats: &Stats, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name;
        let mut workers = stats.per_worker.iter().enumerate();
        match self.values {
            Values::OfPool(value) => writeln!(f, "{name}{{pool=\"{pool}\"}} {}", value(stats)),
            Values::OfSomePools(value) => {
                let mut value = value(stats).into_iter();
                value.try_for_each(|value| writeln!(f, "{name}{{pool=\"{pool}\"}} {value}"))
            }
            Values::Histogram(of) => write_histogram(name, pool, of(stats), f),
            Values::OfWorkers(value) => workers.try_for_each(|(index, worker)| {
                let value = value(worker);
                writeln!(f, "{name}{{pool=\"{pool}\",worker=\"{index}\"}} {value}")
            }),
            Values::By(label, parts) => workers.try_for_each(|(index, worker)| {
                parts.iter().try_for_each(|(part, value)| {
                    let value = value(worker);
                    writeln!(
                        f,
                        "{name}{{pool=\"{pool}\",worker=\"{index}\",{label}=\"{part}\"}} {value}"
                    )
                })
            }),
        }
    }
}

fn write_histogram(
    name: &str,
    pool: Label<'_>,
    histogram: &Histogram,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    let finite = Histogram::BOUNDS.iter().map(ToString::to_string);
    let bounds = finite.chain(["+Inf".to_owned()]);
    let mut sum = 0;
    for (bound, count) in bounds.zip(histogram.counts) {
        sum += count;
        writeln!(f, "{name}_bucket{{pool=\"{pool}\",le=\"{bound}\"}} {sum}")?;
    }
    writeln!(f, "{name}_sum{{pool=\"{pool}\"}} {}", histogram.sum)?;
    writeln!(f, "{name}_count{{pool=\"{pool}\"}} {sum}")
}

/// The value of a label. The format requires that backslashes, quotes and newlines are escaped.
#[derive(Clone, Copy)]
struct Label<'a>(&'a str);

impl fmt::Display for Label<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fmt::Write;
        self.0.chars().try_for_each(|c| match c {
            '\\' => f.write_str("\\\\"),
            '"' => f.write_str("\\\""),
            '\n' => f.write_str("\\n"),
            _ => f.write_char(c),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn worker() -> WorkerStats {
        let mut worker = WorkerStats::default();
        let counters = &mut worker.counters;
        (counters.dispatched, counters.stolen_joins) = (10, 3);
        (counters.takes, counters.failed_takes) = (2, 1);
        (counters.attempts, counters.steals) = (9, 3);
        (counters.failed_busy, counters.failed_empty) = (2, 4);
        (counters.tasks_per_steal, counters.max_depth) = (4.0 / 3.0, 20);
        (counters.sleeps, counters.wakes, counters.handovers) = (6, 5, 7);
        (counters.overcommitted, counters.rescues) = (11, 12);
        let breakdown = &mut worker.breakdown;
        (breakdown.busy, breakdown.stealing) = (1.5, 0.25);
        (breakdown.asleep, breakdown.ready_not_running) = (2.0, 1e-9);
        let waiting = &mut worker.waiting;
        (waiting.no_work, waiting.latch, waiting.memory) = (0.5, 0.125, 1.0);
        (waiting.blocked, waiting.ready) = (0.375, 1e-9);
        worker
    }

    fn stats() -> Stats {
        let mut queue_wait = Histogram::default();
        queue_wait.counts[..3].copy_from_slice(&[5, 0, 1]);
        queue_wait.sum = 1.5e-6;
        let mut stats = Stats::default();
        (stats.workers, stats.allotment, stats.desire) = (2, 1, Some(18));
        (stats.queued, stats.panics, stats.blocking_limit_hits) = (19, 13, 14);
        let memory = &mut stats.memory;
        (memory.declared, memory.peak, memory.sleeps) = (15, 16, 17);
        stats.queue_wait = queue_wait;
        stats.per_worker = vec![worker(), WorkerStats::default()];
        stats
    }

    /// After an intended change, write `text` to the file.
    #[test]
    fn text_matches_snapshot() {
        let text = prometheus(&[("a", stats()), ("b", Stats::default())]);
        assert_eq!(text, include_str!("metrics/snapshot.txt"));
    }

    #[test]
    #[should_panic(expected = "two pools have the name \"a\"")]
    fn equal_names_are_refused() {
        let _ = prometheus(&[("a", stats()), ("b", stats()), ("a", stats())]);
    }

    #[test]
    fn documentation_lists_every_metric() {
        let page = include_str!("metrics.rs");
        let rows = page.lines().filter_map(|line| {
            let mut cells = line.strip_prefix("//! | `tidegate_")?.split("` | ");
            Some((cells.next()?, cells.next()?.split(' ').next()?))
        });
        let families = FAMILIES.iter().map(|family| {
            let name = family.name.strip_prefix("tidegate_").expect("the prefix");
            (name, family.kind)
        });
        assert_eq!(rows.collect::<Vec<_>>(), families.collect::<Vec<_>>());
    }
}
