//! Measures how many processors programs outside the table keep busy.
//!
//! The result is the busy time of all processors, according to the kernel, minus the processor time
//! that the jobs in the table have published. It describes the previous second. So it is good
//! enough to leave some processors to such programs, but too slow to react to short peaks.

use crate::identity::Identity;
use crate::mask::CpuMask;
use crate::reader::{Seen, Snapshot};
use std::fs;
use tidegate_policy::Nanos;

/// Measures the processors that programs outside the table keep busy, by comparing each measurement
/// with the last one.
#[derive(Debug, Default)]
pub struct Neighbours {
    before: Option<Measured>,
    /// The last result, in thousandths of a processor.
    load: u64,
}

#[derive(Debug)]
struct Measured {
    at: Nanos,
    /// The total busy time of the processors that the jobs divide.
    busy: Nanos,
    /// The jobs' processes, each once even if it has several rows.
    jobs: Vec<Identity>,
    /// The processor time that these processes have used.
    used: Nanos,
}

/// The unit of time in `/proc/stat`, in nanoseconds.
const TICK: Nanos = 10_000_000;

impl Neighbours {
    /// Creates a `Neighbours` that has not measured anything yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns how many processors programs outside the table have kept busy since the last call,
    /// in thousandths of a processor. If jobs have started or ended since then, the two
    /// measurements cannot be compared, so this returns the last result again.
    pub(crate) fn measure(&mut self, snapshot: &Snapshot, now: Nanos) -> u64 {
        let stat = fs::read("/proc/stat").unwrap_or_default();
        self.compare(&String::from_utf8_lossy(&stat), snapshot, now)
    }

    fn compare(&mut self, stat: &str, snapshot: &Snapshot, now: Nanos) -> u64 {
        let (mut set, mut jobs, mut times) = (CpuMask::EMPTY, Vec::new(), Vec::new());
        for Seen { row, .. } in &snapshot.alive {
            set = set.union(&row.report.mask);
            match jobs.binary_search(&row.owner) {
                Err(place) => {
                    jobs.insert(place, row.owner);
                    times.insert(place, row.cpu_time);
                }
                // The rows of a process may have been published at different times. Keep the time
                // in the latest row, which is the largest.
                Ok(place) => times[place] = row.cpu_time.max(times[place]),
            }
        }
        let measured = Measured {
            at: now,
            busy: busy_time(stat, &set),
            jobs,
            used: times.iter().fold(0, |sum, time| time.saturating_add(sum)),
        };
        if let Some(before) = &self.before {
            self.load = measured.others_since(before).unwrap_or(self.load);
        }
        self.before = Some(measured);
        self.load
    }
}

impl Measured {
    fn others_since(&self, before: &Self) -> Option<u64> {
        let length = self.at.saturating_sub(before.at);
        if self.jobs != before.jobs || length == 0 {
            return None;
        }
        let ours = self.used.saturating_sub(before.used);
        let all = self.busy.saturating_sub(before.busy);
        let others = u128::from(all.saturating_sub(ours)) * 1000 / u128::from(length);
        u64::try_from(others).ok()
    }
}

/// Returns how long the processors in `set` have been busy with user programs, the kernel and
/// interrupts, according to `/proc/stat`.
fn busy_time(stat: &str, set: &CpuMask) -> Nanos {
    let mut ticks: u64 = 0;
    for line in stat.lines() {
        let mut fields = line.split(' ');
        let name = fields.next();
        let cpu = name.and_then(|name| name.strip_prefix("cpu")?.parse().ok());
        if cpu.is_some_and(|cpu| set.contains(cpu)) {
            let times = fields.map_while(|field| field.parse::<u64>().ok());
            // These are user, nice, system, irq and softirq; idle and iowait are left out.
            for (kind, time) in times.enumerate() {
                if matches!(kind, 0..=2 | 5 | 6) {
                    ticks = ticks.saturating_add(time);
                }
            }
        }
    }
    ticks.saturating_mul(TICK)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::{ROW, Row};

    const SECOND: Nanos = 1_000_000_000;

    fn snapshot(jobs: &[(u32, Nanos)]) -> Snapshot {
        let seen = |(index, (pid, cpu_time)): (usize, &(u32, Nanos))| {
            let mut row = Row::read(&[0; ROW]);
            row.owner.pid = *pid;
            row.cpu_time = *cpu_time;
            row.report.mask = CpuMask::from_cpus([0, 1]);
            Seen {
                index,
                row,
                beats: true,
            }
        };
        Snapshot {
            alive: jobs.iter().enumerate().map(seen).collect(),
            ..Snapshot::default()
        }
    }

    fn stat(user: u64, other: u64) -> String {
        format!(
            "cpu 9 9 9 9\ncpu0 {user} 0 0 500 7 0 0 3 0 0\ncpu1 0 0 0 900\ncpu2 {other} 0 0 0\nintr 5\n"
        )
    }

    /// If the jobs' processors were busy for longer than the jobs used them, other processes used
    /// the rest.
    #[test]
    fn other_processes_used_the_unused_rest() {
        let mut neighbours = Neighbours::new();
        assert_eq!(
            neighbours.compare(&stat(0, 0), &snapshot(&[(5, 0)]), SECOND),
            0,
            "nothing to compare with"
        );
        // The jobs' processors were busy for 90 ticks of 10 ms, and the job used 20 of these. No
        // job may run on the third processor.
        let later = snapshot(&[(5, 200_000_000)]);
        assert_eq!(neighbours.compare(&stat(90, 70), &later, 2 * SECOND), 700);
    }

    /// A process with two rows counts once. If the set of jobs changes, the last result is returned
    /// again.
    #[test]
    fn process_with_two_rows_counts_once() {
        let mut neighbours = Neighbours::new();
        neighbours.compare(&stat(0, 0), &snapshot(&[(5, 0), (5, 0)]), SECOND);
        let later = snapshot(&[(5, 400_000_000), (5, 390_000_000)]);
        assert_eq!(neighbours.compare(&stat(90, 0), &later, 2 * SECOND), 500);
        assert_eq!(
            neighbours.compare(&stat(190, 0), &snapshot(&[(6, 0)]), 3 * SECOND),
            500
        );
    }

    #[test]
    fn odd_numbers_are_no_load() {
        let mut neighbours = Neighbours::new();
        for text in [
            "",
            "cpu0",
            "cpu0 x",
            "cpux 1 2",
            "cpu0 18446744073709551615 18446744073709551615 1 1 1 1 1",
        ] {
            neighbours.compare(text, &snapshot(&[(5, u64::MAX), (6, u64::MAX)]), SECOND);
            assert_eq!(
                neighbours.compare(text, &snapshot(&[(5, 0), (6, 1)]), 2 * SECOND),
                0,
                "{text}"
            );
        }
    }
}
