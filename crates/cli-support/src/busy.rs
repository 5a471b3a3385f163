//! Measures how many processors other programs use during a measurement.

use std::time::Instant;

/// If other programs keep more processors busy than this, they disturb a measurement.
const BUSY: f64 = 0.2;

/// Measures how many processors other programs have used since the `Watch` was started.
pub struct Watch {
    start: Instant,
    before: Option<Times>,
}

/// CPU times in seconds: `machine` of all programs since the machine started, `ours` of this
/// process and its children.
#[derive(Clone, Copy)]
struct Times {
    machine: f64,
    ours: f64,
}

impl Watch {
    /// Starts the measurement.
    pub fn start() -> Self {
        Self {
            start: Instant::now(),
            before: imp::times(),
        }
    }

    /// Returns how many processors other programs kept busy on average since the start, if that is
    /// enough to disturb a measurement. Returns `None` if it isn't enough, or if the system doesn't
    /// report it. The time of a child counts as this process's only after this process has waited
    /// for it.
    pub fn disturbance(&self) -> Option<f64> {
        let (before, after) = self.before.zip(imp::times())?;
        let used = (after.machine - before.machine) - (after.ours - before.ours);
        Some(used / self.start.elapsed().as_secs_f64()).filter(|others| *others > BUSY)
    }
}

#[cfg(target_os = "linux")]
mod imp {
    use nix::sys::resource::{UsageWho, getrusage};
    use procfs::{CurrentSI, KernelStats};

    use super::Times;

    pub(super) fn times() -> Option<Times> {
        let total = KernelStats::current().ok()?.total;
        let ticks = total.user + total.nice + total.system;
        let seconds = |who| {
            let usage = getrusage(who).ok()?;
            let [user, system] = [usage.user_time(), usage.system_time()]
                .map(|time| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6);
            Some(user + system)
        };
        Some(Times {
            machine: ticks as f64 / procfs::ticks_per_second() as f64,
            ours: seconds(UsageWho::RUSAGE_SELF)? + seconds(UsageWho::RUSAGE_CHILDREN)?,
        })
    }
}

#[cfg(not(target_os = "linux"))]
mod imp {
    pub(super) fn times() -> Option<super::Times> {
        None
    }
}
