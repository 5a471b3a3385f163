//! Statistics as text, for a log or a terminal.

use super::{Counters, Stats};
use std::fmt;

impl fmt::Display for Stats {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (workers, allotment) = (self.workers, self.allotment);
        writeln!(f, "workers: {workers}, of which {allotment} may run now")?;
        writeln!(f, "{}", self.counters)?;
        let time = &self.breakdown;
        write!(
            f,
            "time: {:.3} s busy, {:.3} s stealing, {:.3} s asleep, {:.3} s ready but not running",
            time.busy, time.stealing, time.asleep, time.ready_not_running
        )?;
        let waited = [
            ("queue wait", &self.queue_wait),
            ("steal latency", &self.steal_latency),
        ];
        for (name, histogram) in waited {
            if histogram.count() > 0 {
                write!(f, "\n{name}: {histogram}")?;
            }
        }
        let memory = &self.memory;
        if memory.peak > 0 {
            let (declared, peak, sleeps) = (memory.declared, memory.peak, memory.sleeps);
            write!(
                f,
                "\nmemory: {declared} bytes declared, at most {peak}, {sleeps} waits"
            )?;
        }
        let hits = self.blocking_limit_hits;
        if hits > 0 {
            write!(
                f,
                "\nblocking: limit of blocking threads reached {hits} times"
            )?;
        }
        if self.panics > 0 {
            write!(f, "\npanics: {} unhandled", self.panics)?;
        }
        Ok(())
    }
}

impl fmt::Display for Counters {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (dispatched, joins) = (self.dispatched, self.stolen_joins);
        writeln!(
            f,
            "tasks: {dispatched} dispatched, {joins} joins with a stolen half"
        )?;
        let (steals, attempts, each) = (self.steals, self.attempts, self.tasks_per_steal);
        writeln!(
            f,
            "steals: {steals} of {attempts} attempts, {each:.1} tasks each; \
             {} failed at a busy victim, {} found nothing",
            self.failed_busy, self.failed_empty
        )?;
        write!(f, "sleeps: {}, with {} wake-ups", self.sleeps, self.wakes)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Breakdown, Counters, Histogram, MemoryStats, Stats};

    fn stats() -> Stats {
        Stats {
            workers: 4,
            allotment: 2,
            counters: Counters {
                dispatched: 10,
                stolen_joins: 3,
                attempts: 9,
                steals: 4,
                tasks_per_steal: 1.25,
                failed_busy: 2,
                failed_empty: 5,
                sleeps: 6,
                wakes: 5,
                ..Counters::default()
            },
            breakdown: Breakdown {
                busy: 1.5,
                stealing: 0.25,
                asleep: 2.0,
                ready_not_running: 0.0004,
            },
            ..Stats::default()
        }
    }

    #[test]
    fn are_a_few_lines() {
        let text = "\
workers: 4, of which 2 may run now
tasks: 10 dispatched, 3 joins with a stolen half
steals: 4 of 9 attempts, 1.2 tasks each; 2 failed at a busy victim, 5 found nothing
sleeps: 6, with 5 wake-ups
time: 1.500 s busy, 0.250 s stealing, 2.000 s asleep, 0.000 s ready but not running";
        assert_eq!(stats().to_string(), text);
    }

    #[test]
    fn histograms_appear_only_if_nonempty() {
        let mut queue_wait = Histogram::default();
        queue_wait.counts[3] = 2;
        let text = Stats {
            queue_wait,
            ..stats()
        };
        let added = "\nqueue wait: 2 measured, median up to 1.0 us, 99 % up to 1.0 us";
        assert_eq!(text.to_string(), stats().to_string() + added);
    }

    #[test]
    fn rare_events_appear_only_if_nonzero() {
        let rare = Stats {
            panics: 2,
            blocking_limit_hits: 3,
            memory: MemoryStats {
                declared: 10,
                peak: 20,
                sleeps: 1,
            },
            ..stats()
        };
        let added = "
memory: 10 bytes declared, at most 20, 1 waits
blocking: limit of blocking threads reached 3 times
panics: 2 unhandled";
        assert_eq!(rare.to_string(), stats().to_string() + added);
    }
}
