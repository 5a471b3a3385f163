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
/// process, its children, and the descendants for which their parents have waited.
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
    /// report it. The time of a child's child counts as another program's until its parent has
    /// waited for it.
    pub fn disturbance(&self) -> Option<f64> {
        let (before, after) = self.before.zip(imp::times())?;
        let used = (after.machine - before.machine) - (after.ours - before.ours);
        Some(used / self.start.elapsed().as_secs_f64()).filter(|others| *others > BUSY)
    }
}

#[cfg(target_os = "linux")]
mod imp {
    use nix::sys::resource::{UsageWho, getrusage};
    use procfs::process::{Stat, all_processes};
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
        let is_child = |stat: &Stat| stat.ppid.cast_unsigned() == std::process::id();
        let running: u64 = (all_processes().ok()?.flatten())
            .filter_map(|process| process.stat().ok())
            .filter(is_child)
            .map(|stat| stat.utime + stat.stime + (stat.cutime + stat.cstime).cast_unsigned())
            .sum();
        let of_ticks = |ticks: u64| ticks as f64 / procfs::ticks_per_second() as f64;
        let of_this_process = seconds(UsageWho::RUSAGE_SELF)?;
        let of_ended_children = seconds(UsageWho::RUSAGE_CHILDREN)?;
        Some(Times {
            machine: of_ticks(ticks),
            ours: of_this_process + of_ended_children + of_ticks(running),
        })
    }

    #[cfg(test)]
    mod tests {
        use std::process::Command;

        use super::times;
        use tidegate_testkit::eventually;

        #[test]
        fn running_child_is_no_other_program() {
            let ours = || times().expect("Linux reports times").ours;
            let before = ours();
            let mut child = Command::new("sh")
                .args(["-c", "while :; do :; done"])
                .spawn()
                .expect("a shell");
            eventually("the child's time counts", || ours() > before + 0.1);
            child.kill().expect("it runs");
            child.wait().expect("it has ended");
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod imp {
    pub(super) fn times() -> Option<super::Times> {
        None
    }
}
