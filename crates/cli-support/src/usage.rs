//! The resources that this process has used, as reported by the operating system.
//!
//! | | Linux | other Unix | elsewhere |
//! |---|---|---|---|
//! | CPU time of the process and of one thread | `clock_gettime` | `clock_gettime` | unknown |
//! | voluntary and all context switches | `getrusage` | `getrusage` | unknown |
//! | peak memory | `/proc/self/status` | unknown | unknown |
//!
//! `getrusage` isn't used for CPU time, because on Linux, its time for a single thread is only
//! updated at clock ticks. It isn't used for peak memory either, because its figure includes the
//! peak before `exec`: a small program that was started by a large one would look large.
//!
//! Unknown figures are `None`, and `null` in JSON. They are never estimated.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// CPU time and context switches, either since the process started or between two points in time.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, Default)]
pub struct Usage {
    /// User and system CPU time of all threads.
    pub cpu: Option<Duration>,
    /// Voluntary context switches. After each, a sleeping thread had to be woken.
    pub wakeups: Option<u64>,
    /// Voluntary and involuntary context switches.
    pub switches: Option<u64>,
}

impl Usage {
    /// Returns zero usage, the initial value of a sum.
    pub fn none() -> Self {
        Self {
            cpu: Some(Duration::ZERO),
            wakeups: Some(0),
            switches: Some(0),
        }
    }

    /// Returns the usage since the process started.
    pub fn now() -> Self {
        imp::process()
    }

    /// Runs `work`. Returns the process's usage during that time, and the result of `work`.
    pub fn of<T>(work: impl FnOnce() -> T) -> (Self, T) {
        let before = Self::now();
        let result = work();
        (Self::now().since(before), result)
    }

    fn since(self, before: Self) -> Self {
        Self {
            cpu: difference(self.cpu, before.cpu),
            wakeups: difference(self.wakeups, before.wakeups),
            switches: difference(self.switches, before.switches),
        }
    }

    /// Returns the sum of two usages.
    pub fn and(self, other: Self) -> Self {
        Self {
            cpu: self.cpu.zip(other.cpu).map(|(a, b)| a + b),
            wakeups: self.wakeups.zip(other.wakeups).map(|(a, b)| a + b),
            switches: self.switches.zip(other.switches).map(|(a, b)| a + b),
        }
    }

    /// Returns the CPU time in seconds.
    pub fn cpu_seconds(self) -> Option<f64> {
        self.cpu.map(|cpu| cpu.as_secs_f64())
    }
}

fn difference<T: std::ops::Sub<Output = T>>(after: Option<T>, before: Option<T>) -> Option<T> {
    Some(after? - before?)
}

/// Returns the CPU time that the calling thread has used.
pub fn thread_cpu() -> Option<Duration> {
    imp::thread_cpu()
}

/// Returns the peak resident memory of this process so far, in bytes.
pub fn peak_rss_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kibibytes << 10)
}

#[cfg(unix)]
mod imp {
    use super::Usage;
    use nix::sys::resource::{UsageWho, getrusage};
    use nix::time::{ClockId, clock_gettime};
    use std::time::Duration;

    pub(super) fn process() -> Usage {
        let counted = getrusage(UsageWho::RUSAGE_SELF).ok();
        let wakeups =
            counted.and_then(|counted| counted.voluntary_context_switches().try_into().ok());
        let pushed: Option<u64> =
            counted.and_then(|counted| counted.involuntary_context_switches().try_into().ok());
        Usage {
            cpu: read(ClockId::CLOCK_PROCESS_CPUTIME_ID),
            wakeups,
            switches: wakeups.zip(pushed).map(|(sleeps, pushed)| sleeps + pushed),
        }
    }

    pub(super) fn thread_cpu() -> Option<Duration> {
        read(ClockId::CLOCK_THREAD_CPUTIME_ID)
    }

    fn read(clock: ClockId) -> Option<Duration> {
        clock_gettime(clock).ok().map(Duration::from)
    }
}

#[cfg(not(unix))]
mod imp {
    use super::Usage;
    use std::time::Duration;

    pub(super) fn process() -> Usage {
        Usage::default()
    }

    pub(super) fn thread_cpu() -> Option<Duration> {
        None
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn counts_cpu_time_and_sleeps() {
        let (used, sum) = Usage::of(|| {
            std::thread::sleep(Duration::from_millis(1));
            (0..3_000_000_u64).map(std::hint::black_box).sum::<u64>()
        });
        assert!(sum > 0);
        assert!(used.cpu_seconds().is_some_and(|cpu| cpu > 0.0));
        assert!(used.wakeups.is_some_and(|wakeups| wakeups >= 1));
    }

    #[test]
    fn peak_memory_grows_when_touched() {
        const BYTES: usize = 32 << 20;
        let before = peak_rss_bytes().unwrap();
        let touched = std::hint::black_box(vec![1_u8; BYTES]);
        let least = BYTES as u64;
        assert!(peak_rss_bytes().unwrap() >= least.max(before));
        drop(touched);
    }
}
