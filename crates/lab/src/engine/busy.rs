//! How busy other programs kept the machine during a measurement.

use std::time::Instant;

/// A snapshot of the processor time of the machine and of our own processes.
pub struct Watch {
    began: Instant,
    before: Option<Times>,
}

/// Processor time, in seconds since the machine and this process started.
#[derive(Clone, Copy)]
struct Times {
    machine: f64,
    ours: f64,
}

impl Watch {
    pub fn start() -> Self {
        Self {
            began: Instant::now(),
            before: imp::times(),
        }
    }

    /// The average number of processors that other programs have kept busy since the start, or
    /// `None` if the system does not report it.
    pub fn others(&self) -> Option<f64> {
        let (before, after) = self.before.zip(imp::times())?;
        let used = (after.machine - before.machine) - (after.ours - before.ours);
        Some((used / self.began.elapsed().as_secs_f64()).max(0.0))
    }
}

#[cfg(target_os = "linux")]
mod imp {
    use nix::sys::resource::{UsageWho, getrusage};
    use procfs::{CurrentSI, KernelStats};

    use super::Times;

    pub fn times() -> Option<Times> {
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
    pub fn times() -> Option<super::Times> {
        None
    }
}
