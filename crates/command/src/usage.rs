//! What this process has used so far, as the system counts it.
//!
//! | | Linux | other Unix | elsewhere |
//! |---|---|---|---|
//! | CPU time of the process and of one thread | `clock_gettime` | `clock_gettime` | unknown |
//! | how often a thread slept, and left its processor | `getrusage` | `getrusage` | unknown |
//! | peak memory | `/proc/self/status` | unknown | unknown |
//!
//! CPU time is not taken from `getrusage`: for a single thread, Linux answers there with the state of
//! the last clock tick. Nor is peak memory: there, it counts what lay in the process's place before
//! its `exec`, so a small program started by a large one looks large.
//!
//! Unknown figures are `None` and end up as `null`; nothing is estimated.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// CPU time and sleeps since the process began, or between two moments.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, Default)]
pub struct Usage {
    /// CPU time of all threads, in user and system mode.
    pub cpu: Option<Duration>,
    /// How often a thread gave its processor up to wait, and so had to be woken.
    pub wakeups: Option<u64>,
    /// How often a thread left its processor for any reason.
    pub switches: Option<u64>,
}

impl Usage {
    /// Nothing used, to add to.
    pub fn none() -> Self {
        Self {
            cpu: Some(Duration::ZERO),
            wakeups: Some(0),
            switches: Some(0),
        }
    }

    /// What has been used so far.
    pub fn now() -> Self {
        imp::process()
    }

    /// What `work` uses, and what it returns.
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

    /// Both together.
    pub fn and(self, other: Self) -> Self {
        Self {
            cpu: self.cpu.zip(other.cpu).map(|(a, b)| a + b),
            wakeups: self.wakeups.zip(other.wakeups).map(|(a, b)| a + b),
            switches: self.switches.zip(other.switches).map(|(a, b)| a + b),
        }
    }

    /// CPU time in seconds.
    pub fn cpu_seconds(self) -> Option<f64> {
        self.cpu.map(|cpu| cpu.as_secs_f64())
    }
}

fn difference<T: std::ops::Sub<Output = T>>(after: Option<T>, before: Option<T>) -> Option<T> {
    Some(after? - before?)
}

/// CPU time of the calling thread so far.
pub fn thread_cpu() -> Option<Duration> {
    imp::thread_cpu()
}

/// The most memory that the process has had in RAM so far, in bytes.
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
    fn work_uses_cpu_time_and_sleep_is_counted() {
        let (used, sum) = Usage::of(|| {
            std::thread::sleep(Duration::from_millis(1));
            (0..3_000_000_u64).map(std::hint::black_box).sum::<u64>()
        });
        assert!(sum > 0);
        assert!(used.cpu_seconds().is_some_and(|cpu| cpu > 0.0));
        assert!(used.wakeups.is_some_and(|wakeups| wakeups >= 1));
    }

    #[test]
    fn peak_memory_grows_with_what_is_touched() {
        const BYTES: usize = 32 << 20;
        let before = peak_rss_bytes().unwrap();
        let touched = std::hint::black_box(vec![1_u8; BYTES]);
        let least = BYTES as u64;
        assert!(peak_rss_bytes().unwrap() >= least.max(before));
        drop(touched);
    }
}
